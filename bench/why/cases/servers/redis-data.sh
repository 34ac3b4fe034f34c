#!/bin/sh
# Fills a dump of Redis in a folder, which the server of the case loads: redis-data.sh DIR TYPE KEY COUNT [TYPE KEY COUNT]…
# TYPE is list, set, zset, or hash, for a key with so many members, text, for a key of so many bytes, or strings, for so many keys of 100 bytes.
set -eu
dir=$1
shift
cli() { redis-cli -s "$dir/data.sock" "$@"; }
redis-server --port 0 --unixsocket "$dir/data.sock" --dir "$dir" --save '' --daemonize yes --enable-debug-command yes >/dev/null
until cli ping >/dev/null 2>&1; do sleep 0.05; done
while [ $# -ge 3 ]; do
    case $1 in
    list) script="redis.call('rpush', KEYS[1], i * 7919 % ARGV[1])" ;;
    set) script="redis.call('sadd', KEYS[1], i)" ;;
    zset) script="redis.call('zadd', KEYS[1], i, i)" ;;
    hash) script="redis.call('hset', KEYS[1], i, i)" ;;
    text) script="if i == 1 then redis.call('set', KEYS[1], string.rep('x', ARGV[1])) end" ;;
    strings) script= ;;
    *) echo "unknown type $1" >&2 && exit 2 ;;
    esac
    if [ "$1" = strings ]; then
        cli debug populate "$3" "$2" 100 >/dev/null
    else
        cli eval "for i = 1, ARGV[1] do $script end" 1 "$2" "$3" >/dev/null
    fi
    shift 3
done
cli shutdown save 2>/dev/null || true
while [ -S "$dir/data.sock" ]; do sleep 0.05; done
