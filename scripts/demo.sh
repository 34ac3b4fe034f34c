#!/bin/sh
# Weighs two settings of the built-in target against each other: one thread and four, the same load, by turns.
# TENBIN is the program, TENBIN_STORE the file that keeps the runs (default: the store of every run).
set -eu

tenbin=${TENBIN:-target/release/tenbin}
folder=$(mktemp -d)
pids=
store() { "$@" ${TENBIN_STORE:+--store "$TENBIN_STORE"}; }
trap 'kill $pids 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Over Unix sockets the host in the URL is free, and names the row in the table.
for name in one-thread four-threads; do
    threads=1
    [ "$name" = one-thread ] || threads=4
    "$tenbin" target --listen 127.0.0.1:0 --unix-socket "$folder/$name" --threads "$threads" >"$folder/said" 2>&1 &
    pids="$pids $!"
    tries=0
    until [ -S "$folder/$name" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ] || { echo "the target does not start:" >&2; cat "$folder/said" >&2; exit 1; }
        sleep 0.05
    done
done

runs=
for name in one-thread four-threads one-thread four-threads; do
    echo "$name: 16 users for 10 s; each request holds a thread for 2 ms on average"
    store "$tenbin" "http://$name/hold?dist=exp&mean_us=2000" --unix-socket "$folder/$name" \
        -c 16 -d 10s --warm-up 1s >/dev/null 2>"$folder/said" || { cat "$folder/said" >&2; exit 1; }
    runs="$runs $(sed -n 's/^kept as \([^ ]*\) in .*/\1/p' "$folder/said")"
done

echo
store "$tenbin" report $runs
echo
sed -n 's/^kept as [^ ]* in /all four runs are kept in /p' "$folder/said"
echo "again, in full: tenbin report RUN, with RUN one of:$runs"
