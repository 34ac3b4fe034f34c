#!/bin/sh
# Records traffic.log again: two seconds of pgbench with traffic.sql on the newest installed PostgreSQL, in a folder that is removed afterwards.
#   record.sh [PORT]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
port=${1:-54399}
newest=$(find /usr/lib/postgresql -maxdepth 2 -name bin | sort -V | tail -n 1)
PATH=$newest:$PATH
dir=$(mktemp -d)
chmod 755 "$dir"
"$here/tables.sh" "$dir" kept
"$here/../databases/postgresql.sh" run "$dir" "$port" -c fsync=off >"$dir/server.log" 2>"$dir/traffic.log" &
trap 'kill -INT $server 2>/dev/null || true; wait $server 2>/dev/null || true; rm -rf "$dir"' EXIT
server=$!
export PGHOST=127.0.0.1 PGPORT="$port" PGUSER=bench PGDATABASE=postgres
tries=0
until psql -Atqc 'SELECT 1' >"$dir/ready.log" 2>&1; do
    tries=$((tries + 1))
    if [ "$tries" -gt 100 ]; then
        cat "$dir/traffic.log" >&2
        exit 1
    fi
    sleep 0.1
done
psql -q -c "ALTER SYSTEM SET log_min_duration_statement = 0" -c "ALTER SYSTEM SET log_line_prefix = '%m [%p] '" -c 'SELECT pg_reload_conf()' >"$dir/ready.log"
sleep 0.5
pgbench -n -c 4 -j 1 -R 80 -T 2 --random-seed=1 -f "$here/traffic.sql" >"$dir/pgbench.log" 2>&1
grep 'duration: ' "$dir/traffic.log" | grep -v -e pg_reload_conf -e 'ALTER SYSTEM' >"$here/traffic.log"
wc -l "$here/traffic.log"
