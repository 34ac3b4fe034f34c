#!/usr/bin/env bash
# Runs a command while a compiler keeps two cores busy, and stops the compiler when the command ends.
# Usage: next-to-a-compiler.sh COMMAND...; exits with the exit code of COMMAND
set -euo pipefail

# Crate to compile. Its build takes long enough to keep a core busy.
CRATE=report
HOURS_MAX=8
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")/next-to

# Compiles in a loop until this script ends, or until HOURS_MAX have passed.
compile() {
    export CARGO_TARGET_DIR=$target/$1
    while kill -0 $$ 2>/dev/null && ((SECONDS < HOURS_MAX * 3600)); do
        cargo clean --quiet --package "$CRATE"
        cargo build --quiet --package "$CRATE" --locked -j2 </dev/null && echo built
    done
}

compilers=()
stop() {
    # Signals the process group of each loop, which includes cargo and the compiler.
    for compiler in "${compilers[@]}"; do kill -- "-$compiler" 2>/dev/null || true; done
}
trap stop EXIT
trap 'exit 130' INT TERM

mkdir -p "$target"
set -m
for number in 1 2; do
    compile "$number" >"$target/$number.log" 2>&1 &
    compilers+=($!)
done
set +m
status=0
"$@" || status=$?
for compiler in "${compilers[@]}"; do
    kill -0 "$compiler" 2>/dev/null || { echo "the compiler stopped early: $(tail -n 1 "$target"/?.log)" >&2; exit 1; }
done
# Number of builds, as a measure of how busy the machine was. A build takes about 20 s on an idle core.
echo "next to it, the compiler finished $(cat "$target"/?.log | grep -c '^built') builds in $SECONDS s" >&2
exit "$status"
