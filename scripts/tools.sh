#!/bin/sh
# Installs the named versions of Cargo's helpers into FOLDER, and Valgrind into the system, where they are missing.
# Usage: tools.sh FOLDER NAME=VERSION...
set -eu

folder=$1
shift

if ! command -v valgrind >/dev/null; then
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        echo "valgrind is missing: install it with the system's package manager" >&2
        exit 1
    fi
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends valgrind libc6-dbg
fi

for tool in "$@"; do
    name=${tool%=*} version=${tool#*=}
    if "$name" --version 2>/dev/null | grep -qF "$version"; then
        continue
    fi
    # Unoptimised: they are built more often than they are waited for.
    cargo install --locked --debug --quiet --root "$folder" --target-dir "$folder/build" "$name" --version "$version"
done
rm -rf "$folder/build"
