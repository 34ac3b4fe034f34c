#!/bin/sh
# Adds the role app, which may have 4 connections, to the cluster in DIR/data, while no server runs.
# Usage: postgresql-role.sh DIR
set -eu
newest=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
PATH=${newest:+$newest:}$PATH
as=
if [ "$(id -u)" = 0 ]; then as="setpriv --reuid=postgres --regid=postgres --init-groups"; fi
cd "$1/data"
echo "CREATE ROLE app LOGIN CONNECTION LIMIT 4" | $as postgres --single -D . postgres
