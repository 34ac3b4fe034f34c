#!/bin/sh
# Runs comparisons in docs/gallery, and updates their pages.
# Usage: gallery.sh TENBIN quick [NAME...]  runs the named comparisons, or all, with --quick
#        gallery.sh TENBIN turn             runs two comparisons that need only the programs of `make tools`; a different pair after
#                                           each commit
#        gallery.sh TENBIN page NAME...     updates plan, chart, and report on pages, below the handwritten part; RUN=s-… takes the
#                                           report of an existing study
set -eu

# Comparisons that need only the programs that `make tools` installs.
IN_TURN="upstream-keepalive sqlite-journal rsa-or-ecdsa multi-row-insert pgbouncer foreign-key-index gzip-levels synchronous-commit"

[ "$#" -ge 2 ] || set -- "" ""
tenbin=$1
what=$2
shift 2
folder=docs/gallery

# Runs a comparison with --quick. Exit code 6, a system that was temporarily unreachable, counts as success: a busy machine causes it.
quick() {
    begun=$(date +%s)
    status=0
    "$tenbin" run "$folder/$1.yaml" --quick --store "$scratch/store" >"$scratch/log" 2>&1 || status=$?
    case $status in
        0 | 6) echo "$1: $(($(date +%s) - begun)) s" ;;
        *) cat "$scratch/log" && echo "$1 failed with exit code $status" && return 1 ;;
    esac
}

# Runs all named comparisons with --quick. Fails if any of them fails.
quick_all() {
    failed=
    for name in "$@"; do quick "$name" || failed="$failed $name"; done
    [ -z "$failed" ] || { echo "failed:$failed" >&2; return 1; }
}

page() {
    page=$folder/$1.md
    run=${RUN-}
    if [ -z "$run" ]; then
        "$tenbin" run "$folder/$1.yaml"
        run=last
    fi
    {
        sed '/^<!-- plan/,$d' "$page"
        printf '<!-- plan: scripts/gallery.sh writes what follows -->\n\n## Plan\n\n```yaml\n'
        cat "$folder/$1.yaml"
        printf '```\n\n## Result\n\n![Chart of the result](%s.svg)\n\n```text\n' "$1"
        "$tenbin" report "$run" | sed -e 's/ *$//' -e '/^measure again/d' -e '/^All figures/d' -e "s|tenbin run .*/docs/gallery|tenbin run docs/gallery|"
        printf '```\n'
    } >"$page.new"
    mv "$page.new" "$page"
    "$tenbin" report "$run" --format json | scripts/gallery-chart.py >"$folder/$1.svg"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
case $what in
    quick)
        [ "$#" -gt 0 ] || set -- $(cd "$folder" && ls ./*.yaml | sed 's|^\./||; s|\.yaml$||')
        quick_all "$@"
        ;;
    turn)
        # shellcheck disable=SC2086 # a list of names
        set -- $IN_TURN
        first=$(($(git rev-list --count HEAD 2>/dev/null || echo 0) * 2 % $#))
        shift "$first"
        quick_all "$1" "$2"
        ;;
    page) for name in "$@"; do page "$name"; done ;;
    *) sed -n '2,/^set/s/^# //p' "$0" >&2 && exit 2 ;;
esac
