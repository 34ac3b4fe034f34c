#!/usr/bin/env bash
# Builds the test programs. Prints one line for each: the folder of its crate, which is its working directory, and its path.
# Usage: test-programs.sh [CARGO_FLAG...]; the flags select profile and packages
set -euo pipefail

# Cargo also builds programs that are not tests. The pattern `"test":true` leaves them out.
cargo test "$@" --lib --bins --tests --locked --no-run --message-format json-render-diagnostics |
    sed -nE '/"overflow_checks":[a-z]+,"test":true\}/s/.*"manifest_path":"([^"]*)\/Cargo.toml".*"executable":"([^"]*)".*/\1 \2/p'
