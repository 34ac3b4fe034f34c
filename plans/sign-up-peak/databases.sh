#!/bin/sh
# Makes three clusters of PostgreSQL in DIR/a, DIR/b, and DIR/c with the table of the form.
#   databases.sh make DIR
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=$2
newest=$(find /usr/lib/postgresql -maxdepth 2 -name bin | sort -V | tail -n 1)
PATH=${POSTGRESQL_BIN:-$newest}:$PATH
as=
if [ "$(id -u)" = 0 ]; then as="setpriv --reuid=postgres --regid=postgres --init-groups"; fi
for shard in a b c; do
    mkdir "$dir/$shard"
    "$here/../databases/postgresql.sh" make "$dir/$shard" >"$dir/$shard.log"
    (cd "$dir/$shard/data" && $as postgres --single -D . -j postgres <"$here/schema.sql" >>"$dir/$shard.log" 2>&1)
    if grep -E 'ERROR|FATAL' "$dir/$shard.log"; then exit 1; fi
done
