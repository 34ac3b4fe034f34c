//! Plants in PostgreSQL, under load itself or behind a Python app.

use super::Database::Postgresql;
use super::Language::{C, Python};
use super::Part::{App, Database, Peer, Program, System};
use super::{BACKUP, COMPUTES, Plant, WAITS};

const ITEMS: &str = "CREATE TABLE items (id int PRIMARY KEY, owner int, n int)";
const ROWS: &str = "INSERT INTO items SELECT x, x * 7919 % 100000, 0 FROM generate_series(1, 100000) x";
const ANALYZE: &str = "ANALYZE";
/// Server options that avoid waiting for the disk.
const FAST: &str = "-c fsync=off -c autovacuum=off";

pub(super) const PLANTS: &[Plant] = &[
    Plant::new("postgres-missing-index", "Rows of an owner are found without an index; a backup writes to the disk.")
        .on(&[
            Database(Postgresql, FAST, &[ITEMS, ROWS, "[[SELECT 1|CREATE INDEX ON items (owner)]]", ANALYZE]),
            BACKUP,
        ])
        .scenario("scenario: [ { sql: 'SELECT n FROM items WHERE owner = :row' } ]\ndata: { row: { uniform: 1..100000 } }")
        .load("users: 4")
        .herring()
        .right(&["*:index/sequential scan/seq scan/full scan/table scan"])
        .vague(&["one_core", "machine_cpu", "*:statement/query"]),
    Plant::new("postgres-stale-statistics", "Statistics were made before 400 jobs were opened, so a nested loop joins them.")
        .on(&[Database(
            Postgresql,
            FAST,
            &[
                "CREATE TABLE jobs (id int, ref int, state text)",
                "INSERT INTO jobs SELECT x, x, 'done' FROM generate_series(1, 5000) x",
                "ANALYZE jobs",
                "INSERT INTO jobs SELECT x, x, 'open' FROM generate_series(5001, 5400) x",
                "[[SELECT 1|ANALYZE jobs]]",
            ],
        )])
        .scenario("scenario: [ { sql: 'SELECT count(*) FROM jobs a JOIN jobs b ON b.ref = a.id WHERE a.state = ''open'' AND b.state = ''open''' } ]")
        .load("users: 4")
        .right(&["*:plan/statistic/estimate/nested loop/scan/index"])
        .vague(&["one_core", "machine_cpu", "*:statement/query"]),
    Plant::new("postgres-foreign-key", "Each deleted row makes PostgreSQL search the referencing table without an index.")
        .on(&[Database(
            Postgresql,
            FAST,
            &[
                ITEMS,
                ROWS,
                "CREATE TABLE notes (item int REFERENCES items (id), n int)",
                "INSERT INTO notes SELECT 100000, x FROM generate_series(1, 100000) x",
                "[[SELECT 1|CREATE INDEX ON notes (item)]]",
                ANALYZE,
            ],
        )])
        .scenario("scenario: [ { sql: 'DELETE FROM items WHERE id = :row' } ]\ndata: { row: { sequence: 1.. } }")
        .load("users: 4")
        .right(&["*:index/foreign key/scan/referen"])
        .vague(&["one_core", "machine_cpu", "*:statement/query/trigger"]),
    Plant::new("postgres-counting-trigger", "A trigger counts all rows of a table at each insert.")
        .on(&[Database(
            Postgresql,
            FAST,
            &[
                ITEMS,
                ROWS,
                "CREATE TABLE audit (n bigint)",
                "CREATE FUNCTION counted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN [[SELECT count(*) INTO NEW.n FROM items;|]] RETURN NEW; END $$",
                "CREATE TRIGGER counted BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION counted()",
                ANALYZE,
            ],
        )])
        .scenario("scenario: [ { sql: 'INSERT INTO audit VALUES (0)' } ]")
        .load("users: 4")
        .right(&["*:trigger/scan/count"])
        .vague(&["one_core", "machine_cpu", "*:statement/query/insert"]),
    Plant::new("postgres-counter-row", "A trigger adds to one row of totals, which each transaction keeps locked for 5 ms; a backup writes to the disk.")
        .on(&[
            Database(
                Postgresql,
                FAST,
                &[
                    "CREATE TABLE audit (n bigint)",
                    "CREATE TABLE totals (id int PRIMARY KEY, n bigint)",
                    "INSERT INTO totals SELECT x, 0 FROM generate_series(0, 999) x",
                    "CREATE FUNCTION total() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE totals SET n = n + 1 WHERE id = [[0|NEW.n]]; RETURN NEW; END $$",
                    "CREATE TRIGGER total AFTER INSERT ON audit FOR EACH ROW EXECUTE FUNCTION total()",
                ],
            ),
            BACKUP,
        ])
        .scenario("scenario: [ { transaction: [ 'INSERT INTO audit VALUES (:row)', 'SELECT pg_sleep(0.005)' ] } ]\ndata: { row: { uniform: 0..999 } }")
        .herring()
        .right(&["database_lock"])
        .vague(&["lock", "waiting"]),
    Plant::new("postgres-advisory-lock", "All transactions take one advisory lock for 5 ms; a process next to them keeps a core busy.")
        .on(&[
            Peer("report", C, "sleep=0 [[h:-- cpu=100000|]]"),
            Database(Postgresql, FAST, &[]),
        ])
        .scenario("scenario: [ { transaction: [ 'SELECT pg_advisory_xact_lock([[1 + 0 *|]] :row)', 'SELECT pg_sleep(0.005)' ] } ]\ndata: { row: { uniform: 1..100000 } }")
        .herring()
        .right(&["database_lock"])
        .vague(&["lock", "waiting"]),
    Plant::new("postgres-long-update", "A session keeps a row locked for 300 ms of every 400.")
        .on(&[
            Database(Postgresql, FAST, &[ITEMS, "INSERT INTO items VALUES (1, 1, 0), (2, 1, 0)"]),
            Program(
                "job",
                r#"sh -c 'while :; do psql -h 127.0.0.1 -p {port} -U bench -q -c "BEGIN; UPDATE items SET n = 0 WHERE id = [[1|2]]; SELECT pg_sleep(0.3); COMMIT" postgres >/dev/null; sleep 0.05; done'"#,
            ),
        ])
        .scenario("scenario: [ { sql: 'UPDATE items SET n = n + 1 WHERE id = 1' } ]")
        .load("users: 4")
        .right(&["database_lock"])
        .vague(&["lock", "waiting", "pauses", "stopped"]),
    Plant::new("postgres-commit-delay", "Each commit waits for 30 ms for others that might come.")
        .on(&[Database(
            Postgresql,
            "-c commit_delay=[[30000|0]] -c commit_siblings=0",
            &["CREATE TABLE audit (n bigint)"],
        )])
        .scenario("scenario: [ { sql: 'INSERT INTO audit VALUES (0)' } ]")
        .load("users: 4")
        .waiting()
        .right(&["database_log", "*:commit"])
        .vague(&["waiting", "disk", "load"]),
    Plant::new("postgres-planning", "A join of eight tables is planned again for each statement.")
        .on(&[Database(Postgresql, FAST, &[ITEMS, ROWS, ANALYZE])])
        .scenario("sql: { mode: [[simple|prepared]] }\nscenario: [ { sql: 'SELECT 1 FROM items a JOIN items b ON b.id = a.n JOIN items c ON c.id = b.n JOIN items d ON d.id = c.n JOIN items e ON e.id = d.n JOIN items f ON f.id = e.n JOIN items g ON g.id = f.n JOIN items h ON h.id = g.n WHERE a.id = 7' } ]")
        .load("users: 4")
        .right(&["machine_cpu", "*:planning/parse/prepared"])
        .vague(&["one_core", "*:statement/query"]),
    Plant::new("postgres-jit", "Small queries are compiled to machine code each time.")
        .on(&[Database(
            Postgresql,
            "-c fsync=off -c jit=[[on|off]] -c jit_above_cost=0 -c jit_inline_above_cost=0 -c jit_optimize_above_cost=0",
            &[ITEMS, ROWS, ANALYZE],
        )])
        .scenario("scenario: [ { sql: 'SELECT sum(n) FROM items WHERE id BETWEEN 1 AND 100' } ]")
        .load("users: 4")
        .right(&["machine_cpu", "*:jit"])
        .vague(&["one_core", "*:statement/query"]),
    Plant::new("postgres-login-per-request", "The app opens a connection for each request.")
        .on(&[
            Database(Postgresql, FAST, &[]),
            App(Python, "'[[login|sql]]=SELECT 1'"),
            System("env: { DB_PORT: '{port.db}' }"),
        ])
        .load("users: 8")
        .right(&["machine_cpu", "*:new connection/log-in/login/connects"])
        .vague(&["one_core", "dependency", "connections"]),
    Plant::new("postgres-pool-backup", "The app asks over two connections, 10 ms each time; a backup writes to the disk.")
        .on(&[
            Database(Postgresql, FAST, &[]),
            App(Python, "'sql=SELECT pg_sleep(0.01)'"),
            System("env: { DB_PORT: '{port.db}', DB_POOL: '[[2|32]]' }"),
            BACKUP,
        ])
        .herring()
        .right(&["pool", "dependency:connections"])
        .vague(WAITS),
    Plant::new("postgres-round-trips", "The app sends eight statements for each request to a database that is 5 ms away.")
        .on(&[
            Database(Postgresql, FAST, &[ITEMS, ROWS, ANALYZE]),
            System("proxies: { far: { to: '127.0.0.1:{port.db}', round-trip: 5ms } }"),
            App(Python, "'repeat=[[8|1]]:sql=SELECT n FROM items WHERE id = RANDOM'"),
            System("env: { DB_PORT: '{port.far}', DB_POOL: '16' }"),
        ])
        .load("users: 6")
        .waiting()
        .right(&["dependency", "*:round trip/n+1/statements"])
        .vague(&["waiting", "load", "pool"]),
    Plant::new("postgres-notify", "Each commit notifies a channel, and holds the one lock for that until the log is on the disk.")
        .on(&[Database(Postgresql, "-c autovacuum=off", &["CREATE TABLE audit (n bigint)"])])
        .scenario("scenario: [ { transaction: [ 'INSERT INTO audit VALUES (0)', '[[NOTIFY news|SELECT 1]]' ] } ]")
        .right(&["database_lock", "*:notify"])
        .vague(&["database_log", "disk", "lock", "waiting"]),
    Plant::new("postgres-lock-and-pool", "An app has two pools of four connections: one sleeps for 20 ms, and one takes a lock for 5 ms.")
        .on(&[
            Database(Postgresql, FAST, &[]),
            App(
                Python,
                "'sql=SELECT pg_sleep(0.02)' 'sql=SELECT pg_advisory_xact_lock([[b:1|RANDOM]]), pg_sleep(0.005)'",
            ),
            System("env: { DB_PORT: '{port.db}', DB_POOL: '[[4|32]]' }"),
        ])
        .load("users: 24")
        .two(&["pool", "dependency:connections"], &["database_lock"])
        .vague(WAITS),
    Plant::new("postgres-quota-and-lock", "A quota of 0.3 cores for 3 ms of computing, and an advisory lock for 10 ms: both allow 100 transactions a second.")
        .on(&[
            Database(
                Postgresql,
                FAST,
                &["CREATE FUNCTION compute() RETURNS int LANGUAGE plpgsql AS $$ DECLARE s int := 0; BEGIN FOR i IN 1..60000 LOOP s := s + 1; END LOOP; RETURN s; END $$"],
            ),
            System("resources: { cpu: [[0.3|2]] }"),
        ])
        .scenario("scenario: [ { transaction: [ 'SELECT compute()', 'SELECT pg_advisory_xact_lock([[b:1 + 0 *|]] :row)', 'SELECT pg_sleep(0.01)' ] } ]\ndata: { row: { uniform: 1..100000 } }")
        .two(&["cpu_quota"], &["database_lock"])
        .vague(COMPUTES),
    Plant::new("postgres-open-reads", "100 reads a second by key are answered at once.")
        .on(&[Database(Postgresql, FAST, &[ITEMS, ROWS, ANALYZE])])
        .scenario("scenario: [ { sql: 'SELECT n FROM items WHERE id = :row' } ]\ndata: { row: { uniform: 1..100000 } }")
        .load("rate: [[100|200]]/s")
        .users(),
];
