#!/bin/sh
# Starts a command, and stops it for 400 ms of every 1.4 s, as a machine does that swaps or is moved.
# Usage: freezer.sh COMMAND...
"$@" &
pid=$!
trap 'kill -CONT $pid; kill $pid; exit' TERM INT
while kill -0 $pid 2>/dev/null; do
    sleep 1
    kill -STOP $pid
    sleep 0.4
    kill -CONT $pid
done
