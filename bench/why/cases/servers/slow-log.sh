#!/bin/sh
# Starts a command whose log goes through a pipe to a reader that takes 256 KiB a second.
# Usage: slow-log.sh COMMAND...
exec "$@" | while dd bs=16384 count=1 iflag=fullblock of=/dev/null 2>/dev/null; do sleep 0.0625; done
