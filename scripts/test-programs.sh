#!/usr/bin/env bash
# Builds the test programs, and prints for each the folder of its crate, in which Cargo starts it, and its path.
# Usage: test-programs.sh [CARGO_FLAG...]; CARGO_FLAGs choose profile and packages
set -euo pipefail

# Programs that are no tests are built as well; of those, the profile has no `"test":true`.
cargo test "$@" --lib --bins --tests --locked --no-run --message-format json-render-diagnostics |
    sed -nE '/"overflow_checks":[a-z]+,"test":true\}/s/.*"manifest_path":"([^"]*)\/Cargo.toml".*"executable":"([^"]*)".*/\1 \2/p'
