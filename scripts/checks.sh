#!/usr/bin/env bash
# Runs every check and prints the duration of each. Checks that only compute run in two parallel lanes. Checks that measure time, or
# wait for timers, run one after the other on the otherwise idle machine.
# Usage: checks.sh LOG_FOLDER; called by `make test`
set -euo pipefail

LANES=("ui-check fmt clippy programs simulated" "tools instructions doc")
ALONE="unit browser truth why-short"

logs=$1
rm -rf "$logs"
mkdir -p "$logs"
begun=$SECONDS

# Runs a step and records its duration. Records a failed step in `failed`, so that no lane begins another step.
step() {
    local name=$1 since=$SECONDS
    "${MAKE:-make}" --no-print-directory "$name" || { echo "$name" >>"$logs/failed"; return 1; }
    echo "$name $((SECONDS - since))" >>"$logs/seconds"
}

lane() {
    local name
    for name in $1; do
        [ ! -e "$logs/failed" ] || return 0
        if step "$name" >"$logs/$name.log" 2>&1 </dev/null; then
            echo "== $name passed after $((SECONDS - begun)) s"
        else
            cat "$logs/$name.log"
            return 0
        fi
    done
}

give_up() {
    echo "== failed: $(tr '\n' ' ' <"$logs/failed")" >&2
    exit 1
}

for steps in "${LANES[@]}"; do lane "$steps" & done
wait
[ ! -e "$logs/failed" ] || give_up
for name in $ALONE; do
    echo "== $name"
    step "$name" 2>&1 | tee "$logs/$name.log" || give_up
done

sed -n 's/.*test result: ok\. //p' "$logs/unit.log" |
    awk '{ passed += $1; failed += $3 } END { print "\ncargo test: " passed " passed, " failed " failed" }'
printf '\n%-14s %7s\n' step seconds
for steps in "${LANES[@]}" "$ALONE"; do
    for name in $steps; do
        printf '%-14s %7d\n' "$name" "$(sed -n "s/^$name //p" "$logs/seconds")"
    done
done
printf '%-14s %7d  (the first %d steps run in %d lanes)\n' "all" $((SECONDS - begun)) \
    "$(wc -w <<<"${LANES[*]}")" "${#LANES[@]}"
