#!/bin/sh
# Installs Debian packages of the databases that tests and comparisons start, if they are missing.
# Usage: databases.sh [PACKAGE...]; PACKAGE is a further package, such as sysbench
set -eu

missing=
for server in /usr/lib/postgresql/*/bin/postgres; do
    [ -x "$server" ] || missing="$missing postgresql"
done
command -v mariadbd >/dev/null || [ -x /usr/sbin/mariadbd ] || missing="$missing mariadb-server"
command -v redis-server >/dev/null || missing="$missing redis-server"
command -v redis-cli >/dev/null || missing="$missing redis-tools"
command -v memcached >/dev/null || missing="$missing memcached"
command -v saslpasswd2 >/dev/null || missing="$missing sasl2-bin"
for package in "$@"; do
    command -v "$package" >/dev/null || missing="$missing $package"
done
# shellcheck disable=SC2086 # a list of names
"$(dirname "$0")/packages.sh" $missing
