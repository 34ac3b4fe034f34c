#!/bin/sh
# Backs up a running database of mariadb.sh or postgresql.sh in DIR, to DIR/backup.
#   backup.sh copy DIR               the data folder as it is, for use under a lock or between the start and the end of a backup
#   backup.sh mariabackup DIR PORT   a copy without a lock of tables
#   backup.sh dump-mariadb DIR PORT  SQL, in one transaction
#   backup.sh dump-postgresql DIR PORT
set -eu
what=$1 dir=$2 port=${3-}
newest=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
PATH=${newest:+$newest:}$PATH
mkdir "$dir/backup"
case $what in
copy)
    # The socket is no file, and pg_wal is archived apart.
    cd "$dir/data"
    tar --create --exclude=./socket --exclude=./pg_wal --warning=no-file-changed . | tar --extract --directory "$dir/backup"
    sync --file-system "$dir/backup"
    ;;
mariabackup)
    exec mariabackup --no-defaults --backup --target-dir="$dir/backup" --datadir="$dir/data" --host=127.0.0.1 --port="$port" --user=bench
    ;;
dump-mariadb)
    exec mariadb-dump --no-defaults --host=127.0.0.1 --port="$port" --user=bench --single-transaction \
        --result-file="$dir/backup/bench.sql" bench
    ;;
dump-postgresql)
    exec pg_dump --host=127.0.0.1 --port="$port" --username=bench --file="$dir/backup/postgres.sql" postgres
    ;;
esac
