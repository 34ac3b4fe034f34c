#!/bin/sh
# Installs Cargo tools into FOLDER, and Debian packages that tests need, if they are missing.
# Usage: tools.sh FOLDER NAME=VERSION...
set -eu

folder=$1
shift

missing=
need() { command -v "$1" >/dev/null || { shift; missing="$missing $*"; }; }
need valgrind valgrind libc6-dbg
need ip iproute2
need mkfs.ext4 e2fsprogs
need unshare util-linux
need script bsdutils
if [ -n "$missing" ]; then
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        echo "missing here:$missing (names of Debian's packages); install them with the system's package manager" >&2
        exit 1
    fi
    apt-get update -qq
    # shellcheck disable=SC2086 # a list of names
    apt-get install -y -qq --no-install-recommends $missing
fi

for tool in "$@"; do
    name=${tool%=*} version=${tool#*=}
    if "$name" --version 2>/dev/null | grep -qF "$version"; then
        continue
    fi
    # Builds without optimization and debug info, since building takes more time than the tools themselves.
    CARGO_PROFILE_DEV_DEBUG=0 cargo install --locked --debug --quiet --root "$folder" --target-dir "$folder/build" "$name" --version "$version"
done
rm -rf "$folder/build"
