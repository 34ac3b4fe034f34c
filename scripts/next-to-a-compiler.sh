#!/usr/bin/env bash
# Runs a command next to a compiler that keeps two cores busy, and stops the compiler when the command ends.
# Usage: next-to-a-compiler.sh COMMAND..., whose exit code it returns
set -euo pipefail

# Crate that the compiler works on; it has enough dependencies to keep a core busy.
CRATE=report
HOURS_MAX=8
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")/next-to

# Compiles until it is stopped, or until the shell that started it is gone, or HOURS_MAX have passed.
compile() {
    export CARGO_TARGET_DIR=$target/$1
    while kill -0 $$ 2>/dev/null && ((SECONDS < HOURS_MAX * 3600)); do
        cargo clean --quiet --package "$CRATE"
        cargo build --quiet --package "$CRATE" --locked -j2 </dev/null && echo built
    done
}

compilers=()
stop() {
    # Each loop leads a process group, in which cargo and the compiler are.
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
# How busy the machine was: a build takes about 20 s on a core of its own.
echo "next to it, the compiler finished $(cat "$target"/?.log | grep -c '^built') builds in $SECONDS s" >&2
exit "$status"
