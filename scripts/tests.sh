#!/usr/bin/env bash
# Runs the test programs of the workspace, each with several tests at a time: most tests wait for time to pass, for servers, or for
# programs that they start.
# Usage: tests.sh FOLDER [CARGO_FLAG...], where each program's output is kept. CARGO_FLAGs choose profile and packages.
set -euo pipefail

# Programs at a time: two take the cores from each other's tests of times. And tests of one program at a time.
PROGRAMS=1
THREADS=6
# Programs that run for longest come first, so that none of them is left alone at the end.
LONGEST="crates/tenbin crates/engine crates/report"

logs=$(realpath -m "$1")
shift
rm -rf "$logs"
mkdir -p "$logs"

scripts/test-programs.sh "$@" >"$logs/programs"
[ -s "$logs/programs" ] || { echo "no test program was built" >&2; exit 1; }
{
    for crate in $LONGEST; do grep "/$crate " "$logs/programs" || true; done
    grep -vE "/(${LONGEST// /|}) " "$logs/programs" || true
} >"$logs/order"

# Prints the output of a program when it ends, so that outputs do not mix.
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
export -f run
export logs THREADS

xargs -P "$PROGRAMS" -L 1 bash -c 'run "$@" || exit 1' run <"$logs/order"
