//! Plants in the Python server, some with SQLite.

use super::Language::{C, Python};
use super::Part::{App, Before, File, Peer, Program, System};
use super::{BACKUP, Plant, SLOTS, WAITS};

/// Answers for the interpreter lock, which limits all threads to one core.
const GIL: &[&str] = &["one_core", "lock:interpreter/gil", "*:interpreter lock/gil"];
const ONE_LOOP: &[&str] =
    &["pool", "lock:event loop/one thread/single thread", "*:event loop/one thread/single thread"];
const ROWS: super::Part = Before("sqlite3 {dir}/lite.db '.read {dir}/rows.sql'");
const OWNERS: super::Part =
    Before("sqlite3 {dir}/lite.db '[[SELECT 1|CREATE INDEX owners ON items (owner)]]'");
const LITE: super::Part = System("env: { LITE_FILE: '{dir}/lite.db' }");
const TABLE: &str = "CREATE TABLE items (id INTEGER PRIMARY KEY, owner INTEGER, n INTEGER);\nWITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100000) INSERT INTO items SELECT x, x * 7919 % 100000, 0 FROM c;";

pub(super) const PLANTS: &[Plant] = &[
    Plant::new("python-blocked-loop", "A coroutine sleeps for 5 ms without await.")
        .on(&[App(Python, "async block=[[5000|0]]")])
        .waiting()
        .right(ONE_LOOP)
        .vague(&["waiting", "lock", "pauses", "stopped"]),
    Plant::new("python-lookup-in-loop", "A coroutine looks a name up over UDP, which takes 6 ms, without await.")
        .on(&[
            Program("names", "python3 -B {servers}/names.py {port.names} [[6|0]] together"),
            App(Python, "async ask={port.names}"),
        ])
        .waiting()
        .right(&["dependency", "pool", "*:event loop/one thread/udp/dns"])
        .vague(&["waiting", "lock", "pauses"]),
    Plant::new("python-flock-cron", "A job holds a file lock for 300 ms of every 400; another process computes.")
        .on(&[
            Peer("report", C, "sleep=0 [[h:-- cpu=20000 sleep=20000|]]"),
            Program("cron", "sh -c 'while :; do [[flock {dir}/lock|]] sleep 0.3; sleep 0.1; done'"),
            App(Python, "flock={dir}/lock:sleep=200"),
        ])
        .herring()
        .right(&["lock", "*:flock/file lock"])
        .vague(&["waiting", "pool", "pauses", "stopped"]),
    Plant::new("python-regex", "A regular expression backtracks, and threads take turns with the interpreter.")
        .on(&[App(Python, "regex=[[18|3]]")])
        .load("users: 8")
        .right(GIL)
        .vague(&["machine_cpu", "lock"]),
    Plant::new("python-list-search", "A list is searched for each of 700 rows; a backup writes to the disk.")
        .on(&[App(Python, "quadratic=[[700|30]]"), BACKUP])
        .load("users: 8")
        .herring()
        .right(GIL)
        .vague(&["machine_cpu", "lock"]),
    Plant::new("python-collections", "Each request collects garbage among 300,000 objects that are alive.")
        .on(&[App(Python, "[[collect|sleep=1000]]"), System("env: { KEEP: '300' }")])
        .load("users: 4")
        .right(&["garbage_collection", "one_core"])
        .vague(&["pauses", "lock", "machine_cpu", "memory"]),
    Plant::new("python-semaphore", "Three permits for 15 ms each; a thread computes half of the time.")
        .on(&[App(Python, "slots=[[3|64]]:sleep=15000 [[h:-- cpu=2000 sleep=4000|]]")])
        .herring()
        .right(SLOTS)
        .vague(WAITS),
    Plant::new("python-workers-backup", "A pool of four threads waits for 20 ms each time; a backup writes to the disk.")
        .on(&[App(Python, "workers=[[4|64]]:sleep=20000"), BACKUP])
        .herring()
        .right(&["pool"])
        .vague(WAITS),
    Plant::new("python-fresh-connections", "Each call opens a connection to a dependency that accepts one every 6 ms.")
        .on(&[Peer("stock", C, "accept=6000"), App(Python, "[[fresh|call]]={port.stock}")])
        .right(&["listen_queue", "dependency:connection", "*:new connection"])
        .vague(&["dependency", "waiting", "connections", "pool"]),
    Plant::new("python-lock-and-dependency", "A lock for 5 ms, and a dependency with four slots of 20 ms: both allow 200 requests a second.")
        .on(&[
            Peer("stock", C, "tenant=[[b:4|64]] sleep=20000 leave"),
            App(Python, "[[lock:|]]sleep=5000 call={port.stock}"),
        ])
        .load("users: 24")
        .two(&["lock"], &["dependency"])
        .vague(WAITS),
    Plant::new("python-think-time", "Users think for 100 ms between requests of 5 ms; a thread computes a fifth of the time.")
        .on(&[App(Python, "sleep=5000 -- cpu=1000 sleep=4000")])
        .load("users: 8, think: [[100ms|40ms]]")
        .users()
        .vague(&["waiting"]),
    Plant::new("sqlite-missing-index", "Rows of an owner are found without an index.")
        .on(&[File("rows.sql", TABLE), ROWS, OWNERS, LITE, App(Python, "'lite=SELECT n FROM items WHERE owner = ?'")])
        .load("users: 4")
        .right(&["*:index/full scan/table scan"])
        .vague(&["one_core", "machine_cpu", "lock"]),
    Plant::new("sqlite-write-lock", "A transaction keeps the database file locked for 4 ms.")
        .on(&[
            File("rows.sql", TABLE),
            ROWS,
            LITE,
            App(Python, "'lite=BEGIN [[IMMEDIATE|DEFERRED]]' 'lite=SELECT n FROM items WHERE id = ?' sleep=4000 'lite=COMMIT'"),
        ])
        .load("users: 8")
        .right(&["lock", "database_lock", "*:file lock/busy"])
        .vague(&["disk", "waiting", "pool"]),
    Plant::new("sqlite-delete-journal", "Each update flushes the rollback journal and the file to the disk.")
        .on(&[
            File("rows.sql", TABLE),
            ROWS,
            LITE,
            App(Python, "'lite=PRAGMA synchronous=[[FULL|OFF]]' 'lite=UPDATE items SET n = n + 1 WHERE id = ?'"),
        ])
        .load("users: 2")
        .right(&["disk", "database_log"])
        .vague(&["waiting", "lock", "database_lock"]),
    Plant::new("python-slots-and-lock", "Four permits for 20 ms, and a lock for 5 ms: both allow 200 requests a second.")
        .on(&[App(Python, "slots=[[4|64]]:sleep=20000 [[b:lock:|]]sleep=5000")])
        .load("users: 24")
        .two(SLOTS, &["lock"])
        .vague(WAITS),
];
