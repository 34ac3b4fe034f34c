//! Plants in the Rust server.

use super::Language::{C, Rust};
use super::Part::{App, Peer, System};
use super::{BACKUP, COMPUTES, Plant, SLOTS, WAITS};

const STOCK: super::Part = Peer("stock", C, "sleep=20000");

pub(super) const PLANTS: &[Plant] = &[
    Plant::new("rust-mutex-over-call", "A Mutex is held while a dependency answers, after 5 ms.")
        .on(&[Peer("stock", C, "sleep=5000"), App(Rust, "[[mutex:|]]call={port.stock}")])
        .waiting()
        .right(&["lock"])
        .vague(WAITS),
    Plant::new("rust-workers-spinner", "Three workers wait for 15 ms each; a thread keeps a core busy.")
        .on(&[App(Rust, "workers=[[3|64]]:sleep=15000 [[h:-- cpu=100000|]]")])
        .herring()
        .right(&["pool"])
        .vague(WAITS),
    Plant::new("rust-cache-refresh", "A cached value is refreshed for 200 ms of every 250, and all requests wait for the lock.")
        .on(&[App(Rust, "cache=50:sleep=[[200000|1000]] sleep=5000")])
        .right(&["lock"])
        .vague(&["waiting", "pool", "pauses", "stopped", "dependency"]),
    Plant::new("rust-rwlock-writer", "A writer holds the lock for 60 ms of every 80; a thread logs without a pause.")
        .on(&[App(Rust, "read:sleep=2000 -- write:sleep=[[60000|500]] sleep=20000 [[h:-- log=200 sleep=200|]]")])
        .herring()
        .right(&["lock"])
        .vague(&["waiting", "pool", "pauses", "stopped"]),
    Plant::new("rust-spin-yield", "A spinlock that yields is held for 2 ms by a thread that sleeps.")
        .on(&[App(Rust, "[[spin:|]]sleep=2000")])
        .load("users: 8")
        .right(&["spinning", "lock"])
        .vague(COMPUTES),
    Plant::new("rust-large-copies", "Each request copies 8 MiB into fresh memory.")
        .on(&[App(Rust, "copy=[[8192|8]]")])
        .load("users: 8")
        .right(COMPUTES)
        .vague(&["memory", "lock"]),
    Plant::new("rust-insertion-sort", "A sort with quadratic effort computes; a pool of 64 slots is nearly idle.")
        .on(&[App(Rust, "sort=[[6000|200]] [[h:slots=64:sleep=100|]]")])
        .load("users: 8")
        .herring()
        .right(COMPUTES)
        .vague(&["lock"]),
    Plant::new("rust-flush-under-mutex", "A Mutex is held while a byte is flushed to the disk.")
        .on(&[App(Rust, "mutex:[[sync|sleep=0]]"), System("env: { SYNC_FILE: '{dir}/data' }")])
        .right(&["disk", "lock"])
        .vague(&["waiting", "pool"]),
    Plant::new("rust-slots-and-quota", "Three slots for 15 ms, and a quota of 0.2 cores for 1 ms of computing: both allow 200 requests a second.")
        .on(&[
            App(Rust, "slots=[[3|64]]:sleep=15000 cpu=1500"),
            System("resources: { cpu: [[b:0.2|2]] }"),
        ])
        .two(SLOTS, &["cpu_quota"])
        .vague(COMPUTES),
    Plant::new("rust-workers-and-dependency", "Four workers call a dependency with four slots of 20 ms, which others use as well.")
        .on(&[
            Peer("stock", C, "tenant=[[b:4|64]] sleep=20000 leave"),
            App(Rust, "workers=[[4|64]]:sleep=20000 call={port.stock}"),
        ])
        .load("users: 24")
        .two(&["pool"], &["dependency"])
        .vague(WAITS),
    Plant::new("rust-slots-backup", "Three slots for calls to a dependency; a backup writes to the disk.")
        .on(&[STOCK, App(Rust, "slots=[[3|64]]:call={port.stock}"), BACKUP])
        .herring()
        .right(SLOTS)
        .vague(WAITS),
    Plant::new("rust-few-callers", "Four users wait for a dependency that answers after 20 ms.")
        .on(&[STOCK, App(Rust, "call={port.stock}")])
        .load("users: [[4|8]]")
        .users()
        .right(&["load", "dependency"])
        .vague(&["waiting"]),
    Plant::new("rust-open-busy-thread", "150 requests a second are answered after 5 ms; a thread computes a third of the time.")
        .on(&[App(Rust, "sleep=5000 -- cpu=3000 sleep=6000")])
        .load("rate: [[150|300]]/s")
        .users()
        .vague(&["waiting"]),
    Plant::new("rust-mutex-and-workers", "A Mutex for 5 ms, and four workers for 20 ms: both allow 200 requests a second.")
        .on(&[App(Rust, "[[mutex:|]]sleep=5000 workers=[[b:4|64]]:sleep=20000")])
        .load("users: 24")
        .two(&["lock"], &["pool"])
        .vague(WAITS),
    Plant::new("rust-quota-and-mutex", "A quota of 0.2 cores for 1 ms of computing, and a Mutex for 5 ms: both allow 200 requests a second.")
        .on(&[App(Rust, "cpu=1500 [[b:mutex:|]]sleep=5000"), System("resources: { cpu: [[0.2|2]] }")])
        .two(&["cpu_quota"], &["lock"])
        .vague(COMPUTES),
];
