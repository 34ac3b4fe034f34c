#!/bin/sh
# Builds FerretDB 1.24.2 as FOLDER/ferretdb, from its Go module.
#   install.sh FOLDER
# Needs Go.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
if [ -x "$folder/ferretdb" ]; then exit; fi
sources=$(go mod download -json github.com/FerretDB/FerretDB@v1.24.2 | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$sources/." "$work"
chmod -R u+w "$work"
# The module lacks a file that its releases generate.
echo v1.24.2 >"$work/build/version/version.txt"
cd "$work"
CGO_ENABLED=0 go build -o "$folder/ferretdb" ./cmd/ferretdb
