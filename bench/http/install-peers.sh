#!/bin/sh
# Installs what the comparison over HTTP needs and is missing: Debian's packages if this is root, and oha into FOLDER if
# the second argument is not empty. Peers that stay missing are left out of the comparison, which says so.
# Usage: install-peers.sh FOLDER [OHA]
set -eu

folder=$1
oha=${2:-}

missing=
need() {
    [ -x "/usr/bin/$1" ] || [ -x "/usr/sbin/$1" ] || command -v "$1" >/dev/null || missing="$missing $2"
}
need nginx nginx-light
need wrk wrk
need ab apache2-utils
need h2load nghttp2-client
need hey hey
need openssl openssl
need taskset util-linux
# A shell may have a time of its own, which cannot write to a file.
[ -x /usr/bin/time ] || missing="$missing time"

if [ -n "$missing" ]; then
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq
        # shellcheck disable=SC2086 # one word for each package
        apt-get install -y -qq --no-install-recommends $missing
    else
        echo "not installed:$missing (as root: apt-get install$missing)" >&2
    fi
fi

if [ -n "$oha" ] && ! PATH="$folder/bin:$PATH" command -v oha >/dev/null; then
    cargo install --locked --root "$folder" oha
fi
