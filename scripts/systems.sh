#!/bin/sh
# Installs the system's packages of the servers that the plans start, where they are missing.
# Usage: systems.sh
set -eu

missing=
need() { command -v "$1" >/dev/null || { shift; missing="$missing $*"; }; }
need nginx nginx
need puma puma
need unicorn unicorn
need passenger passenger
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "missing here:$missing (names of Debian's packages); install them with the system's package manager" >&2
    exit 1
fi

# The plans start servers of their own; those of the packages must not start and take the usual ports.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # a list of names
apt-get install -y -qq --no-install-recommends $missing
