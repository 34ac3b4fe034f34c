#!/bin/sh
# Installs headless Chromium, and fonts for Latin letters and for the 天秤 in the page header, if they are missing.
# Usage: [CHROMIUM=/path/to/chromium] browser.sh
set -eu

# Succeeds if a font has the character with this hexadecimal code point.
shows() { command -v fc-list >/dev/null && fc-list ":charset=$1" 2>/dev/null | grep -q .; }

missing=
[ -x "${CHROMIUM:-/usr/bin/chromium-headless-shell}" ] || missing="$missing chromium-headless-shell"
shows 41 || missing="$missing fontconfig fonts-dejavu-core"
shows 79e4 || missing="$missing fontconfig fonts-wqy-microhei"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "missing here:$missing (names of Debian's packages); install them with the system's package manager," \
        "or name a Chromium in CHROMIUM" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # a list of names
apt-get install -y -qq --no-install-recommends $missing
