#!/bin/sh
# Measures `tenbin proxy` between a load and the built-in target: the accuracy of its delay, and its maximum throughput.
# Usage: bench-proxy.sh TENBIN FOLDER [SECONDS]
set -eu

tenbin=$1
seconds=${3:-10}
mkdir -p "$2"
folder=$(cd "$2" && pwd)
store=$folder/runs.sqlite
target_pid= proxy_pid=
rm -f "$folder"/*.sqlite* "$folder"/*.json "$folder"/*.sock
trap 'for pid in $target_pid $proxy_pid; do kill "$pid" 2>/dev/null || :; done' EXIT
trap 'exit 130' INT TERM

waits_for() {
    for _ in $(seq 100); do
        [ -S "$1" ] && return
        sleep 0.05
    done
    echo "error: $1 does not appear" >&2
    exit 1
}

# The load connects to target and proxy over TCP, since the measurement includes the kernel timestamps of the load's sockets.
"$tenbin" target --listen 127.0.0.1:0 --unix-socket "$folder/ready.sock" >"$folder/target.txt" &
target_pid=$!
waits_for "$folder/ready.sock"
target=$(sed -n 's/.*\(127\.0\.0\.1:[0-9]*\).*/\1/p' "$folder/target.txt" | head -n 1)

# Runs a load directly against the target. Arguments: NAME PATH LOAD_FLAG...
direct() {
    name=$1 path=$2
    shift 2
    "$tenbin" "http://$target$path" "$@" --store "$store" --format json >"$folder/$name-direct.json" 2>/dev/null || :
}

# Runs a load through a new proxy. Arguments: NAME ROUND_TRIP PATH LOAD_FLAG...
through() {
    name=$1 round_trip=$2 path=$3
    shift 3
    "$tenbin" proxy 0 "$target" --round-trip "$round_trip" --control "$folder/$name.sock" --format json \
        >"$folder/$name-proxy.json" &
    proxy_pid=$!
    waits_for "$folder/$name.sock"
    address=$(sed -n 's/.*"listen":"\([^"]*\)".*/\1/p' "$folder/$name-proxy.json")
    "$tenbin" "http://$address$path" "$@" --store "$store" --format json >"$folder/$name-through.json" 2>/dev/null || :
    kill -INT "$proxy_pid"
    wait "$proxy_pid" || :
    proxy_pid=
}

for connections in 300 2000; do
    direct "delay-$connections" /status -R 5000 -c "$connections" -d "${seconds}s"
    through "delay-$connections" 20ms /status -R 5000 -c "$connections" -d "${seconds}s"
done
for size in 0 65536; do
    direct "ceiling-$size" "/bytes?n=$size" -c 64 -d "${seconds}s"
    through "ceiling-$size" 0ms "/bytes?n=$size" -c 64 -d "${seconds}s"
done

python3 "$(dirname "$0")/bench-proxy.py" "$folder"
