//! Plants in the Ruby server.

use super::Language::{C, Ruby};
use super::Part::{App, Peer, System};
use super::{ACCEPTING, BACKUP, Plant, SLOTS, WAITS};

/// Answers for the interpreter lock, which limits all threads to one core.
const GVL: &[&str] = &["one_core", "lock:interpreter/gvl", "*:interpreter lock/gvl"];
const STOCK: super::Part = Peer("stock", C, "sleep=20000");

pub(super) const PLANTS: &[Plant] = &[
    Plant::new(
        "ruby-connection-pool",
        "A pool of two connections to a dependency of 20 ms; a thread computes a third of the time.",
    )
    .on(&[STOCK, App(Ruby, "slots=[[2|32]]:call={port.stock} [[h:-- cpu=2000 sleep=4000|]]")])
    .herring()
    .right(&["pool", "dependency:connections", "lock:queue/slot"])
    .vague(WAITS),
    Plant::new("ruby-mutex", "A Mutex is held for 5 ms, in which nothing is busy.")
        .on(&[App(Ruby, "[[mutex:|]]sleep=5000")])
        .waiting()
        .right(&["lock"])
        .vague(WAITS),
    Plant::new("ruby-collections", "Each request collects garbage among 300,000 objects that are alive.")
        .on(&[App(Ruby, "[[collect|sleep=1000]]"), System("env: { KEEP: '300' }")])
        .load("users: 4")
        .right(&["garbage_collection", "one_core"])
        .vague(&["pauses", "lock", "machine_cpu", "memory"]),
    Plant::new("ruby-render", "A page is copied for each of its 1,500 rows.")
        .on(&[App(Ruby, "render=[[1500|40]]")])
        .load("users: 8")
        .right(GVL)
        .vague(&["machine_cpu", "lock", "garbage_collection"]),
    Plant::new(
        "ruby-two-threads",
        "Two threads serve a connection each until it ends: most users are never served.",
    )
    .on(&[App(Ruby, "sleep=15000"), System("env: { THREADS: '[[2|32]]' }")])
    .right(ACCEPTING)
    .vague(&["waiting", "lock"]),
    Plant::new("ruby-regex-backup", "A regular expression backtracks; a backup writes to the disk.")
        .on(&[App(Ruby, "regex=[[18|3]]"), BACKUP])
        .load("users: 8")
        .herring()
        .right(GVL)
        .vague(&["machine_cpu", "lock"]),
    Plant::new(
        "ruby-mutex-and-slots",
        "A Mutex for 5 ms, and four slots for 20 ms: both allow 200 requests a second.",
    )
    .on(&[App(Ruby, "[[mutex:|]]sleep=5000 slots=[[b:4|64]]:sleep=20000")])
    .load("users: 24")
    .two(&["lock"], SLOTS)
    .vague(WAITS),
    Plant::new("ruby-few-sleepers", "Four users wait for 30 ms each.")
        .on(&[App(Ruby, "sleep=30000")])
        .load("users: [[4|8]]")
        .users()
        .vague(&["waiting"]),
    Plant::new(
        "ruby-slots-and-dependency",
        "Four slots for 20 ms, and a dependency with four slots of 20 ms: both allow 200 requests a second.",
    )
    .on(&[
        Peer("stock", C, "tenant=[[b:4|64]] sleep=20000 leave"),
        App(Ruby, "slots=[[4|64]]:sleep=20000 call={port.stock}"),
    ])
    .load("users: 24")
    .two(SLOTS, &["dependency"])
    .vague(WAITS),
];
