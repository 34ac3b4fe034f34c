#!/bin/sh
# Installs the system's packages of the servers that the plans start, and of what the truth tests need, where they are missing.
# Usage: systems.sh
set -eu

missing=
need() { command -v "$1" >/dev/null || missing="$missing $2"; }
need nginx nginx
need puma puma
need unicorn unicorn
need passenger passenger
need faketime faketime
need perf linux-perf
# shellcheck disable=SC2086 # a list of names
"$(dirname "$0")/packages.sh" $missing
