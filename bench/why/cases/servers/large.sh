#!/bin/sh
# Writes a file that ends in "the end".
# Usage: large.sh FILE BYTES
head -c $(($2 - 7)) /dev/zero | tr '\0' . >"$1"
printf 'the end' >>"$1"
