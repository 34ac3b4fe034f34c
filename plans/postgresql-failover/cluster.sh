#!/bin/sh
# Makes a primary and a standby that follows it, or promotes the standby.
#   cluster.sh make DIR
#   cluster.sh promote DIR [FROM-PORT TO-PORT]: the ports change places in DIR/pgbouncer.ini
set -eu
what=$1 dir=$2
here=$(dirname "$0")
newest=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
PATH=$newest:$PATH
as=
if [ "$(id -u)" = 0 ]; then
    as="setpriv --reuid=postgres --regid=postgres --init-groups"
fi
case $what in
make)
    mkdir "$dir/primary" "$dir/standby"
    "$here/../databases/postgresql.sh" make "$dir/primary"
    # Both start from the same files, as after a base backup of a server at rest.
    cp -a "$dir/primary/data" "$dir/standby/data"
    touch "$dir/standby/data/standby.signal"
    ;;
promote)
    cd "$dir/standby/data"
    $as pg_ctl promote -D . -t 20 -s
    if [ $# = 4 ]; then
        sed -i "s/port=$3 /port=$4 /" "$dir/pgbouncer.ini"
    fi
    ;;
esac
