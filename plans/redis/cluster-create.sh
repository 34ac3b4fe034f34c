#!/bin/sh
# Makes a cluster of running nodes, with one replica for each master, unless it exists: cluster-create.sh PORT… Fails until it is up.
set -eu
is_up() {
    for port in "$@"; do
        redis-cli -p "$port" cluster info | grep -q cluster_state:ok || return 1
        redis-cli -p "$port" info replication | grep -Eq 'role:master|master_link_status:up' || return 1
    done
}
is_up "$@" && exit 0
if redis-cli -p "$1" cluster info | grep -q 'cluster_known_nodes:1.$'; then
    redis-cli --cluster create $(for port in "$@"; do echo "127.0.0.1:$port"; done) --cluster-replicas 1 --cluster-yes
fi
is_up "$@"
