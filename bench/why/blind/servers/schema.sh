#!/bin/sh
# Adds the statements of DIR/schema.sql, one a line, to a new database: PostgreSQL runs them now, MariaDB at its start.
# Usage: schema.sh postgresql.sh|mariadb.sh DIR
set -eu
case $1 in
mariadb.sh) { echo "USE bench;"; cat "$2/schema.sql"; } >>"$2/data.sql" ;;
postgresql.sh)
    newest=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
    PATH=${newest:+$newest:}$PATH
    as=
    if [ "$(id -u)" = 0 ]; then as="setpriv --reuid=postgres --regid=postgres --init-groups"; fi
    cd "$2/data"
    # Errors of single statements do not change the exit code.
    $as postgres --single -F -D . postgres <"$2/schema.sql" 2>"$2/schema.log" >/dev/null
    if grep -E 'ERROR|FATAL' "$2/schema.log" >&2; then exit 1; fi
    ;;
esac
