#!/bin/sh
# Runs a node of a cluster in the foreground: cluster-node.sh DIR PORT.
mkdir -p "$1"
exec redis-server --port "$2" --bind 127.0.0.1 --dir "$1" --save '' --cluster-enabled yes --cluster-node-timeout 1000
