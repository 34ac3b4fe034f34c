#!/bin/sh
# Creates two large synthetic results, writes their report pages, and renders each in a fresh Chromium.
# Usage: run.sh FOLDER-OF-PROGRAMS FOLDER
set -eu

programs=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
rm -f "$folder"/*.sqlite*
"$programs/bench-page" make-study --runs 200 --seconds 300 "$folder/study.sqlite"
"$programs/bench-page" make-long --hours 24 "$folder/long.sqlite"
for made in study long; do
    echo "== $made"
    time -p "$programs/tenbin" report --store "$folder/$made.sqlite" -o "$folder/$made.html" >/dev/null
done
cd "$(dirname "$0")/../../ui"
npm run --silent paint -- "$folder/study.html" "$folder/long.html"
