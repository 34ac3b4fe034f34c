//! Logs of real servers are replayed: with all statements, in the order of each session, and with a comparison of results.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use servers::{Auth, Postgres, PostgresSettings};

use crate::support::{Home, Output, Started, TENBIN, built_in, until};

/// PostgreSQL that logs all statements in a format.
fn logging(format: &str) -> Postgres {
    let settings = PostgresSettings { auth: Auth::Trust, ..PostgresSettings::default() }
        .with("log_destination", format)
        .with("logging_collector", "on")
        .with("log_directory", "log")
        .with("log_filename", "traffic.log")
        .with("log_statement", "all")
        .with("log_min_duration_statement", "0")
        .with("log_line_prefix", "%t:%r:%u@%d:[%p]:")
        .with("log_connections", "on")
        .with("log_disconnections", "on");
    Postgres::start(&settings).expect("a server")
}

fn log_file(server: &Postgres, ending: &str) -> PathBuf {
    server.folder().join("data/log").join(format!("traffic.{ending}"))
}

/// Copies what the log has beyond its first `from` bytes, once it contains `last`.
fn recorded(log: &Path, from: usize, last: &str, home: &Home) -> PathBuf {
    until("the log is written", || fs::read_to_string(log).is_ok_and(|text| text[from..].contains(last)));
    let copy = home.path().join("recorded.log");
    fs::write(&copy, &fs::read(log).expect("a log")[from..]).expect("a copy");
    copy
}

fn length(log: &Path) -> usize {
    fs::metadata(log).map_or(0, |about| about.len() as usize)
}

/// Statements of each session that pgbench made, in order, with the prefix of sessions removed. Sessions are sorted.
fn by_session(log: &str, from: usize) -> Vec<Vec<String>> {
    let mut sessions: Vec<(String, Vec<String>)> = Vec::new();
    for line in log[from..].lines() {
        let Some((prefix, statement)) = line.split_once("LOG:  statement: ") else { continue };
        if !statement.contains("pgbench_") && !matches!(statement, "BEGIN;" | "END;")
            || statement.contains("count(")
        {
            continue;
        }
        match sessions.iter_mut().find(|(known, _)| known == prefix.split_once("UTC:").expect("a time").1) {
            Some((_, statements)) => statements.push(statement.to_owned()),
            None => sessions
                .push((prefix.split_once("UTC:").expect("a time").1.to_owned(), vec![statement.to_owned()])),
        }
    }
    let mut sessions: Vec<Vec<String>> = sessions.into_iter().map(|(_, statements)| statements).collect();
    sessions.sort();
    sessions
}

fn pgbench(server: &Postgres, arguments: &[&str]) {
    let mut command = server.client("pgbench", "postgresql-contrib").expect("pgbench");
    let output = command.args(arguments).output().expect("pgbench ran");
    assert!(output.status.success(), "{output:?}");
}

fn replay(home: &Home, arguments: &[&str]) -> Output {
    let mut command = Command::new(TENBIN);
    home.isolate(&mut command);
    command.arg("replay").args(arguments);
    Started::spawn(command).finish()
}

fn json(home: &Home, arguments: &[&str]) -> Value {
    let output = replay(home, &[arguments, &["--format", "json"]].concat());
    assert_eq!(output.code, Some(0), "{output:?}");
    output.json()
}

#[track_caller]
fn count(result: &Value, pointer: &str) -> u64 {
    result.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{pointer} of {result}"))
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a path of text")
}

#[test]
fn statements_of_pgbench_are_replayed_in_the_order_of_each_session() {
    let (server, home) = (logging("stderr"), Home::new());
    pgbench(&server, &["-i", "-q"]);
    server.sql("CREATE DATABASE fresh TEMPLATE postgres").expect("a copy");
    let log = log_file(&server, "log");
    let from = length(&log);
    pgbench(&server, &["-n", "-c", "4", "-t", "25"]);
    server.sql("SELECT 'the last one'").expect("a statement");
    let recorded = recorded(&log, from, "the last one", &home);
    let own = server.admin_url();
    let url = format!("{}/fresh", own.strip_suffix("/postgres").expect("the database is last"));
    let replayed_from = length(&log);
    let result = json(&home, &[path(&recorded), "--to", &url, "--allow-writes"]);
    assert_eq!((count(&result, "/replay/differs"), count(&result, "/replay/not_sent")), (0, 0), "{result}");
    assert!(count(&result, "/replay/same") > 700, "{result}");
    let text = || fs::read_to_string(&log).expect("a log");
    until("the replay is logged", || text()[replayed_from..].matches("END;").count() >= 100);
    let (before, after) = (by_session(&text()[..replayed_from], from), by_session(&text(), replayed_from));
    assert_eq!(before.len(), 4);
    assert_eq!(before, after, "each session has its statements in order");
    let mut psql = server.client("psql", "postgresql-client").expect("psql");
    let rows =
        psql.args(["-d", "fresh", "-XAtc", "SELECT count(*) FROM pgbench_history"]).output().expect("rows");
    assert_eq!(rows.stdout, b"100\n");
    assert!(!result.to_string().contains("the last one"), "values are masked");
}

#[test]
fn results_that_differ_are_reported_in_the_first_line() {
    let (server, home) = (logging("csvlog"), Home::new());
    server.sql("CREATE TABLE t (a int PRIMARY KEY)").expect("a table");
    let log = log_file(&server, "csv");
    until("the log has begun", || log.exists());
    let from = length(&log);
    for number in 0..5 {
        server.sql(&format!("INSERT INTO t VALUES ({number})")).expect("a row");
    }
    server.sql("INSERT INTO t VALUES (1)").expect_err("the row is there");
    server.sql("SELECT 'secret words'").expect("a statement");
    let recorded = recorded(&log, from, "secret words", &home);
    let (file, url) = (path(&recorded), server.admin_url());

    let refused = replay(&home, &[file, "--to", &url]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("6 of 7 statements may write"), "{refused:?}");

    let dry = replay(&home, &[file, "--dry-run"]);
    assert!(
        dry.stdout.starts_with("7 statements in ") && dry.stdout.contains("insert into t values (?)"),
        "{dry:?}"
    );

    let reads = json(&home, &[file, "--to", &url, "--only", "reads"]);
    assert_eq!((count(&reads, "/replay/sent"), count(&reads, "/replay/same")), (1, 1), "{reads}");

    // Every row exists already, so only the insert that failed in the log has an equal outcome.
    let output = replay(&home, &[file, "--to", &url, "--allow-writes"]);
    assert!(output.stdout.starts_with("diverged: 71.4 % of results differ from the log"), "{output:?}");
    assert!(output.stdout.contains("error 23505"), "{output:?}");
    assert!(!output.stdout.contains("secret"), "{output:?}");
}

#[test]
fn read_only_sessions_reject_a_write_that_was_taken_for_a_read() {
    let (server, home) = (logging("stderr"), Home::new());
    server.sql("CREATE TABLE t (a int)").expect("a table");
    server
        .sql("CREATE FUNCTION \"count\"(text) RETURNS int LANGUAGE sql AS 'INSERT INTO t VALUES (1) RETURNING a'")
        .expect("a function with the name of a harmless one");
    let file = home.path().join("a.log");
    let line = "2026-01-02 03:04:05 UTC:[local]:bob@postgres:[12]:LOG:  duration: 1 ms  statement: SELECT public.count('x'::text)\n";
    fs::write(&file, line).expect("a log");
    let result = json(&home, &[path(&file), "--to", &server.admin_url()]);
    assert_eq!(
        (count(&result, "/replay/outcomes/rejected"), count(&result, "/replay/differs")),
        (1, 1),
        "{result}"
    );
    assert_eq!(server.sql("SELECT count(*) FROM t").expect("a number").trim(), "0");
}

#[test]
fn rest_of_a_lost_transaction_is_not_sent() {
    let (server, home) = (logging("stderr"), Home::new());
    server.sql("CREATE TABLE t (a int)").expect("a table");
    let mut log = String::new();
    let statements = [
        "BEGIN",
        "INSERT INTO t VALUES (1)",
        "SELECT pg_terminate_backend(pg_backend_pid())",
        "INSERT INTO t VALUES (2)",
        "COMMIT",
        "INSERT INTO t VALUES (3)",
    ];
    for statement in statements {
        let _ =
            writeln!(log, "2026-01-02 03:04:05.000 UTC [12] LOG:  duration: 0 ms  statement: {statement}");
    }
    let file = home.path().join("a.log");
    fs::write(&file, log).expect("a log");
    let result = json(&home, &[path(&file), "--to", &server.admin_url(), "--allow-writes"]);
    assert_eq!(server.sql("SELECT a FROM t").expect("rows").trim(), "3", "{result}");
    assert_eq!(count(&result, "/replay/lost_with_transaction"), 2, "{result}");
}

#[test]
fn requests_of_an_access_log_are_replayed_and_statuses_compared() {
    let (target, home) = (built_in(), Home::new());
    let mut log = String::new();
    for (number, path) in ["/status", "/bytes?n=4711", "/no-such-page", "/status"].iter().enumerate() {
        let _ = writeln!(
            log,
            "10.0.0.1 - - [02/Jan/2026:03:04:0{number} +0000] \"GET {path} HTTP/1.1\" 200 0 \"-\" \"-\""
        );
    }
    log.push_str("10.0.0.1 - - [02/Jan/2026:03:04:09 +0000] \"POST /status HTTP/1.1\" 200 0 \"-\" \"-\"\n");
    let file = home.path().join("access.log");
    fs::write(&file, log).expect("a log");
    let url = format!("http://{}", target.address());
    let result = json(&home, &[path(&file), "--to", &url, "--speed", "10x", "-c", "2"]);
    assert_eq!((count(&result, "/replay/sent"), count(&result, "/replay/same")), (4, 3), "{result}");
    assert_eq!(result["replay"]["differences"][0]["replay"], "status 404", "{result}");
    assert_eq!(result["log"]["skipped"][0]["reason"], "no_body", "{result}");
    assert!(result["replay"]["took_s"].as_f64().expect("a time") >= 0.3, "{result}");
    assert!(!result.to_string().contains("4711"), "{result}");
}

#[test]
fn wrong_logs_and_systems_are_errors_that_say_what_to_write() {
    let home = Home::new();
    let file = home.path().join("a.log");
    fs::write(&file, "hello\n").expect("a file");
    let access = home.path().join("b.log");
    fs::write(&access, "::1 - - [02/Jan/2026:03:04:05 +0000] \"GET / HTTP/1.0\" 200 12\n").expect("a file");
    let (file, access) = (path(&file), path(&access));
    for (arguments, words) in [
        (vec![file, "--dry-run"], "no line has a known log format"),
        (vec!["/no/such.log", "--dry-run"], "No such file"),
        (vec![access, "--to", "postgres://me@127.0.0.1:1/a"], "the log has HTTP requests"),
        (vec![access, "--to", "http://127.0.0.1:1", "--speed", "0"], "--speed: \"0\" is no factor"),
        (vec![access, "--to", "http://127.0.0.1:1", "--log-format", "foo"], "\"foo\" is no format"),
        (vec![file, "--log-prefix", "%z", "--dry-run"], "%z is no escape of log_line_prefix"),
        (vec![access], "--to"),
    ] {
        let output = replay(&home, &arguments);
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.stderr.contains(words), "{output:?}");
    }
}
