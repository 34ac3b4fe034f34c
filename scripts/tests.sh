#!/usr/bin/env bash
# Runs the test programs of the workspace one after the other, each with several tests in parallel. Most tests wait for timers,
# servers, or child processes. Parallel test programs would disturb each other's timing tests.
# Usage: tests.sh LOG_FOLDER [CARGO_FLAG...]; the flags select profile and packages
set -euo pipefail

# Number of parallel tests in a program.
THREADS=6

logs=$(realpath -m "$1")
shift
rm -rf "$logs"
mkdir -p "$logs"

scripts/test-programs.sh "$@" >"$logs/programs"
[ -s "$logs/programs" ] || { echo "no test program was built" >&2; exit 1; }

# Runs a test program with its output in a log. Prints the summary, or the whole log if the program fails.
run() {
    local crate=$1 program=$2 log
    log=$logs/$(basename "$crate")-$(basename "$program").log
    local since=$SECONDS status=0
    (cd "$crate" && RUST_TEST_THREADS=$THREADS "$program") >"$log" 2>&1 </dev/null || status=$?
    if [ "$status" = 0 ]; then
        printf '%-22s %4d s  %s\n' "$(basename "$crate")" $((SECONDS - since)) "$(grep '^test result:' "$log")"
    else
        cat "$log"
        printf '%s failed with exit code %d after %d s: %s\n' "$(basename "$crate")" "$status" $((SECONDS - since)) "$program"
    fi
    return "$status"
}
status=0
while read -r crate program; do
    run "$crate" "$program" || status=1
done <"$logs/programs"
exit "$status"
