#!/bin/sh
# Runs PgBouncer in the foreground. It refuses root: then it runs as postgres.
# Usage: pgbouncer.sh CONFIGURATION
PATH=$PATH:/usr/sbin
as=
if [ "$(id -u)" = 0 ]; then as="setpriv --reuid=postgres --regid=postgres --init-groups"; fi
exec $as pgbouncer "$1"
