#!/usr/bin/env bash
# Runs every check and reports how long each took. Installing and building come first. Checks that only compute run next to the tests,
# which mostly wait, at a priority that takes no core from them; checks that measure time have the machine to themselves.
# Usage: checks.sh FOLDER, where logs are kept; called by `make test`
set -euo pipefail

FIRST="fmt tools programs"
MEANWHILE="ui-check clippy doc instructions simulated"
ALONE="browser truth why-short"

logs=$1
tests=$(dirname "$logs")/tests
rm -rf "$logs"
mkdir -p "$logs"
begun=$SECONDS

# Runs a step and notes its seconds; a step that fails is noted as well, so that no lane begins another.
step() {
    local name=$1 since=$SECONDS
    "${MAKE:-make}" --no-print-directory "$name" || { echo "$name" >>"$logs/failed"; return 1; }
    echo "$name $((SECONDS - since))" >>"$logs/seconds"
}

# Runs steps until one fails, here or in another lane.
lane() {
    local name
    for name in "$@"; do
        [ ! -e "$logs/failed" ] || return 0
        if step "$name" >"$logs/$name.log" 2>&1 </dev/null; then
            echo "== $name passed after $((SECONDS - begun)) s"
        else
            cat "$logs/$name.log"
            return 0
        fi
    done
}

# Runs steps with the processor time that others leave. The first one starts when the tests have been listed, because Cargo lets only
# one command use a folder of builds.
meanwhile() {
    chrt --idle --pid 0 "$BASHPID"
    until [ -e "$tests/computing" ] || [ -e "$logs/failed" ]; do sleep 1; done
    lane "$@"
}

# Waits for lanes in the background, and ends everything if a step failed.
finish() {
    wait
    [ ! -e "$logs/failed" ] || { echo "== failed: $(tr '\n' ' ' <"$logs/failed")" >&2; exit 1; }
}

for name in $FIRST; do lane "$name" & done
finish
rm -rf "$tests"
# shellcheck disable=SC2086 # Names of steps.
meanwhile $MEANWHILE &
echo "== unit"
step unit 2>&1 | tee "$logs/unit.log" || true
finish
for name in $ALONE; do
    echo "== $name"
    step "$name" 2>&1 | tee "$logs/$name.log" || true
    finish
done

sed -n 's/.*test result: ok\. //p' "$logs/unit.log" |
    awk '{ passed += $1; failed += $3 } END { print "\ncargo test: " passed " passed, " failed " failed" }'
printf '\n%-14s %7s\n' step seconds
for name in $FIRST unit $MEANWHILE $ALONE; do
    printf '%-14s %7d\n' "$name" "$(sed -n "s/^$name //p" "$logs/seconds")"
done
printf '%-14s %7d\n' "all" $((SECONDS - begun))
