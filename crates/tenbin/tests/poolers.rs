//! Loads through PgBouncer: each transaction that counts as ok has its row in the table. State that a pooler does not keep is
//! reported before anything is sent.

use std::process::Command;

use crate::support::{Home, Output, Started, TENBIN};
use serde_json::Value;
use servers::{PgBouncer, Postgres, PostgresSettings};

struct Pooled {
    server: Postgres,
    pooler: PgBouncer,
    home: Home,
}

impl Pooled {
    fn start(mode: &str) -> Self {
        let server = Postgres::start(&PostgresSettings::default()).unwrap_or_else(|why| panic!("{why}"));
        server.sql("CREATE TABLE first (n int); CREATE TABLE second (n int)").expect("tables");
        // In session mode, each user holds a server connection.
        let size = if mode == "session" { "20" } else { "4" };
        let settings = [("pool_mode", mode), ("default_pool_size", size)];
        let pooler = PgBouncer::start(&server, &settings).unwrap_or_else(|why| panic!("{why}"));
        Self { server, pooler, home: Home::new() }
    }

    /// Runs a script 200 times with eight users.
    fn load(&self, script: &str, mode: &str) -> Output {
        let path = self.home.path().join("script.sql");
        std::fs::write(&path, script).expect("written");
        let (url, path) = (self.pooler.url(), path.display().to_string());
        self.home.run(&[&url, "-f", &path, "-c", "8", "-n", "200", "-M", mode, "--format", "json"])
    }

    /// Number of rows in both tables. Empties them.
    fn take_rows(&self) -> [u64; 2] {
        let counts = ["first", "second"].map(|table| {
            let count = self.server.sql(&format!("SELECT count(*) FROM {table}")).expect("a count");
            count.trim().parse().expect("a number")
        });
        self.server.sql("TRUNCATE first, second").expect("empty tables");
        counts
    }
}

#[track_caller]
fn json(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

#[test]
fn rows_behind_a_pooler_equal_the_ok_transactions_in_every_accepted_mode() {
    for (pool_mode, shared) in [("transaction", true), ("session", false)] {
        let pooled = Pooled::start(pool_mode);
        let mut loads = 0;
        for round in 0..2 {
            for (table, name) in ["first", "second"].into_iter().enumerate() {
                for mode in ["simple", "extended", "prepared"] {
                    let script = format!("BEGIN;\nINSERT INTO {name} VALUES ({round});\nCOMMIT;\n");
                    let output = pooled.load(&script, mode);
                    let rows = pooled.take_rows();
                    if output.code == Some(1) && mode == "prepared" && shared {
                        let help = "write `-M extended`";
                        let why = "does not track prepared statements";
                        assert!(output.stderr.contains(why) && output.stderr.contains(help), "{output:?}");
                        assert_eq!(rows, [0, 0]);
                        continue;
                    }
                    let json = json(&output);
                    let ok = json["outcomes"]["ok"].as_u64().expect("a count");
                    assert_eq!((rows[table], rows[1 - table]), (ok, 0), "{pool_mode} {mode}: {json}");
                    assert_eq!(ok, 200, "{json}");
                    let shares = json.to_string().contains("a pooler that shares server connections");
                    assert_eq!(shares, shared, "{json}");
                    loads += 1;
                }
            }
        }
        assert!(loads >= if shared { 8 } else { 12 }, "{pool_mode}: {loads}");
    }
}

#[test]
fn rejects_state_that_a_pooler_does_not_keep_before_sending() {
    let pooled = Pooled::start("transaction");
    for (statement, name, help) in [
        ("CREATE TEMP TABLE t AS SELECT 1", "a temporary table", "ON COMMIT DROP"),
        ("SET search_path = a", "SET of schema or role", "SET LOCAL"),
        ("SELECT pg_advisory_lock(1)", "a session advisory lock", "pg_advisory_xact_lock"),
        ("PREPARE p AS SELECT 1", "PREPARE or EXECUTE", "-M extended"),
    ] {
        let output = pooled.load(&format!("INSERT INTO first VALUES (1);\n{statement};\n"), "simple");
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(output.stderr.contains(&format!("script.sql:2: {name}: ")), "{output:?}");
        assert!(output.stderr.contains(help) && output.stderr.contains("pool_mode = session"), "{output:?}");
        assert_eq!(pooled.take_rows(), [0, 0]);
    }
}

#[test]
fn lost_state_is_a_warning_before_the_load_and_a_note() {
    let pooled = Pooled::start("transaction");
    let output = pooled.load("LISTEN news;\nINSERT INTO second VALUES (1);\n", "extended");
    let (json, rows) = (json(&output), pooled.take_rows());
    assert_eq!((&json["outcomes"]["ok"], rows), (&Value::from(200), [0, 200]), "{json}");
    assert!(output.stderr.starts_with("warning: the pooler shares server connections"), "{output:?}");
    assert!(output.stderr.contains("script.sql:1: LISTEN: "), "{output:?}");
    assert!(json["notes"].to_string().contains("script.sql:1: LISTEN: "), "{json}");
}

#[test]
fn state_is_kept_by_a_pooler_in_session_mode_and_by_the_server() {
    let pooled = Pooled::start("session");
    let script = "CREATE TEMP TABLE IF NOT EXISTS t (n int);\nINSERT INTO t VALUES (1);\n";
    let path = pooled.home.path().join("script.sql");
    std::fs::write(&path, script).expect("written");
    let path = path.display().to_string();
    for url in [pooled.pooler.url(), pooled.server.admin_url()] {
        let json = pooled.home.json(&[&url, "-f", &path, "-c", "4", "-n", "100"]);
        assert_eq!(json["outcomes"]["ok"], 100, "{json}");
        assert!(!json.to_string().contains("shares server connections"), "{json}");
    }
}

#[test]
fn loading_tables_leaves_no_settings_in_the_servers_sessions() {
    let pooled = Pooled::start("transaction");
    pooled.server.sql("ALTER ROLE postgres SET statement_timeout = '7min'").expect("altered");
    let url = pooled.pooler.url();
    let mut prepare = Command::new(TENBIN);
    pooled.home.isolate(&mut prepare);
    prepare.args(["prepare", &url, "--workload", "tpcb-like", "--scale", "2", "--jobs", "4"]);
    let output = Started::spawn(prepare).finish();
    assert_eq!(output.code, Some(0), "{output:?}");
    pooled.server.sql("CREATE TABLE seen (pid int, durable text, patience text)").expect("a table");
    let settings = "current_setting('synchronous_commit'), current_setting('statement_timeout')";
    // Each user holds a server connection for a while, so that all of the pool take part.
    let script = format!("INSERT INTO seen SELECT pg_backend_pid(), {settings};\nSELECT pg_sleep(0.005);\n");
    let json = json(&pooled.load(&format!("BEGIN;\n{script}COMMIT;\n"), "simple"));
    assert_eq!(json["outcomes"]["ok"], 200, "{json}");
    let seen = pooled.server.sql("SELECT DISTINCT durable, patience FROM seen").expect("settings");
    assert_eq!(seen.trim(), "on|7min");
    let sessions = pooled.server.sql("SELECT count(DISTINCT pid) FROM seen").expect("a count");
    assert_eq!(sessions.trim(), "4");
}
