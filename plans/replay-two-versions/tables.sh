#!/bin/sh
# Makes a cluster of PostgreSQL in DIR/data with the table of the recorded traffic, as it was before the log. With `dropped`, without the
# index on orders (customer).
#   tables.sh DIR kept|dropped
# POSTGRESQL_BIN is the folder of the programs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=$1 index=$2
newest=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
PATH=${POSTGRESQL_BIN:-$newest}:$PATH
as=
if [ "$(id -u)" = 0 ]; then as="setpriv --reuid=postgres --regid=postgres --init-groups"; fi
"$here/../databases/postgresql.sh" make "$dir" >"$dir/tables.log"
case $index in
dropped) more='DROP INDEX orders_by_customer;' ;;
*) more='' ;;
esac
(cat "$here/tables.sql" && printf '%s\n\n' "$more") >"$dir/tables.sql"
# Single-user mode needs no port. -j ends a statement at an empty line.
(cd "$dir/data" && $as postgres --single -D . -j -c fsync=off postgres <"$dir/tables.sql" >>"$dir/tables.log" 2>&1)
if grep -E 'ERROR|FATAL' "$dir/tables.log"; then exit 1; fi
