#!/bin/sh
# Installs Debian packages without starting their servers.
# Usage: packages.sh PACKAGE...
set -eu

[ "$#" -gt 0 ] || exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "missing here: $* (names of Debian's packages); install them with the system's package manager" >&2
    exit 1
fi

# Plans and tests start their own servers. Servers started by the packages would take the default ports.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq -o DPkg::Lock::Timeout=300
apt-get install -y -qq -o DPkg::Lock::Timeout=300 --no-install-recommends "$@"
