//! Plants in MariaDB.

use super::Database::Mariadb;
use super::Part::{Database, Program, System};
use super::{BACKUP, COMPUTES, Plant};

const ITEMS: &str = "CREATE TABLE items (id INT PRIMARY KEY, owner INT, n INT);";
const ROWS: &str = "INSERT INTO items SELECT seq, seq * 7919 % 100000, 0 FROM seq_1_to_50000;";
const FAST: &str = "--innodb-flush-log-at-trx-commit=0";
const SYNC: &[&str] = &["database_log", "disk", "*:binlog/binary log"];

pub(super) const PLANTS: &[Plant] = &[
    Plant::new("mariadb-missing-index", "Rows of an owner are found without an index; a backup writes to the disk.")
        .on(&[Database(Mariadb, FAST, &[ITEMS, ROWS, "[[DO 1;|CREATE INDEX owners ON items (owner);]]"]), BACKUP])
        .herring()
        .scenario("scenario: [ { sql: 'SELECT n FROM items WHERE owner = :row' } ]\ndata: { row: { uniform: 1..50000 } }")
        .load("users: 4")
        .right(&["*:index/full scan/table scan"])
        .vague(&["one_core", "machine_cpu", "*:statement/query"]),
    Plant::new("mariadb-named-lock", "All users take one named lock for 5 ms; a backup writes to the disk.")
        .on(&[Database(Mariadb, FAST, &[]), BACKUP])
        .scenario("scenario: [ { transaction: [ \"SELECT GET_LOCK(CONCAT('l', [[0 *|]] :row), 10)\", 'DO SLEEP(0.005)', \"SELECT RELEASE_LOCK(CONCAT('l', [[0 *|]] :row))\" ] } ]\ndata: { row: { uniform: 1..100000 } }")
        .herring()
        .right(&["database_lock"])
        .vague(&["lock", "waiting"]),
    Plant::new("mariadb-table-lock", "The engine Aria locks the whole table for 5 ms of each update.")
        .on(&[Database(
            Mariadb,
            FAST,
            &["CREATE TABLE items (id INT PRIMARY KEY, n INT) ENGINE=[[Aria TRANSACTIONAL=0|InnoDB]];", "INSERT INTO items SELECT seq, 0 FROM seq_1_to_1000;"],
        )])
        .scenario("scenario: [ { sql: 'UPDATE items SET n = n + 1 + SLEEP(0.005) WHERE id = :row' } ]\ndata: { row: { uniform: 1..1000 } }")
        .waiting()
        .right(&["database_lock"])
        .vague(&["lock", "waiting"]),
    Plant::new("mariadb-sync-binlog", "Each commit flushes the binary log and the log of InnoDB.")
        .on(&[Database(
            Mariadb,
            "--log-bin={dir}/data/bin --sync-binlog=[[1|0]] --innodb-flush-log-at-trx-commit=[[1|0]]",
            &[ITEMS, ROWS],
        )])
        .scenario("scenario: [ { sql: 'UPDATE items SET n = n + 1 WHERE id = :row' } ]\ndata: { row: { uniform: 1..50000 } }")
        .load("users: 4")
        .right(SYNC)
        .vague(&["waiting", "lock"]),
    Plant::new("mariadb-lock-tables", "A job locks the table against writes for 300 ms of every 400.")
        .on(&[
            Database(Mariadb, FAST, &[ITEMS, ROWS]),
            Program(
                "job",
                r#"sh -c 'while :; do mariadb --no-defaults -h 127.0.0.1 -P {port} -u bench bench -e "[[LOCK TABLES items READ|DO 1]]; DO SLEEP(0.3); UNLOCK TABLES"; sleep 0.05; done'"#,
            ),
        ])
        .scenario("scenario: [ { sql: 'UPDATE items SET n = n + 1 WHERE id = :row' } ]\ndata: { row: { uniform: 1..50000 } }")
        .load("users: 4")
        .right(&["database_lock"])
        .vague(&["lock", "waiting", "pauses", "stopped"]),
    Plant::new("mariadb-auto-increment", "An INSERT from a SELECT keeps the lock of the sequence for 5 ms.")
        .on(&[Database(
            Mariadb,
            "--innodb-flush-log-at-trx-commit=0 --innodb-autoinc-lock-mode=[[0|2]]",
            &["CREATE TABLE notes (id INT AUTO_INCREMENT PRIMARY KEY, n INT);"],
        )])
        .scenario("scenario: [ { sql: 'INSERT INTO notes (n) SELECT 1 + SLEEP(0.005) FROM seq_1_to_2' } ]")
        .waiting()
        .right(&["database_lock"])
        .vague(&["lock", "waiting"]),
    Plant::new("mariadb-buffer-pool", "A buffer pool of 6 MiB for a table of 60 MB, on a disk that allows 400 reads a second.")
        .on(&[
            Database(
                Mariadb,
                "--innodb-buffer-pool-size=[[6M|256M]] --innodb-flush-method=O_DIRECT --innodb-flush-log-at-trx-commit=0",
                &[
                    "CREATE TABLE items (id INT PRIMARY KEY, t CHAR(250));",
                    "INSERT INTO items SELECT seq, REPEAT('x', 250) FROM seq_1_to_200000;",
                ],
            ),
            System("resources: { io: { read-iops: 400/s } }"),
        ])
        .scenario("scenario: [ { sql: 'SELECT t FROM items WHERE id = :row' } ]\ndata: { row: { uniform: 1..200000 } }")
        .load("users: 8")
        .right(&["database_cache", "disk", "*:buffer pool"])
        .vague(&["waiting", "machine_cpu"]),
    Plant::new("mariadb-trigger-sleep", "A trigger sleeps for 20 ms at each insert.")
        .on(&[Database(
            Mariadb,
            FAST,
            &["CREATE TABLE notes (n INT);", "CREATE DEFINER='bench'@'127.0.0.1' TRIGGER slow BEFORE INSERT ON notes FOR EACH ROW SET NEW.n = SLEEP([[0.02|0]]);"],
        )])
        .scenario("scenario: [ { sql: 'INSERT INTO notes VALUES (1)' } ]")
        .load("users: 4")
        .waiting()
        .right(&["load", "*:sleep/trigger"])
        .vague(&["waiting", "pool"]),
    Plant::new("mariadb-quota-and-lock", "A quota of 0.3 cores for 3 ms of computing, and a named lock for 10 ms: both allow 100 transactions a second.")
        .on(&[Database(Mariadb, FAST, &[]), System("resources: { cpu: [[0.3|2]] }")])
        .scenario("scenario: [ { transaction: [ \"SELECT BENCHMARK(20000, SHA2('x', 256))\", \"SELECT GET_LOCK(CONCAT('l', [[b:0 *|]] :row), 10)\", 'DO SLEEP(0.01)', \"SELECT RELEASE_LOCK(CONCAT('l', [[b:0 *|]] :row))\" ] } ]\ndata: { row: { uniform: 1..100000 } }")
        .two(&["cpu_quota"], &["database_lock"])
        .vague(COMPUTES),
    Plant::new("mariadb-open-reads", "100 reads a second by key are answered at once.")
        .on(&[Database(Mariadb, FAST, &[ITEMS, ROWS])])
        .scenario("scenario: [ { sql: 'SELECT n FROM items WHERE id = :row' } ]\ndata: { row: { uniform: 1..50000 } }")
        .load("rate: [[100|200]]/s")
        .users(),
];
