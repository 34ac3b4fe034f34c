//! Plants in the Go server.

use super::Language::{C, Go};
use super::Part::{App, Peer, System};
use super::{BACKUP, COMPUTES, CONNECTIONS, Plant, SLOTS, WAITS};

const STOCK: super::Part = Peer("stock", C, "sleep=20000");

pub(super) const PLANTS: &[Plant] = &[
    Plant::new("go-gomaxprocs", "GOMAXPROCS lets one goroutine compute at a time.")
        .on(&[App(Go, "cpu=5000"), System("env: { GOMAXPROCS: '[[1|2]]' }")])
        .load("users: 8")
        .unverified("two idle cores are needed; the ratio was 1.3 and 1.4 on a busy machine")
        .right(&["one_core"])
        .vague(&["machine_cpu", "cpu_quota"]),
    Plant::new("go-connections-per-host", "The client may have two connections to a dependency that takes 20 ms.")
        .on(&[STOCK, App(Go, "call={port.stock}"), System("env: { CONNECTIONS: '[[2|64]]' }")])
        .waiting()
        .right(CONNECTIONS)
        .vague(WAITS),
    Plant::new("go-connections-logger", "The client may have two connections to a dependency; a goroutine logs without a pause.")
        .on(&[
            STOCK,
            App(Go, "call={port.stock} [[h:-- log=200 sleep=100|]]"),
            System("env: { CONNECTIONS: '[[2|64]]' }"),
        ])
        .herring()
        .right(CONNECTIONS)
        .vague(WAITS),
    Plant::new("go-fresh-connections", "Each call opens a connection to a dependency that accepts one every 5 ms; a goroutine computes half of the time.")
        .on(&[Peer("stock", C, "accept=5000"), App(Go, "[[fresh|call]]={port.stock} [[h:-- cpu=5000 sleep=5000|]]")])
        .herring()
        .right(&["listen_queue", "dependency:connection", "*:new connection"])
        .vague(&["dependency", "waiting", "connections", "pool"]),
    Plant::new("go-gc-percent", "The collector runs whenever the heap of 100 MiB has grown by 2 %.")
        .on(&[App(Go, "garbage=300"), System("env: { KEEP: '100', GOGC: '[[2|400]]' }")])
        .load("users: 8")
        .right(&["garbage_collection"])
        .vague(&["one_core", "machine_cpu", "pauses", "memory"]),
    Plant::new("go-memory-limit", "The live heap lies at the memory limit of the runtime, so the collector never rests.")
        .on(&[App(Go, "garbage=300"), System("env: { KEEP: '100', GOGC: 'off', GOMEMLIMIT: '[[100MiB|1GiB]]' }")])
        .load("users: 8")
        .right(&["garbage_collection"])
        .vague(&["one_core", "machine_cpu", "pauses", "memory", "memory_limit"]),
    Plant::new("go-ticker", "Each request takes a tick of a timer, which has 150 a second.")
        .on(&[App(Go, "limit=[[150|1500]]")])
        .waiting()
        .right(&["rate_limit", "*:timer/ticker"])
        .vague(WAITS),
    Plant::new("go-rwmutex-writer", "A writer holds the lock for 40 ms of every 50; a goroutine computes most of the time.")
        .on(&[App(Go, "read:sleep=3000 -- write:sleep=[[40000|100]] sleep=10000 [[h:-- cpu=5000 sleep=1000|]]")])
        .herring()
        .right(&["lock"])
        .vague(&["waiting", "pool", "pauses", "stopped"]),
    Plant::new("go-workers-garbage", "Four goroutines take the jobs, 20 ms each; another one makes garbage all the time.")
        .on(&[App(Go, "workers=[[4|64]]:sleep=20000 [[h:-- garbage=1000 sleep=2000|]]")])
        .herring()
        .right(SLOTS)
        .vague(WAITS),
    Plant::new("go-quadratic-text", "A text grows by a copy for each of 3,000 rows.")
        .on(&[App(Go, "quadratic=[[3000|50]]")])
        .load("users: 8")
        .right(COMPUTES)
        .vague(&["garbage_collection", "memory"]),
    Plant::new("go-slots-backup", "Three slots for calls of 20 ms; a backup writes to the disk.")
        .on(&[STOCK, App(Go, "slots=[[3|64]]:call={port.stock}"), BACKUP])
        .herring()
        .right(SLOTS)
        .vague(WAITS),
    Plant::new("go-mutex-over-sleep", "A mutex is held for 5 ms, in which nothing is busy.")
        .on(&[App(Go, "[[mutex:|]]sleep=5000")])
        .waiting()
        .right(&["lock"])
        .vague(WAITS),
    Plant::new("go-quota-and-ticker", "A quota of 0.4 cores for 2 ms of computing, and 200 ticks a second: both allow 200 requests a second.")
        .on(&[App(Go, "cpu=2000 limit=[[b:200|2000]]"), System("resources: { cpu: [[0.4|2]] }")])
        .two(&["cpu_quota"], &["rate_limit"])
        .vague(&["waiting", "one_core", "machine_cpu"]),
    Plant::new("go-connections-and-mutex", "Four connections of 20 ms to a dependency, and a mutex for 5 ms: both allow 200 requests a second.")
        .on(&[
            STOCK,
            App(Go, "[[b:mutex:|]]sleep=5000 call={port.stock}"),
            System("env: { CONNECTIONS: '[[4|64]]' }"),
        ])
        .load("users: 24")
        .two(CONNECTIONS, &["lock"])
        .vague(WAITS),
    Plant::new("go-few-sleepers", "Six users wait for 25 ms; a goroutine computes a fifth of the time.")
        .on(&[App(Go, "sleep=25000 -- cpu=1000 sleep=4000")])
        .load("users: [[6|12]]")
        .users()
        .vague(&["waiting"]),
    Plant::new("go-slots-and-dependency", "Four slots for 20 ms, and a dependency with four slots of 20 ms: both allow 200 requests a second.")
        .on(&[
            Peer("stock", C, "tenant=[[b:4|64]] sleep=20000 leave"),
            App(Go, "slots=[[4|64]]:sleep=20000 call={port.stock}"),
        ])
        .load("users: 24")
        .two(SLOTS, &["dependency"])
        .vague(WAITS),
];
