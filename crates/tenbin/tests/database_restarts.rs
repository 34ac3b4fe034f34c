//! Real databases that restart, run out of connections, or report conflicts: no transaction is lost or counted twice.

use std::thread;
use std::time::Duration;

use crate::support::{Home, Output};
use serde_json::Value;
use servers::{MariaDb, MariaDbSettings, Postgres, PostgresSettings};

#[track_caller]
fn json(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn count(json: &Value, pointer: &str) -> u64 {
    json.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{pointer} in {json}"))
}

#[track_caller]
fn assert_identity(json: &Value) {
    let ends: u64 = ["ok", "rejected", "failed", "timed_out", "unfinished"]
        .iter()
        .map(|name| count(json, &format!("/outcomes/{name}")))
        .sum();
    assert_eq!(count(json, "/offered/sent"), ends, "{json}");
}

/// Number of transactions whose commit was sent, but not answered.
fn unknown(json: &Value) -> u64 {
    let errors = json["errors"].as_array().expect("errors").iter();
    let unknown = errors
        .filter(|error| matches!(error["class"].as_str(), Some("commit_unknown" | "timeout_in_commit")));
    unknown.map(|error| error["count"].as_u64().expect("a count")).sum()
}

const INSERTS: &str = "\\set n random(1, 1000000000)\nBEGIN;\nINSERT INTO kept (n) VALUES (:n);\nCOMMIT;\n";

/// Asserts that the table has every row with outcome ok, and no further rows except those with an unknown or unfinished outcome.
#[track_caller]
fn assert_kept(rows: u64, json: &Value) {
    let (ok, unknown) = (count(json, "/outcomes/ok"), unknown(json));
    let unfinished = count(json, "/outcomes/unfinished");
    assert!(
        (ok..=ok + unknown + unfinished).contains(&rows),
        "{rows} rows, {ok} ok, {unknown} unknown: {json}"
    );
}

#[test]
fn postgresql_restarting_under_load_loses_and_doubles_nothing() {
    let mut server = Postgres::start(&PostgresSettings::default()).unwrap_or_else(|why| panic!("{why}"));
    server.sql("CREATE TABLE kept (n bigint NOT NULL)").expect("a table");
    let home = Home::new();
    let script = home.path().join("insert.sql");
    std::fs::write(&script, INSERTS).expect("written");
    let (url, script) = (server.admin_url(), script.display().to_string());
    let arguments = [&url, "-f", &script, "-c", "8", "-d", "6s", "--timeout", "3s", "--format", "json"];
    let load = home.start(&arguments);
    for _ in 0..3 {
        thread::sleep(Duration::from_millis(1_300));
        server.restart_immediate().unwrap_or_else(|why| panic!("{why}"));
    }
    let output = load.finish();
    let json = json(&output);
    assert_identity(&json);
    assert!(count(&json, "/outcomes/ok") > 0 && count(&json, "/outcomes/failed") > 0, "{json}");
    let rows = server.sql("SELECT count(*) FROM kept").expect("an answer");
    assert_kept(rows.trim().parse().expect("a number"), &json);
}

#[test]
fn mariadb_restarting_under_load_loses_and_doubles_nothing() {
    let mut server = MariaDb::start(&MariaDbSettings::default()).unwrap_or_else(|why| panic!("{why}"));
    server.sql("CREATE TABLE kept (n bigint NOT NULL) ENGINE=InnoDB").expect("a table");
    let home = Home::new();
    let script = home.path().join("insert.sql");
    std::fs::write(&script, INSERTS).expect("written");
    let (url, script) = (server.admin_url(), script.display().to_string());
    let arguments = [&url, "-f", &script, "-c", "8", "-d", "6s", "--timeout", "3s", "--format", "json"];
    let load = home.start(&arguments);
    for _ in 0..2 {
        thread::sleep(Duration::from_millis(1_500));
        server.restart_immediate().unwrap_or_else(|why| panic!("{why}"));
    }
    let output = load.finish();
    let json = json(&output);
    assert_identity(&json);
    assert!(count(&json, "/outcomes/ok") > 0 && count(&json, "/outcomes/failed") > 0, "{json}");
    let rows = server.sql("SELECT count(*) FROM kept").expect("an answer");
    assert_kept(rows.trim().parse().expect("a number"), &json);
}

#[test]
fn too_many_connections_are_reported_without_a_connect_storm() {
    let settings =
        PostgresSettings::default().with("max_connections", "5").with("superuser_reserved_connections", "0");
    let server = Postgres::start(&settings).unwrap_or_else(|why| panic!("{why}"));
    let home = Home::new();
    let url = server.admin_url();
    let script = home.path().join("select.sql");
    std::fs::write(&script, "SELECT 1;\n").expect("written");
    let script = script.display().to_string();
    let output = home.run(&[&url, "-f", &script, "-c", "20", "-d", "2s", "--format", "json"]);
    let said = format!("{}{}", output.stdout, output.stderr);
    assert!(said.contains("connections"), "{output:?}");
    if output.code != Some(1) {
        let json = json(&output);
        assert_identity(&json);
        assert!(said.contains("too_many_connections"), "{json}");
    }
    // A few attempts per connection and second, not as many as possible.
    let attempts = server.log().matches("FATAL:  sorry, too many clients already").count();
    assert!(attempts < 400, "{attempts} attempts");
}

#[test]
fn deadlocks_and_serialization_failures_are_retried_on_request_and_always_counted() {
    let server = Postgres::start(&PostgresSettings::default().with("deadlock_timeout", "10ms"))
        .unwrap_or_else(|why| panic!("{why}"));
    server
        .sql("CREATE TABLE pair (id int PRIMARY KEY, n int); INSERT INTO pair VALUES (1, 0), (2, 0)")
        .expect("a table");
    let home = Home::new();
    let script = home.path().join("cross.sql");
    let text = "\\set a random(1, 2)\n\\set b 3 - :a\nBEGIN ISOLATION LEVEL REPEATABLE READ;\n\
                UPDATE pair SET n = n + 1 WHERE id = :a;\nUPDATE pair SET n = n + 1 WHERE id = :b;\nCOMMIT;\n";
    std::fs::write(&script, text).expect("written");
    let (url, script) = (server.admin_url(), script.display().to_string());
    let run = |tries: &str| {
        let arguments =
            [&url, "-f", &script, "-c", "4", "-n", "300", "--max-tries", tries, "--format", "json"];
        json(&home.run(&arguments))
    };
    let once = run("1");
    assert_identity(&once);
    assert!(count(&once, "/outcomes/rejected") > 0, "{once}");
    let sum = |server: &Postgres| -> u64 {
        server.sql("SELECT sum(n) FROM pair").expect("an answer").trim().parse().expect("a number")
    };
    let after_once = sum(&server);
    assert_eq!(after_once, 2 * count(&once, "/outcomes/ok"), "{once}");
    let often = run("100");
    assert_identity(&often);
    assert_eq!(count(&often, "/outcomes/ok"), 300, "{often}");
    assert!(count(&often, "/tries/retries") > 0, "{often}");
    assert_eq!(sum(&server) - after_once, 600, "{often}");
}
