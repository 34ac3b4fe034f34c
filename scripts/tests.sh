#!/usr/bin/env bash
# Runs the test programs of the workspace. Programs that wait for time to pass, for servers, or for programs that they start run one
# after the other, each with several tests at a time. Programs that only compute run next to them, at a priority that takes no core from
# anything that waits for one.
# Usage: tests.sh FOLDER [CARGO_FLAG...], where each program's output is kept. CARGO_FLAGs choose profile and packages.
set -euo pipefail

# Tests at a time in one program that waits.
THREADS=6

# Crates with tests that wait.
WAITING=" $(cat scripts/slow-crates.txt) "

logs=$(realpath -m "$1")
shift
rm -rf "$logs"
mkdir -p "$logs"

scripts/test-programs.sh "$@" >"$logs/programs"
[ -s "$logs/programs" ] || { echo "no test program was built" >&2; exit 1; }

# Prints the output of a program when it ends, so that outputs do not mix.
run() {
    local threads=$1 crate=$2 program=$3 log since=$SECONDS status=0
    log=$logs/$(basename "$crate")-$(basename "$program").log
    (cd "$crate" && RUST_TEST_THREADS=$threads "$program") >"$log" 2>&1 </dev/null || status=$?
    if [ "$status" = 0 ]; then
        printf '%-22s %4d s  %s\n' "$(basename "$crate")" $((SECONDS - since)) "$(grep '^test result:' "$log")"
    else
        echo "$program" >>"$logs/failed"
        cat "$log"
        printf '%s failed with exit code %d after %d s: %s\n' "$(basename "$crate")" "$status" $((SECONDS - since)) "$program"
    fi
}

# Runs the programs of a list, one after the other, with a number of tests at a time.
lane() {
    local crate program
    while read -r crate program; do run "$2" "$crate" "$program"; done <"$logs/$1"
}

while read -r crate program; do
    case "$WAITING" in
        *" $(basename "$crate") "*) echo "$crate $program" >>"$logs/waiting" ;;
        *) echo "$crate $program" >>"$logs/computing" ;;
    esac
done <"$logs/programs"
touch "$logs/waiting" "$logs/computing"
(chrt --idle --pid 0 "$BASHPID" && lane computing "$(nproc)") &
lane waiting "$THREADS"
wait
[ ! -e "$logs/failed" ]
