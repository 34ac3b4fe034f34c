//! Plants in the C server.

use super::Language::{C, Python};
use super::Part::{App, Peer, Program, System};
use super::{ACCEPTING, BACKUP, COMPUTES, Plant, SLOTS, WAITS};

pub(super) const PLANTS: &[Plant] = &[
    Plant::new("c-tenant-slots", "Two requests of a tenant run at once, and all requests are of one tenant.")
        .on(&[App(C, "tenant=[[2|64]] sleep=20000 leave")])
        .waiting()
        .right(SLOTS)
        .vague(WAITS),
    Plant::new("c-tenant-slots-spinner", "Two requests of a tenant run at once; a thread next to them keeps a core busy.")
        .on(&[App(C, "tenant=[[2|64]] sleep=20000 leave [[h:-- cpu=100000|]]")])
        .herring()
        .right(SLOTS)
        .vague(WAITS),
    Plant::new("c-slots-backup", "Four slots for 16 requests; a backup writes to the disk.")
        .on(&[App(C, "slots=[[4|64]] take sleep=20000 give"), BACKUP])
        .herring()
        .right(SLOTS)
        .vague(WAITS),
    Plant::new("c-rwlock-reload", "A writer holds the lock of the configuration for 80 ms of every 100.")
        .on(&[App(C, "read sleep=1000 release [[-- write sleep=80000 release sleep=20000|]]")])
        .right(&["lock"])
        .vague(&["waiting", "pool", "pauses", "stopped"]),
    Plant::new("c-priority-inversion", "The holder of the mutex has the lowest priority, and a busy thread keeps it from the only core.")
        .on(&[
            App(C, "lock nice=[[19|0]] cpu=1000 nice=0 unlock -- cpu=100000"),
            System("resources: { cores: [ 0 ] }"),
        ])
        .load("users: 4")
        .right(&["priority", "lock"])
        .vague(COMPUTES),
    Plant::new("c-flock-processes", "Four processes take turns: a file lock is held for 5 ms.")
        .on(&[App(C, "processes=4 file={dir}/data [[flock|sleep=0]] sleep=5000 [[funlock|sleep=0]]")])
        .waiting()
        .right(&["lock", "*:flock/file lock"])
        .vague(WAITS),
    Plant::new("c-log-rotation", "Another program holds the lock of the log file for 400 ms of every 500.")
        .on(&[
            App(C, "file={dir}/data flock sleep=200 funlock"),
            Program("rotation", "sh -c 'while :; do [[flock {dir}/data|]] sleep 0.4; sleep 0.1; done'"),
        ])
        .right(&["lock", "*:flock/file lock"])
        .vague(&["waiting", "pool", "pauses", "stopped"]),
    Plant::new("c-batch-linger", "Requests wait until 64 are there, or for 50 ms: there are 8.")
        .on(&[App(C, "batch=64,[[50000|2000]]")])
        .load("users: 8")
        .waiting()
        .right(&["load", "waiting", "*:timer/timeout/timed wait"])
        .vague(&["lock", "pool", "dependency"]),
    Plant::new("c-poll-tick", "A poller wakes up every 20 ms, and takes one request.")
        .on(&[App(C, "tick=[[20000|1000]]")])
        .waiting()
        .right(&["rate_limit", "pool", "lock:semaphore/futex", "*:timer"])
        .vague(&["waiting", "lock"]),
    Plant::new("c-bucket-logger", "A leaky bucket lets 200 requests a second through; a thread writes a log without a pause.")
        .on(&[App(C, "bucket=[[200|2000]] [[h:-- log=200 sleep=100|]]")])
        .herring()
        .right(&["rate_limit"])
        .vague(&["waiting", "pool"]),
    Plant::new("c-thread-limit", "The server serves four connections at once; twelve wait to be accepted.")
        .on(&[App(C, "threads=[[4|64]] sleep=20000")])
        .right(ACCEPTING)
        .vague(&["waiting", "lock"]),
    Plant::new("c-accept-lookup", "A look-up of 10 ms before each accept; every request has a connection of its own.")
        .on(&[App(C, "close accept=[[10000|0]]")])
        .load("users: 16, keep-alive: false")
        .right(ACCEPTING)
        .vague(&["waiting"]),
    Plant::new("c-false-sharing", "Threads count in neighboring words of one cache line.")
        .on(&[App(C, "count=[[8|256]]")])
        .load("users: 4")
        .right(&["machine_cpu", "spinning", "*:cache line/false sharing"])
        .vague(&["one_core"]),
    Plant::new("c-cache-misses", "Each request follows 20,000 random pointers through 256 MiB.")
        .on(&[App(C, "walk=[[256|1]]")])
        .load("users: 4")
        .right(&["machine_cpu", "*:memory access/cache miss/bandwidth"])
        .vague(&["one_core"]),
    Plant::new("c-malloc-arena", "All threads allocate from one arena, behind its mutex.")
        .on(&[App(C, "alloc=3000"), System("env: { MALLOC_ARENA_MAX: '[[1|8]]' }")])
        .unverified("two idle cores are needed; the ratio was 1.45 on a busy machine")
        .right(&["lock"])
        .vague(COMPUTES),
    Plant::new("c-page-faults", "Each request maps, touches, and unmaps 16 MiB.")
        .on(&[App(C, "fault=[[16384|64]]")])
        .load("users: 8")
        .right(COMPUTES)
        .vague(&["memory", "lock"]),
    Plant::new("c-folder-fsync", "Each request writes a file, renames it, and flushes it and its folder; a thread keeps a core busy.")
        .on(&[App(C, "file={dir}/data [[rename=4096|sleep=0]] [[h:-- cpu=100000|]]")])
        .load("users: 4")
        .herring()
        .right(&["disk"])
        .vague(&["waiting", "lock"]),
    Plant::new("c-flush-under-lock", "A mutex is held while 4 KiB are flushed to the disk.")
        .on(&[App(C, "file={dir}/data lock [[sync=4096|sleep=0]] unlock")])
        .right(&["disk", "lock"])
        .vague(&["waiting", "pool"]),
    Plant::new("c-lock-backup", "A mutex is held for 4 ms; a backup writes to the disk.")
        .on(&[App(C, "[[lock|sleep=0]] sleep=4000 [[unlock|sleep=0]]"), BACKUP])
        .herring()
        .right(&["lock"])
        .vague(WAITS),
    Plant::new("c-lock-and-slots", "A mutex for 5 ms, then one of four slots for 20 ms: both allow 200 requests a second.")
        .on(&[App(C, "slots=[[b:4|64]] [[lock|sleep=0]] sleep=5000 [[unlock|sleep=0]] take sleep=20000 give")])
        .load("users: 24")
        .two(&["lock"], SLOTS)
        .vague(WAITS),
    Plant::new("c-quota-and-lock", "A quota of 0.4 cores for 2 ms of computing, and a mutex for 5 ms: both allow 200 requests a second.")
        .on(&[
            App(C, "cpu=2000 [[b:lock|sleep=0]] sleep=5000 [[b:unlock|sleep=0]]"),
            System("resources: { cpu: [[0.4|2]] }"),
        ])
        .two(&["cpu_quota"], &["lock"])
        .vague(COMPUTES),
    Plant::new("c-bucket-and-dependency", "A leaky bucket and a dependency with four slots both allow 200 requests a second.")
        .on(&[
            Peer("stock", C, "tenant=[[b:4|64]] sleep=20000 leave"),
            App(C, "bucket=[[200|5000]] call={port.stock}"),
        ])
        .two(&["rate_limit"], &["dependency", "pool"])
        .vague(&["waiting"]),
    Plant::new("c-log-collector", "Each request sends a datagram to a log collector, which reads 200 a second.")
        .on(&[
            Program("collector", "python3 -B {servers}/collector.py {dir}/log [[200|1000000]]"),
            App(C, "collector={dir}/log dgram=1000"),
        ])
        .waiting()
        .right(&["log_pipe", "dependency", "*:datagram/unix socket/collector"])
        .vague(&["waiting", "pool"]),
    Plant::new("c-name-server", "Each request asks a name server over UDP, which answers one query after the other, each after 5 ms.")
        .on(&[Program("names", "python3 -B {servers}/names.py {port.names} [[5|0]]"), App(C, "ask={port.names}")])
        .waiting()
        .right(&["dependency", "*:udp/name server/dns"])
        .vague(&["waiting", "pool"]),
    Plant::new("c-dependency-accept", "Each request opens a connection to a dependency, which takes 5 ms for each accept; a thread keeps a core busy.")
        .on(&[Peer("stock", C, "close accept=[[5000|0]]"), App(C, "connect={port.stock} [[h:-- cpu=100000|]]")])
        .herring()
        .right(&["dependency", "listen_queue"])
        .vague(&["waiting", "pool", "connections"]),
    Plant::new("c-process-per-request", "Each request starts a process.")
        .on(&[App(C, "[[run|sleep=1000]]")])
        .load("users: 8")
        .right(COMPUTES)
        .vague(&["waiting"]),
    Plant::new("c-send-buffer", "Bodies of 4 MB leave through a send buffer of 4 KB.")
        .on(&[App(C, "body=4000000 sndbuf=[[4608|4000000]]")])
        .load("users: 4")
        .right(&["bandwidth", "*:send buffer/window"])
        .vague(COMPUTES),
    Plant::new("c-batch-report", "Eight users wait for 20 ms each; a report in another process keeps a core busy.")
        .on(&[Peer("report", C, "sleep=0 -- cpu=100000"), App(C, "sleep=20000")])
        .load("users: [[8|16]]")
        .users()
        .vague(&["waiting"]),
    Plant::new("c-open-half", "A request every 10 ms is answered within 5 ms.")
        .on(&[App(C, "slots=64 take sleep=5000 give")])
        .load("rate: [[100|200]]/s")
        .users()
        .vague(&["waiting"]),
    Plant::new("c-lookup-users", "Six users wait for a name server that answers any number of queries, each after 30 ms.")
        .on(&[
            Program("names", "python3 -B {servers}/names.py {port.names} 30 together"),
            App(C, "ask={port.names}"),
        ])
        .load("users: [[6|12]]")
        .users()
        .right(&["load", "dependency"])
        .vague(&["waiting"]),
    Plant::new("c-python-stock", "The dependency is one process of Python that computes for 4 ms; the app waits.")
        .on(&[Peer("stock", Python, "cpu=[[4000|500]]"), App(C, "call={port.stock}")])
        .right(&["dependency", "one_core"])
        .vague(&["waiting", "machine_cpu"]),
    Plant::new("c-bucket-and-flock", "A leaky bucket and a file lock of 5 ms both allow 200 requests a second.")
        .on(&[App(C, "file={dir}/data bucket=[[200|5000]] [[b:flock|sleep=0]] sleep=5000 [[b:funlock|sleep=0]]")])
        .load("users: 24")
        .two(&["rate_limit"], &["lock", "*:flock/file lock"])
        .vague(WAITS),
    Plant::new("c-threads-and-lock", "Five connections are served at once, and a mutex is held for 5 ms of 25: both allow 200 requests a second.")
        .on(&[App(C, "threads=[[5|64]] [[b:lock|sleep=0]] sleep=5000 [[b:unlock|sleep=0]] sleep=20000")])
        .two(ACCEPTING, &["lock"])
        .vague(&["waiting", "dependency"]),
];
