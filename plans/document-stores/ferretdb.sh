#!/bin/sh
# Runs FerretDB in the foreground, on PostgreSQL or on SQLite.
#   ferretdb.sh postgresql DIR PORT PORT-OF-POSTGRESQL
#   ferretdb.sh sqlite DIR PORT
# DOCUMENT_STORES is the folder of install.sh.
set -eu
kind=$1 dir=$2 port=$3
case $kind in
postgresql) set -- --handler=postgresql --postgresql-url="postgres://bench@127.0.0.1:$4/postgres?sslmode=disable" ;;
sqlite)
    mkdir -p "$dir/sqlite"
    set -- --handler=sqlite --sqlite-url="file:$dir/sqlite/"
    ;;
esac
mkdir -p "$dir/state-$port"
exec "$DOCUMENT_STORES/ferretdb" "$@" --listen-addr="127.0.0.1:$port" --telemetry=disable --state-dir="$dir/state-$port" \
    --debug-addr=- --log-level=info
