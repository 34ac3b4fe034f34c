#!/usr/bin/env bash
# Runs each group of time-dependent tests N times, and prints the numbers of runs, tests, repeats, and failures per group.
# Usage: steady.sh TARGET_DIR N [GROUP...]; called by `make steady`, while a compiler keeps the machine busy
set -euo pipefail

ALL="engine proxy probes databases programs why-short page truth"

target=$1 runs=$2
shift 2
groups=("$@")
[ ${#groups[@]} -gt 0 ] || read -ra groups <<<"$ALL"
checked=$target/checked
logs=$target/steady
rm -rf "$logs"
mkdir -p "$logs"
export PROPTEST_RNG_SEED=1 RUST_TEST_THREADS=6

scripts/test-programs.sh --profile checked --workspace >"$logs/programs" 2>"$logs/build.log"

# Runs the test programs of packages, each in the folder of its package, as Cargo does.
tests() {
    local package folder program status=0
    for package in "$@"; do
        while read -r folder program; do
            (cd "$folder" && CARGO_MANIFEST_DIR=$folder "$program" </dev/null) || status=1
        done < <(grep "/$package " "$logs/programs")
    done
    return $status
}

group() {
    case $1 in
    engine) tests crates/engine ;;
    proxy) tests crates/proxy ;;
    probes) tests crates/lab ;;
    databases) tests dev/servers crates/sql crates/sqlite crates/loading ;;
    programs) tests crates/tenbin ;;
    page) (cd ui && TENBIN=$checked/tenbin NO_COLOR=1 npm run browser) ;;
    truth) "$checked/bench-truth" --tenbin "$checked/tenbin" --only T --only R ;;
    why-short) "$checked/bench-why" --tenbin "$checked/tenbin" ;;
    *) echo "no group $1; there are $ALL" >&2 && return 2 ;;
    esac
}

# Prints the numbers of tests, repeats, and failures in a log of cargo test, vitest, bench-truth, or bench-why.
counts() {
    awk '
        /^test result:/ { tests += $4 + $6; failures += $6 }
        /^ +Tests +[0-9]/ {
            for (word = 2; word <= NF; word++) if ($word ~ /^(passed|failed)/) tests += $(word - 1)
            for (word = 2; word <= NF; word++) if ($word == "failed") failures += $(word - 1)
        }
        /^  [TR][0-9]+ .* (pass|FAIL) / { tests++; if (/ FAIL /) failures++ }
        /^  [a-z0-9-]+ +[a-z_]+ +[a-z_]+ +(yes|no) +(yes|no) +[0-9.]+$/ { tests++; if ($4 == "no") failures++ }
        /^ *measured again / { repeats++ }
        END { print tests + 0, repeats + 0, failures + 0 }' "$1"
}

for ((run = 1; run <= runs; run++)); do
    for name in "${groups[@]}"; do
        log=$logs/$name-$run.log since=$SECONDS status=0
        group "$name" >"$log" 2>&1 || status=$?
        read -r tests repeats failures <<<"$(counts "$log")"
        [ "$status" -eq 0 ] || [ "$failures" -gt 0 ] || failures=1
        echo "$name $tests $repeats $failures" >>"$logs/counts"
        echo "run $run of $name: $tests tests, $repeats repeats, $failures failures in $((SECONDS - since)) s"
    done
done
awk '
    { if (!($1 in runs)) order[++names] = $1; runs[$1]++; tests[$1] += $2; repeats[$1] += $3; failures[$1] += $4; all += $4 }
    END {
        printf "\n%-10s %6s %7s %8s %9s\n", "group", "runs", "tests", "repeats", "failures"
        for (at = 1; at <= names; at++) {
            name = order[at]
            printf "%-10s %6d %7d %8d %9d\n", name, runs[name], tests[name], repeats[name], failures[name]
        }
        exit all > 0
    }' "$logs/counts" || { echo "see the logs of failed runs in $logs" >&2; exit 1; }
