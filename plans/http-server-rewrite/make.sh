#!/bin/sh
# Makes groonga's database of documents in DIR/db.
# Usage: make.sh DIR
set -eu
mkdir "$1/db"
python3 "$(dirname "$0")/documents.py" | groonga -n "$1/db/db" >"$1/loaded"
# 8,000 documents are the last answer.
grep -q '8000\]' "$1/loaded" || { cat "$1/loaded" >&2; exit 1; }
