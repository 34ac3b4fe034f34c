#!/bin/sh
# Makes a data folder of MariaDB in DIR/data, or runs its server in the foreground. The server refuses root: then it runs as mysql.
#   mariadb.sh make DIR
#   mariadb.sh run DIR PORT [--SETTING=VALUE…]
set -eu
what=$1 dir=$2
shift 2
PATH=$PATH:/usr/sbin
as=
if [ "$(id -u)" = 0 ]; then
    as="setpriv --reuid=mysql --regid=mysql --init-groups"
fi
case $what in
make)
    mkdir "$dir/data"
    {
        echo "CREATE DATABASE IF NOT EXISTS bench;"
        echo "CREATE USER IF NOT EXISTS bench@'127.0.0.1';"
        echo "GRANT ALL PRIVILEGES ON bench.* TO bench@'127.0.0.1';"
        echo "GRANT PROCESS, RELOAD, BINLOG MONITOR ON *.* TO bench@'127.0.0.1';"
    } >"$dir/data.sql"
    if [ -n "$as" ]; then chown mysql: "$dir/data"; fi
    exec $as mariadb-install-db --no-defaults --datadir="$dir/data" --auth-root-authentication-method=normal \
        --skip-test-db --skip-name-resolve
    ;;
run)
    port=$1
    shift
    exec $as mariadbd --no-defaults --datadir="$dir/data" --socket="$dir/data/socket" --pid-file="$dir/data/pid" \
        --init-file="$dir/data.sql" --bind-address=127.0.0.1 --port="$port" --skip-name-resolve "$@"
    ;;
esac
