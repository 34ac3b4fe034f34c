//! A log is replayed on several systems in blocks, and their statements are compared.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use servers::{Auth, Postgres, PostgresSettings};

use crate::support::{Home, Output, Started, TENBIN};

/// Statements of the log, each with its own fingerprint. The second one needs the index.
const STATEMENTS: [&str; 4] = [
    "SELECT count(*) FROM t WHERE id < 10",
    "SELECT id FROM t WHERE k = 77",
    "SELECT 1",
    "SELECT id, k FROM t WHERE id = 5",
];
/// Number of times that the log has each statement.
const TIMES: usize = 10;

/// Server with the database `a`, and `b` that is like it but lacks an index, or has the change.
fn server(change: &str) -> Postgres {
    let settings = PostgresSettings { auth: Auth::Trust, ..PostgresSettings::default() };
    let server = Postgres::start(&settings).expect("a server");
    for sql in [
        "CREATE TABLE t AS SELECT i AS id, i AS k FROM generate_series(1, 100000) i",
        "CREATE UNIQUE INDEX ON t (id)",
        "CREATE INDEX by_k ON t (k)",
        "ANALYZE t",
        "CREATE DATABASE a TEMPLATE postgres",
        change,
        "CREATE DATABASE b TEMPLATE postgres",
    ] {
        server.sql(sql).expect("a statement");
    }
    server
}

/// URL without a password, which plans do not take.
fn url(server: &Postgres, database: &str) -> String {
    let own = server.url(Postgres::USER, None);
    format!("{}/{database}", own.strip_suffix("/postgres").expect("the database is last"))
}

fn log(home: &Home) -> PathBuf {
    let mut text = String::new();
    for number in 0..TIMES * STATEMENTS.len() {
        let statement = STATEMENTS[number % STATEMENTS.len()];
        let (second, milli) = (number / 100, number % 100 * 10);
        let _ = writeln!(
            text,
            "2026-01-02 03:04:{second:02}.{milli:03} UTC [12] LOG:  duration: 0.1 ms  statement: {statement}"
        );
    }
    let file = home.path().join("pg.log");
    fs::write(&file, text).expect("a log");
    file
}

fn tenbin(home: &Home, arguments: &[&str]) -> Output {
    let mut command = Command::new(TENBIN);
    home.isolate(&mut command);
    command.args(arguments);
    Started::spawn(command).finish()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of text")
}

#[test]
fn statement_without_its_index_is_ranked_first() {
    let (server, home) = (server("DROP INDEX by_k"), Home::new());
    let file = log(&home);
    let (a, b) = (format!("a={}", url(&server, "a")), format!("b={}", url(&server, "b")));
    let arguments = ["replay", text(&file), "--to", &a, "--to", &b, "--speed", "max", "--checksum"];
    // The exit code says whether runs were disturbed, which concerns no statement.
    let study = tenbin(&home, &[&arguments[..], &["--format", "json"]].concat()).json();
    let compared = &study["statements"][0];
    // Four fingerprints need 8 blocks: 2 in 256 is below a quarter of 5 %.
    assert_eq!((compared["blocks"].as_u64(), compared["family_error_rate"].as_f64()), (Some(8), Some(0.05)));
    let first = &compared["statements"][0];
    assert_eq!(first["text"], "select id from t where k = ?", "{compared}");
    assert_eq!((&first["is_regression"], &first["differs"]), (&true.into(), &serde_json::json!(["time"])));
    assert!(first["ratio"].as_f64().expect("a ratio") > 2.0, "{compared}");
    assert_eq!(first["count_b"], 8 * TIMES as u64);
    let shown = tenbin(&home, &["report", "last"]);
    assert!(shown.stdout.contains("Statements, b against a"), "{shown:?}");
    assert!(!shown.stdout.contains("k = 77"), "values are masked: {shown:?}");
}

#[test]
fn statement_with_other_rows_differs_although_the_log_has_none() {
    let (server, home) = (server("UPDATE t SET k = -k WHERE id = 5"), Home::new());
    let file = log(&home);
    let (a, b) = (format!("a={}", url(&server, "a")), format!("b={}", url(&server, "b")));
    let arguments = ["replay", text(&file), "--to", &a, "--to", &b, "--speed", "max", "--checksum"];
    let output = tenbin(&home, &[&arguments[..], &["--format", "json"]].concat());
    let study = output.json();
    let statements = study["statements"][0]["statements"].as_array().expect("statements");
    let differs = |text: &str, word: &str| {
        let found = statements.iter().find(|one| one["text"] == text).expect("the statement");
        found["differs"].as_array().expect("a list").iter().any(|aspect| aspect == word)
    };
    assert!(differs("select id, k from t where id = ?", "contents"), "{statements:?}");
    assert!(!differs("select ?", "contents") && !differs("select ?", "rows"), "{statements:?}");
}

#[test]
fn plan_with_a_replay_stores_each_run_with_its_fingerprints() {
    let (server, home) = (server("SELECT 1"), Home::new());
    log(&home);
    let plan = home.path().join("plan.yaml");
    let url = url(&server, "a");
    fs::write(&plan, format!("load: {{ replay: {{ log: pg.log, speed: 10x }} }}\nurl: {url}\n"))
        .expect("a plan");
    let study: Value = tenbin(&home, &["run", text(&plan), "--format", "json"]).json();
    let run = &study["runs"][0];
    assert_eq!(run["outcomes"]["ok"], (TIMES * STATEMENTS.len()) as u64, "{run}");
    let shown = tenbin(&home, &["report", "last", "--wide"]);
    assert!(shown.stdout.contains("replay of pg.log, 40 statements of 1 session, 10x"), "{shown:?}");
    assert!(shown.stdout.contains("select id from t where k = ?"), "{shown:?}");
}

#[test]
fn response_times_of_a_replay_without_pauses_count_from_the_reply_before() {
    let (server, home) = (server("SELECT 1"), Home::new());
    log(&home);
    let plan = home.path().join("plan.yaml");
    let url = url(&server, "a");
    fs::write(&plan, format!("load: {{ replay: {{ log: pg.log, speed: max }} }}\nurl: {url}\n"))
        .expect("a plan");
    let study: Value = tenbin(&home, &["run", text(&plan), "--format", "json"]).json();
    let run = &study["runs"][0];
    let number =
        |path: &str| run.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}: {run}"));
    // Responses of the only session cannot overlap. Counted from the start of the load, they would.
    let together_us = number("/response_time_us/mean") * number("/outcomes/ok");
    // The length is printed in whole milliseconds.
    assert!(together_us <= (number("/window/length_s") + 0.001) * 1e6, "{run}");
}
