#!/bin/sh
# Prints the number of keys on all masters of a cluster that answer: cluster-keys.sh PORT…
sum=0
for port in "$@"; do
    if redis-cli -p "$port" info replication 2>/dev/null | grep -q role:master; then
        sum=$((sum + $(redis-cli -p "$port" dbsize)))
    fi
done
echo "$sum"
