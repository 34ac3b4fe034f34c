#!/usr/bin/env bash
# Checks the changes since the last commit: format, lints, and the tests of the changed crates and of those that depend on them.
# Skips tests of slow crates that did not change themselves, and lists these crates. Usage: check.sh
set -euo pipefail

# Crates with tests that wait for timers or servers. `make unit` runs them.
SLOW=" $(cat scripts/slow-crates.txt) "

root=$(pwd)
# Prints `crate NAME FOLDER` for each crate of the workspace, and `needs NAME DEPENDENCY` for each dependency between two crates.
metadata=$(cargo metadata --format-version 1 --no-deps --locked --offline)
crates=$(node -e '
    const { packages } = JSON.parse(require("fs").readFileSync(0));
    const names = new Set(packages.map((p) => p.name));
    for (const p of packages) {
        console.log("crate", p.name, p.manifest_path.replace(/\/Cargo.toml$/, ""));
        for (const d of p.dependencies) if (names.has(d.name)) console.log("needs", p.name, d.name);
    }' <<<"$metadata")

changed=$({ git diff --name-only HEAD; git ls-files --others --exclude-standard; } | sort -u)
touched=" "
while read -r _ name folder; do
    if grep -q "^${folder#"$root"/}/" <<<"$changed"; then touched+="$name "; fi
done < <(grep '^crate ' <<<"$crates")
[ "$touched" != " " ] || { echo "no crate changed since the last commit"; cargo fmt --all --check; exit 0; }

# Adds the crates that depend on a changed crate, directly or indirectly.
tested=$touched
for _ in 1 2 3 4 5 6 7 8; do
    while read -r _ name needed; do
        case "$tested" in *" $name "*) continue ;; esac
        case "$tested" in *" $needed "*) tested+="$name " ;; esac
    done < <(grep '^needs ' <<<"$crates")
done

lint=() test=() left=()
for name in $tested; do
    lint+=(-p "$name")
    case "$SLOW$touched" in
        *" $name "*) if [[ "$touched" == *" $name "* ]]; then test+=(-p "$name"); else left+=("$name"); fi ;;
        *) test+=(-p "$name") ;;
    esac
done

echo "changed:$touched"
cargo fmt --all --check
cargo clippy "${lint[@]}" --all-targets --locked --quiet -- -D warnings
PROPTEST_RNG_SEED=1 scripts/tests.sh target/check-tests "${test[@]}"
[ "${#left[@]}" = 0 ] || echo "left out, run \`make unit\`: ${left[*]}"
