#!/bin/sh
# Makes a cluster of PostgreSQL in DIR/data, or runs its server in the foreground. The server refuses root: then it runs as postgres.
#   postgresql.sh make DIR
#   postgresql.sh run DIR PORT [-c SETTING=VALUE…]
# POSTGRESQL_BIN is the folder of other programs than the newest installed ones.
set -eu
what=$1 dir=$2
shift 2
# Debian keeps the programs of each version in a folder that is not in PATH.
newest=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
PATH=${POSTGRESQL_BIN:-$newest}:$PATH
as=
if [ "$(id -u)" = 0 ]; then
    as="setpriv --reuid=postgres --regid=postgres --init-groups"
fi
case $what in
make)
    mkdir "$dir/data"
    if [ -n "$as" ]; then chown postgres: "$dir/data"; fi
    cd "$dir/data"
    exec $as initdb --pgdata=. --username=bench --auth=trust --encoding=UTF8 --locale=C --no-sync
    ;;
run)
    port=$1
    shift
    cd "$dir/data"
    exec $as postgres -D . -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= "$@"
    ;;
esac
