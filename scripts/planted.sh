#!/bin/sh
# Installs Debian packages that cases with planted bottlenecks need, if they are missing. `blind` adds those of the blind cases.
# Usage: planted.sh [blind]
set -eu

missing=
need() { command -v "$1" >/dev/null || [ -x "/usr/sbin/$1" ] || missing="$missing $2"; }
need cc "gcc libc6-dev"
need python3 python3
need node nodejs
need javac default-jdk-headless
need nginx nginx
need pgbouncer pgbouncer
if [ "${1-}" = blind ]; then
    need go golang-go
    need ruby ruby
    need sqlite3 sqlite3
    need openssl openssl
fi
# shellcheck disable=SC2086 # a list of names
"$(dirname "$0")/packages.sh" $missing
"$(dirname "$0")/databases.sh"
