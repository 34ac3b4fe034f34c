#!/bin/bash
# Makes three clusters of PostgreSQL in DIR/a, DIR/b, and DIR/c with the tables of schema.sql and of VIEWS.sql.
#   shard.sh make DIR VIEWS
# Applies the queue of each shard, if VIEWS is queue; otherwise only waits.
#   shard.sh apply VIEWS PORT…
# Copies the posts of authors above LAST from one shard to another; later moves those that were written since.
#   shard.sh copy|move FROM-PORT TO-PORT LAST
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
what=$1
shift
sql() { psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --host=127.0.0.1 --username=bench --dbname=postgres --port="$@"; }
case $what in
make)
    dir=$1 views=$2
    newest=$(find /usr/lib/postgresql -maxdepth 2 -name bin | sort -V | tail -n 1)
    PATH=${POSTGRESQL_BIN:-$newest}:$PATH
    as=
    if [ "$(id -u)" = 0 ]; then as="setpriv --reuid=postgres --regid=postgres --init-groups"; fi
    for shard in a b c; do
        mkdir "$dir/$shard"
        "$here/../databases/postgresql.sh" make "$dir/$shard" >"$dir/$shard.log"
        # A single user's server takes statements that end with a semicolon and an empty line.
        (cd "$dir/$shard/data" && cat "$here/schema.sql" "$here/$views.sql" | $as postgres --single -D . -j postgres >>"$dir/$shard.log" 2>&1)
        if grep -E 'ERROR|FATAL' "$dir/$shard.log"; then exit 1; fi
    done
    ;;
apply)
    views=$1
    shift
    echo "applying the queue, if there is one"
    if [ "$views" != queue ]; then exec sleep infinity; fi
    for port in "$@"; do
        sql "$port" --command="CALL apply_queue()" &
    done
    wait
    ;;
copy)
    sql "$1" --command="COPY (SELECT * FROM posts WHERE author > $3) TO STDOUT" | sql "$2" --command="COPY posts FROM STDIN"
    ;;
move)
    sql "$1" --command="COPY (DELETE FROM posts WHERE author > $3 RETURNING *) TO STDOUT" |
        sql "$2" --command="CREATE TEMP TABLE moved (LIKE posts)" --command="COPY moved FROM STDIN" \
            --command="INSERT INTO posts SELECT * FROM moved ON CONFLICT DO NOTHING"
    ;;
esac
