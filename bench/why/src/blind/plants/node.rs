//! Plants in the Node.js server.

use super::Language::{C, Node};
use super::Part::{App, Peer, System};
use super::{BACKUP, COMPUTES, CONNECTIONS, Plant, SLOTS, WAITS};

const STOCK: super::Part = Peer("stock", C, "sleep=20000");
/// Answers for a blocked event loop.
const ONE_LOOP: &[&str] =
    &["pool", "lock:event loop/one thread/single thread", "*:event loop/one thread/single thread"];

pub(super) const PLANTS: &[Plant] = &[
    Plant::new("node-blocked-loop", "The event loop sleeps for 6 ms for each request.")
        .on(&[App(Node, "block=[[6|0]]")])
        .waiting()
        .right(ONE_LOOP)
        .vague(&["waiting", "lock", "pauses", "stopped"]),
    Plant::new("node-regex", "A regular expression backtracks in the event loop; another process computes.")
        .on(&[Peer("report", C, "sleep=0 [[h:-- cpu=20000 sleep=30000|]]"), App(Node, "regex=[[20|3]]")])
        .load("users: 8")
        .herring()
        .right(&["one_core"])
        .vague(&["machine_cpu"]),
    Plant::new("node-growing-json", "A text of 300 rows is parsed again for each row.")
        .on(&[App(Node, "json=[[300|10]]")])
        .load("users: 8")
        .right(&["one_core"])
        .vague(&["machine_cpu", "garbage_collection"]),
    Plant::new(
        "node-agent-sockets",
        "The agent may have two connections to a dependency that takes 20 ms; the event loop is half busy.",
    )
    .on(&[
        STOCK,
        App(Node, "call={port.stock} [[h:-- cpu=5 sleep=5|]]"),
        System("env: { CONNECTIONS: '[[2|64]]' }"),
    ])
    .herring()
    .right(CONNECTIONS)
    .vague(WAITS),
    Plant::new("node-flush-in-loop", "The event loop waits until a byte is on the disk.")
        .on(&[App(Node, "[[flush|sleep=0]]"), System("env: { TMPDIR: '{dir}' }")])
        .right(&["disk"])
        .vague(&["waiting", "one_core", "pool", "pauses"]),
    Plant::new("node-worker-thread", "One worker thread computes for 5 ms; the event loop is idle.")
        .on(&[App(Node, "thread=[[5|0]]")])
        .right(&["one_core", "pool"])
        .vague(&["machine_cpu"]),
    Plant::new("node-heap", "Two million small objects are alive, and each request replaces thousands.")
        .on(&[
            App(Node, "garbage=[[400|4]]"),
            System("env: { KEEP: '2000', NODE_OPTIONS: '--max-old-space-size=600' }"),
        ])
        .load("users: 8")
        .right(&["garbage_collection", "one_core"])
        .vague(&["machine_cpu", "pauses", "memory"]),
    Plant::new("node-stop-the-world", "A job stops the event loop for 300 ms of every 400.")
        .on(&[App(Node, "sleep=5 -- block=[[300|0]] sleep=100")])
        .right(&["pauses", "stopped"])
        .vague(&["waiting", "lock", "pool"]),
    Plant::new(
        "node-slots-report",
        "Three promises may be at work, 15 ms each; another process keeps a core busy.",
    )
    .on(&[Peer("report", C, "sleep=0 [[h:-- cpu=100000|]]"), App(Node, "slots=[[3|64]]:sleep=15")])
    .herring()
    .right(&["pool", "rate_limit"])
    .vague(WAITS),
    Plant::new(
        "node-key-pool",
        "Two threads of the pool derive keys, and the event loop writes to the disk now and then.",
    )
    .on(&[
        App(Node, "derive=[[6000|60]] [[h:-- flush sleep=10|]]"),
        System("env: { UV_THREADPOOL_SIZE: '2', TMPDIR: '{dir}' }"),
    ])
    .load("users: 8")
    .herring()
    .right(&["pool", "machine_cpu"])
    .vague(&["one_core"]),
    Plant::new("node-process-per-request", "Each request starts a process; a backup writes to the disk.")
        .on(&[App(Node, "[[spawn|sleep=1]]"), BACKUP])
        .load("users: 8")
        .herring()
        .right(COMPUTES)
        .vague(&["waiting"]),
    Plant::new(
        "node-loop-and-slots",
        "The event loop sleeps for 5 ms, and four promises may be at work, 20 ms each.",
    )
    .on(&[App(Node, "block=[[5|0]] slots=[[b:4|64]]:sleep=[[b:20|1]]")])
    .load("users: 24")
    .two(ONE_LOOP, SLOTS)
    .vague(&["waiting", "lock", "pauses"]),
    Plant::new(
        "node-few-callers",
        "Five users wait for a dependency that answers after 40 ms; another process computes.",
    )
    .on(&[
        Peer("stock", C, "sleep=40000"),
        Peer("report", C, "sleep=0 -- cpu=20000 sleep=20000"),
        App(Node, "call={port.stock}"),
    ])
    .load("users: [[5|10]]")
    .users()
    .right(&["load", "dependency"])
    .vague(&["waiting"]),
    Plant::new(
        "node-sockets-and-loop",
        "Four connections of 20 ms to a dependency, and an event loop that sleeps for 5 ms.",
    )
    .on(&[STOCK, App(Node, "block=[[b:5|0]] call={port.stock}"), System("env: { CONNECTIONS: '[[4|64]]' }")])
    .load("users: 24")
    .two(CONNECTIONS, ONE_LOOP)
    .vague(&["waiting", "lock", "pauses", "dependency"]),
];
