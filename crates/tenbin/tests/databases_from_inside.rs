//! What real databases say of themselves under load: waits, blocking sessions and counters, and why they do not.

use std::fs;

use crate::support::Home;
use serde_json::Value;
use servers::{MariaDb, MariaDbSettings, Postgres, PostgresSettings};

/// All users update one row, and hold it for a while.
const ONE_ROW: &str = "BEGIN;\nUPDATE hot SET n = n + 1 WHERE id = 7;\nSELECT SLEEP;\nCOMMIT;\n";

fn load(home: &Home, url: &str, script: &str, more: &[&str]) -> Value {
    let path = home.path().join("load.sql");
    fs::write(&path, script).expect("a script");
    let path = path.to_string_lossy();
    let arguments = [url, "-f", &*path, "-d", "3s", "--timeout", "5s", "--format", "json"];
    // Whether a busy machine makes the run invalid is no matter here.
    home.run(&[&arguments, more].concat()).json()
}

/// The share of the active sessions in waits of a class.
fn share(json: &Value, class: &str) -> f64 {
    let waits = json["database"]["waits"].as_array().unwrap_or_else(|| panic!("no waits: {json}"));
    waits.iter().filter(|one| one["class"] == class).filter_map(|one| one["share"].as_f64()).sum()
}

fn texts<'a>(json: &'a Value, list: &str, key: &str) -> Vec<&'a str> {
    let list = json["database"][list].as_array().expect("a list");
    list.iter().map(|one| one[key].as_str().expect("a text")).collect()
}

/// What could not be read of a database, and why.
fn missing(json: &Value) -> String {
    let all = json["not_available"].as_array().expect("a list").iter();
    let of_database =
        all.filter(|one| one["probe"].as_str().is_some_and(|probe| probe.starts_with("the database")));
    of_database.map(Value::to_string).collect()
}

#[track_caller]
fn assert_locked(json: &Value) {
    assert!(share(json, "Lock") > 0.5, "{json}");
    let statements = texts(json, "statements", "statement");
    assert_eq!(statements.first(), Some(&"UPDATE hot SET n = n + ? WHERE id = ?"), "{json}");
    let blocking = texts(json, "blocking", "session");
    assert!(blocking.iter().any(|one| one.starts_with("session ")), "{json}");
    let database = &json["database"];
    assert!(database["samples"].as_f64() >= Some(3.0), "{json}");
    assert!(database["per_s"]["commits"].as_f64() > Some(5.0), "{json}");
    assert!(database["connections"].as_f64() >= Some(7.0), "{json}");
    assert!(database["sessions_active"].as_f64() <= Some(6.5), "its own session is not counted: {json}");
}

#[test]
fn waits_for_a_row_of_postgresql_are_seen_and_who_holds_it() {
    let server = Postgres::start(&PostgresSettings::default()).expect("a server");
    server
        .sql("CREATE TABLE hot (id int PRIMARY KEY, n int); INSERT INTO hot VALUES (7, 0)")
        .expect("a table");
    let home = Home::new();
    let script = ONE_ROW.replace("SLEEP", "pg_sleep(0.02)");
    let json = load(&home, &server.own_url(), &script, &["-c", "6"]);
    assert_locked(&json);
    assert_eq!(missing(&json), "");
    let id = json["run"]["id"].as_str().expect("an id");
    let report = home.run(&["report", id]).stdout;
    assert!(report.contains("active sessions in Lock:"), "{report}");
    let shared = home.run(&["report", id, "--share", "--format", "json"]).stdout;
    assert!(shared.contains("Lock:transactionid") && !shared.contains("UPDATE hot"), "{shared}");
}

#[test]
fn waits_for_a_row_of_mariadb_are_seen_and_without_the_privilege_it_is_said() {
    let server = MariaDb::start(&MariaDbSettings::default()).expect("a server");
    server
        .sql(
            "CREATE TABLE hot (id int PRIMARY KEY, n int); INSERT INTO hot VALUES (7, 0); \
             CREATE USER poor IDENTIFIED BY 'pw'; GRANT ALL ON tenbin.* TO poor",
        )
        .expect("a table");
    let home = Home::new();
    let script = ONE_ROW.replace("SLEEP", "sleep(0.02)");
    let json = load(&home, &server.own_url(), &script, &["-c", "6"]);
    assert_locked(&json);
    assert!(json["database"]["per_s"]["row_lock_waits"].as_f64() > Some(1.0), "{json}");
    let json = load(&home, &server.url("poor", Some("pw")), &script, &["-c", "6"]);
    assert!(share(&json, "Executing") > 0.5, "{json}");
    assert!(missing(&json).contains("PROCESS"), "{json}");
}

#[test]
fn a_server_without_a_free_connection_is_loaded_and_not_watched() {
    let few =
        PostgresSettings::default().with("max_connections", "5").with("superuser_reserved_connections", "0");
    let few = few.with("max_wal_senders", "0");
    let server = Postgres::start(&few).expect("a server");
    let home = Home::new();
    let json = load(&home, &server.own_url(), "SELECT pg_sleep(0.01);\n", &["-c", "5"]);
    assert_eq!(json["outcomes"]["rejected"], 0, "{json}");
    assert_eq!(json["database"], Value::Null, "{json}");
    assert!(missing(&json).contains("too many clients"), "{json}");
    let json = load(&home, &server.own_url(), "SELECT pg_sleep(0.01);\n", &["-c", "4"]);
    assert_eq!(json["database"], Value::Null, "{json}");
    assert!(missing(&json).contains("connections of the server are taken"), "{json}");
}

#[test]
fn a_role_without_rights_sees_its_own_sessions() {
    let server = Postgres::start(&PostgresSettings::default()).expect("a server");
    server.sql("CREATE ROLE poor LOGIN").expect("a role");
    let home = Home::new();
    let json = load(&home, &server.url("poor", None), "SELECT pg_sleep(0.01);\n", &["-c", "3"]);
    assert!(share(&json, "Timeout") > 0.5, "{json}");
}
