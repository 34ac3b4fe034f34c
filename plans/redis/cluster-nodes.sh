#!/bin/sh
# Runs nodes of a cluster until all of them end: cluster-nodes.sh DIR PORT…
dir=$1
shift
for port in "$@"; do
    "$(dirname "$0")/cluster-node.sh" "$dir/$port" "$port" &
done
wait
