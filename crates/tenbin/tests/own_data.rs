//! Own statements and rows of plans: prepared once for each variant, and restored before each run.

use std::fs;

use crate::support::Home;
use serde_json::Value;
use servers::{Postgres, PostgresSettings};

const ROWS: &str = "rows: { items: 3000, columns: { id: { sequence: 1.. }, owner: { uniform: 1..50 }, word: { words: [ a, b ], null: 10% } } }";

fn plan(home: &Home, text: &str) -> String {
    let path = home.path().join("plan.yaml");
    fs::write(
        home.path().join("schema.sql"),
        "CREATE TABLE items (id int PRIMARY KEY, owner int, word text);\n",
    )
    .expect("written");
    fs::write(&path, text).expect("written");
    path.to_string_lossy().into_owned()
}

fn all_ok(study: &Value, count: usize) {
    let runs = study["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), count, "{study}");
    for run in runs {
        assert!(run["outcomes"]["ok"].as_u64() > Some(0), "{run}");
        assert_eq!(run["outcomes"]["rejected"], 0, "{run}");
    }
}

#[test]
fn sqlite_file_is_restored_before_each_run() {
    let home = Home::new();
    let path = plan(
        &home,
        &format!(
            // The statement of `setup` fails if rows are missing, because the key 3000 exists.
            "scenario: [ sql: \"DELETE FROM items WHERE id <= 10\" ]\nload: {{ users: 1, requests: 3 }}\ncompare: {{ blocks: 2 }}\n\
             setup: [ sql: \"INSERT INTO items (id) SELECT CASE WHEN count(*) = 3000 THEN 0 ELSE 3000 END FROM items\" ]\n\
             systems:\n  lite:\n    url: \"sqlite:{{dir}}/x.db\"\n    vary: {{ index: [ owner, word ] }}\n    prepare:\n      \
             sql: [ schema.sql, \"CREATE INDEX i ON items ({{index}})\", \"CREATE TABLE marks AS SELECT count(*) AS n FROM items\" ]\n      {ROWS}\n"
        ),
    );
    all_ok(&home.json(&["run", &path]), 4);
}

#[test]
fn database_of_a_running_postgresql_is_restored_from_a_template() {
    let server = Postgres::start(&PostgresSettings::default()).expect("a server");
    server.sql("CREATE ROLE keeper LOGIN CREATEDB").expect("a role");
    server.sql("CREATE DATABASE shop OWNER keeper").expect("a database");
    let url = format!("postgres://keeper@127.0.0.1:{}/shop", server.port());
    let home = Home::new();
    let path = plan(
        &home,
        &format!(
            // A row that a run inserts is no longer there in the next one.
            "scenario: [ sql: \"INSERT INTO items (id) VALUES (:id)\" ]\ndata: {{ id: {{ sequence: 10001.. }} }}\n\
             load: {{ users: 2, requests: 40 }}\ncompare: {{ blocks: 3 }}\nurl: {url}\nprepare:\n  sql: schema.sql\n  {ROWS}\n"
        ),
    );
    let output = home.run(&["run", &path]);
    assert!(output.stderr.contains("created from a copy (TEMPLATE)"), "{output:?}");
    all_ok(&home.json(&["report", "last"]), 3);
    let databases = server.sql("SELECT datname FROM pg_database WHERE datname LIKE 'shop%'").expect("names");
    assert_eq!(databases.trim(), "shop", "the copy is removed");
    let again = home.run(&["run", &path]);
    assert!(again.stderr.contains("add `drop: true` to `prepare`"), "{again:?}");
}

#[test]
fn errors_of_own_data_name_file_and_line() {
    let home = Home::new();
    fs::write(home.path().join("bad.sql"), "CREATE TABLE t (a int);\nINSERT INTO u VALUES (1);\n")
        .expect("written");
    let path = plan(
        &home,
        "scenario: [ sql: \"SELECT 1\" ]\nload: { users: 1, requests: 1 }\nurl: sqlite:x.db\nprepare: { sql: bad.sql }\n",
    );
    let output = home.run(&["run", &path]);
    assert!(
        output.stderr.contains("bad.sql, line 2") && output.stderr.contains("no such table: u"),
        "{output:?}"
    );
}

#[test]
fn statements_run_before_and_after_each_run_on_their_endpoint() {
    let home = Home::new();
    let other = home.path().join("other.db");
    let path = plan(
        &home,
        &format!(
            "scenario: [ sql: \"SELECT count(*) FROM items\" ]\nload: {{ users: 1, requests: 2 }}\nsystems:\n  lite:\n    \
             url: \"sqlite:{{dir}}/x.db\"\n    endpoints: {{ log: \"sqlite:{}\" }}\n    before: [ {{ sql: schema.sql }} ]\n    \
             after: [ {{ sql: \"CREATE TABLE IF NOT EXISTS runs (n); INSERT INTO runs VALUES (7)\", endpoint: log }} ]\n\
             teardown: [ {{ sql: \"INSERT INTO items (id) VALUES (1)\" }} ]\n",
            other.display()
        ),
    );
    all_ok(&home.json(&["run", &path]), 1);
    let count: i64 = rusqlite::Connection::open(&other)
        .and_then(|file| file.query_row("SELECT sum(n) FROM runs", [], |row| row.get(0)))
        .expect("the statement ran");
    assert_eq!(count, 7);
}

#[test]
fn tables_of_a_workload_are_created_once_for_each_variant_or_system() {
    let home = Home::new();
    for (share, copies) in [("", 2), (", share: true", 1)] {
        let path = plan(
            &home,
            &format!(
                // Every run draws equal addresses, which must be unique, so the table must be empty again.
                "scenario: [ workload: sign-up ]\nload: {{ users: 1, requests: 3 }}\ncompare: {{ blocks: 2 }}\nseed: 1\nsystems:\n  lite:\n    \
                 start: \"{{tenbin}} target --listen 127.0.0.1:{{port}}\"\n    url: \"sqlite:{{dir}}/x.db\"\n    \
                 prepare: {{ workload: sign-up{share} }}\n    vary: {{ workers: [ 1, 2 ] }}\n"
            ),
        );
        let output = home.run(&["run", &path]);
        let prepared = output.stderr.matches("prepared, and its system stopped and copied").count();
        assert_eq!(prepared, copies, "{share}: {output:?}");
        all_ok(&home.json(&["report", "last"]), 4);
    }
}
