//! Plants in the Java server.

use super::Language::{C, Java};
use super::Part::{App, Peer, System};
use super::{BACKUP, COMPUTES, Plant, SLOTS, WAITS};

const STOCK: super::Part = Peer("stock", C, "sleep=20000");
const COLLECTS: &[&str] = &["one_core", "machine_cpu", "pauses", "stopped", "memory"];

pub(super) const PLANTS: &[Plant] = &[
    Plant::new("java-fair-lock-garbage", "A fair lock is held for a call of 5 ms; a thread makes garbage all the time.")
        .on(&[
            Peer("stock", C, "sleep=5000"),
            App(Java, "[[fair:|]]call={port.stock} [[h:-- garbage=10000 sleep=5000|]]"),
        ])
        .herring()
        .right(&["lock"])
        .vague(WAITS),
    Plant::new("java-monitor-backup", "A monitor is held for 4 ms; a backup writes to the disk.")
        .on(&[App(Java, "[[mutex:|]]sleep=4000"), BACKUP])
        .herring()
        .right(&["lock"])
        .vague(WAITS),
    Plant::new("java-common-pool", "Tasks that wait for 10 ms share the common pool of two threads.")
        .on(&[
            App(Java, "common:sleep=10000"),
            System("env: { JDK_JAVA_OPTIONS: '-Djava.util.concurrent.ForkJoinPool.common.parallelism=[[2|32]]' }"),
        ])
        .right(&["pool"])
        .vague(WAITS),
    Plant::new("java-checkout-timeout", "A pool of two connections for 20 ms each: who waits for 60 ms is answered 500.")
        .on(&[App(Java, "checkout=[[2|64]],60:sleep=20000")])
        .right(&["pool", "errors:connection"])
        .vague(&["errors", "waiting", "lock"]),
    Plant::new("java-explicit-collection", "Each request asks for a full collection of a heap with 50 MiB of objects.")
        .on(&[App(Java, "[[collect|sleep=1000]]"), System("env: { KEEP: '50' }")])
        .load("users: 4")
        .right(&["garbage_collection", "pauses:collection/collector", "lock:collection"])
        .vague(COLLECTS),
    Plant::new("java-small-heap", "The live objects nearly fill the heap.")
        .on(&[
            App(Java, "garbage=500"),
            System("env: { KEEP: '100', JDK_JAVA_OPTIONS: '-XX:+UseParallelGC -Xmx[[115m|1g]]' }"),
        ])
        .load("users: 8")
        .right(&["garbage_collection", "pauses:collection/collector"])
        .vague(COLLECTS),
    Plant::new("java-interpreter", "The compiler of the JVM is off.")
        .on(&[App(Java, "concat=300 regex=12"), System("env: { JDK_JAVA_OPTIONS: '[[-Xint|-Xshare:auto]]' }")])
        .load("users: 8")
        .right(COMPUTES)
        .vague(&["garbage_collection"]),
    Plant::new("java-regex", "A regular expression backtracks; the server is bound to one core, and a pool of 64 threads is idle.")
        .on(&[App(Java, "regex=[[17|5]] [[h:workers=64:sleep=100|]]"), System("resources: { cores: [ 0 ] }")])
        .load("users: 8")
        .herring()
        .right(&["one_core"])
        .vague(&["machine_cpu", "cpu_quota"]),
    Plant::new("java-deep-exceptions", "Each request throws through 2,000 frames.")
        .on(&[App(Java, "throw=[[2000|1]]")])
        .load("users: 8")
        .right(COMPUTES)
        .vague(&["errors", "garbage_collection"]),
    Plant::new("java-read-write-lock", "A writer holds the lock for 50 ms of every 65.")
        .on(&[App(Java, "read:sleep=2000 -- write:sleep=[[50000|100]] sleep=15000")])
        .right(&["lock"])
        .vague(&["waiting", "pool", "pauses", "stopped"]),
    Plant::new("java-executor-logger", "An executor with four threads for 20 ms each; a thread logs without a pause.")
        .on(&[App(Java, "workers=[[4|64]]:sleep=20000 [[h:-- log=200 sleep=100|]]")])
        .herring()
        .right(&["pool"])
        .vague(WAITS),
    Plant::new("java-semaphore", "A semaphore has three permits for calls of 20 ms.")
        .on(&[STOCK, App(Java, "slots=[[3|64]]:call={port.stock}")])
        .waiting()
        .right(SLOTS)
        .vague(WAITS),
    Plant::new("java-monitor-and-executor", "A monitor for 5 ms, and four threads for 20 ms: both allow 200 requests a second.")
        .on(&[App(Java, "[[mutex:|]]sleep=5000 workers=[[b:4|64]]:sleep=20000")])
        .load("users: 24")
        .two(&["lock"], &["pool"])
        .vague(WAITS),
    Plant::new("java-quota-and-monitor", "A quota of 0.4 cores for 2 ms of computing, and a monitor for 5 ms.")
        .on(&[App(Java, "cpu=2000 [[b:mutex:|]]sleep=5000"), System("resources: { cpu: [[0.4|2]] }")])
        .two(&["cpu_quota"], &["lock"])
        .vague(COMPUTES),
    Plant::new("java-open-idle-pool", "100 requests a second are answered after 10 ms, by a pool of 64.")
        .on(&[App(Java, "workers=64:sleep=10000")])
        .load("rate: [[100|200]]/s")
        .users()
        .vague(&["waiting"]),
    Plant::new("java-slots-and-dependency", "Four slots for 20 ms, and a dependency with four slots of 20 ms: both allow 200 requests a second.")
        .on(&[
            Peer("stock", C, "tenant=[[b:4|64]] sleep=20000 leave"),
            App(Java, "slots=[[4|64]]:sleep=20000 call={port.stock}"),
        ])
        .load("users: 24")
        .two(SLOTS, &["dependency"])
        .vague(WAITS),
];
