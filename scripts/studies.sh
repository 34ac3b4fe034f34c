#!/bin/sh
# Runs studies at full length, and writes their reports to docs/studies. Keeps the handwritten part of each page, which ends at the
# line that begins with `<!-- report`.
# Usage: studies.sh TENBIN NAME..., or RUN=s-… studies.sh TENBIN NAME to take the report of an existing study
set -eu

tenbin=$1
shift
folder=docs/studies
mkdir -p "$folder"
for name in "$@"; do
    run=${RUN-}
    if [ -z "$run" ]; then
        "$tenbin" run "plans/$name.yaml" || [ $? -eq 6 ] # the server was gone for a while: that is a result
        run=last
    fi
    page=$folder/$name.md
    [ -e "$page" ] || printf '# %s\n' "$name" >"$page"
    {
        sed '/^<!-- report/,$d' "$page"
        echo "<!-- report: scripts/studies.sh writes what follows -->"
        echo
        "$tenbin" report "$run" --format md
    } >"$page.new"
    mv "$page.new" "$page"
done
