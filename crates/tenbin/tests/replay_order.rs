//! Order and locks of a replay, as the server sees them.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use serde_json::Value;
use servers::{Auth, Postgres, PostgresSettings};

use crate::support::{Home, Started, TENBIN, until};

fn server() -> PostgresSettings {
    PostgresSettings { auth: Auth::Trust, ..PostgresSettings::default() }
}

fn replay(home: &Home, log: &str, server: &Postgres, arguments: &[&str]) -> Value {
    let file = home.path().join("pg.log");
    fs::write(&file, log).expect("a log");
    let mut command = Command::new(TENBIN);
    home.isolate(&mut command);
    command.arg("replay").arg(&file).args([
        "--to",
        &server.admin_url(),
        "--allow-writes",
        "--format",
        "json",
    ]);
    let output = Started::spawn({
        command.args(arguments);
        command
    })
    .finish();
    assert_eq!(output.code, Some(0), "{output:?}");
    output.json()
}

#[track_caller]
fn count(result: &Value, key: &str) -> u64 {
    result["replay"][key].as_u64().unwrap_or_else(|| panic!("{key} of {result}"))
}

/// Lines of a log: time in microseconds, process ID of the session, and statement.
fn log(statements: impl IntoIterator<Item = (u64, u32, String)>) -> String {
    let mut log = String::new();
    for (at_us, session, statement) in statements {
        let (second, milli) = (at_us / 1_000_000, at_us / 1_000 % 1_000);
        let _ = writeln!(
            log,
            "2026-01-02 03:04:{second:02}.{milli:03} UTC [{session}] LOG:  duration: 0.000 ms  statement: {statement}"
        );
    }
    log
}

#[test]
fn deadlock_of_two_sessions_is_ended_before_the_server_detects_it() {
    let (server, home) =
        (Postgres::start(&server().with("deadlock_timeout", "60s")).expect("a server"), Home::new());
    server.sql("CREATE TABLE t (a int PRIMARY KEY, by int)").expect("a table");
    server.sql("INSERT INTO t VALUES (1, 0), (2, 0)").expect("rows");
    let update = |by: u32, row: u32| format!("UPDATE t SET by = {by} WHERE a = {row}");
    // In the log, no statement waited: the first session had committed before the server wrote the line of the second one.
    let planted = [
        (0, 11, "BEGIN".to_owned()),
        (1_000, 12, "BEGIN".to_owned()),
        (10_000, 11, update(11, 1)),
        (20_000, 12, update(12, 2)),
        (200_000, 11, update(11, 2)),
        (210_000, 12, update(12, 1)),
        (220_000, 11, "COMMIT".to_owned()),
        (230_000, 12, "COMMIT".to_owned()),
    ];
    let result = replay(&home, &log(planted), &server, &["--lock-window", "300ms"]);
    assert_eq!((count(&result, "planned"), count(&result, "deadlocks")), (8, 0), "{result}");
    assert!(count(&result, "lock_waits_ended") >= 1, "{result}");
    assert!(result["replay"]["differences"].to_string().contains("error 55P03"), "{result}");
    let open = server.sql("SELECT count(*) FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted");
    assert_eq!(open.expect("a number").trim(), "0", "nobody waits");
}

#[test]
fn statements_that_are_prepared_by_sql_are_executed_once() {
    for destination in ["stderr", "jsonlog"] {
        let settings = server()
            .with("log_destination", destination)
            .with("logging_collector", "on")
            .with("log_directory", "log")
            .with("log_filename", "traffic.log")
            .with("log_statement", "all")
            .with("log_min_duration_statement", "0")
            .with("log_line_prefix", "%m [%p] ");
        let (server, home) = (Postgres::start(&settings).expect("a server"), Home::new());
        server.sql("CREATE TABLE t (a int)").expect("a table");
        server.sql("INSERT INTO t VALUES (0)").expect("a row");
        let ending = if destination == "jsonlog" { "json" } else { "log" };
        let written = server.folder().join(format!("data/log/traffic.{ending}"));
        let text = || fs::read_to_string(&written).unwrap_or_default();
        // The collector writes some time after the server logs: without the wait, the replay would insert a second row.
        server.sql("SELECT 'the first one'").expect("a statement");
        until("the row is logged", || text().contains("the first one"));
        let from = text().len();
        let script = home.path().join("script.sql");
        let statements = "PREPARE add(int) AS UPDATE t SET a = a + $1;\nEXECUTE add(1);\nEXECUTE add(10);\nDEALLOCATE add;\n";
        fs::write(&script, statements).expect("a script");
        // With the extended protocol, the log has lines for parse, bind, and execute of each statement.
        for mode in ["simple", "extended", "prepared"] {
            let mut pgbench = server.client("pgbench", "postgresql-contrib").expect("pgbench");
            let pgbench = pgbench.args(["-n", "-M", mode, "-t", "2", "-f"]).arg(&script);
            assert!(pgbench.output().expect("pgbench ran").status.success());
        }
        server.sql("SELECT 'the last one'").expect("a statement");
        until("the log is written", || text().get(from..).is_some_and(|new| new.contains("the last one")));
        let recorded = text()[from..].to_owned();
        let before = server.sql("SELECT a FROM t").expect("a number");
        let result = replay(&home, &recorded, &server, &["--speed", "max"]);
        assert_eq!(count(&result, "differs"), 0, "{result}");
        let after = server.sql("SELECT a FROM t").expect("a number");
        assert_eq!((before.trim(), after.trim()), ("66", "132"), "{destination}");
    }
}
