//! Requests and transactions in one scenario: they share variables, and the rows in the database equal the counted replies.

use std::fs;

use crate::support::{Home, Started, assert_counts_or_starved, assert_identity, built_in, number, url};
use harness::quiet::assert_measured;
use rusqlite::Connection;
use serde_json::Value;
use servers::{MariaDb, MariaDbSettings, Postgres, PostgresSettings};

/// Plan of users. Each sends a text, inserts the reply as a row, sends the number of the row, and updates that row.
fn plan(http: &str, database: &str, mode: &str, returning: &str) -> String {
    format!(
        r#"
scenario:
  - name: ask
    post: /echo
    body: "word {{word}}"
    save: {{ said: {{ body: "word (.+)" }} }}
  - name: keep
    transaction:
      - INSERT INTO kept (word) VALUES (:said)
      - {returning}
    expect: {{ rows: 1 }}
    save: {{ row: {{ column: id }} }}
  - name: show
    post: /echo
    body: "row {{row}} of {{word}}"
    save: {{ shown: {{ body: "row (\\d+)" }} }}
  - name: mark
    sql: UPDATE kept SET seen = seen + 1 WHERE id = :shown AND word = :word
    expect: {{ rows: 1 }}
data: {{ word: {{ text: 20 }} }}
sql: {{ mode: {mode} }}
load: {{ users: 4, requests: 400, for: 30s }}
url: {http}
database: {database}
"#
    )
}

#[track_caller]
fn assert_both(home: &Home, text: &str, sql: impl Fn(&str) -> String) {
    fs::write(home.path().join("plan.yaml"), text).expect("written");
    let mut command = home.command(&["run", "plan.yaml"]);
    command.env("PGPASSWORD", Postgres::PASSWORD).env("MYSQL_PWD", MariaDb::PASSWORD);
    let output = Started::spawn(command).finish();
    let run = home.last()["runs"][0].clone();
    // If all users wait for a busy disk, it counts as an outage, but the rows are still correct.
    if run["verdict"] != "degraded" {
        assert_counts_or_starved(&output, &run);
    }
    assert_identity(&run);
    assert_eq!((number(&run, "outcomes.ok"), number(&run, "offered.sent")), (400, 400), "{run}");
    let steps = run["steps"].as_array().expect("steps");
    let ok = |name: &str| {
        let step = steps.iter().find(|step| step["name"] == name).expect(name);
        number(step, "outcomes.ok")
    };
    let [ask, keep, show, mark] = ["ask", "keep", "show", "mark"].map(ok);
    // The count ends the load up to one iteration early for each user.
    assert!(ask >= keep && keep >= show && show >= mark && ask <= mark + 4 && mark >= 90, "{run}");
    assert_eq!(steps[1]["statements"].as_array().map(Vec::len), Some(4), "{}", steps[1]);
    let statements = steps[1]["statements"].as_array().into_iter().flatten();
    assert!(statements.clone().all(|part| number(part, "outcomes.ok") == keep), "{}", steps[1]);
    let no_statements = |step: &Value| step["statements"].as_array().is_none_or(Vec::is_empty);
    assert!([0, 2, 3].iter().all(|step| no_statements(&steps[*step])), "{run}");
    let rows = sql("SELECT count(*), count(DISTINCT word), sum(seen), max(seen) FROM kept");
    assert_eq!(rows, format!("{keep} {keep} {mark} 1"));
}

/// Columns of an answer, separated by spaces.
fn columns(text: &str) -> String {
    text.trim().replace(['|', '\t'], " ")
}

#[test]
fn rows_in_postgresql_are_the_replies_that_led_to_them() {
    assert_measured(|| {
        let server = Postgres::start(&PostgresSettings::default()).expect("a server");
        let (home, target) = (Home::new(), built_in());
        let http = url(target.address(), "");
        for mode in ["simple", "extended", "prepared"] {
            let table = "DROP TABLE IF EXISTS kept; \
                     CREATE TABLE kept (id serial PRIMARY KEY, word text NOT NULL, seen int DEFAULT 0)";
            server.sql(table).expect("a table");
            let text = plan(
                &http,
                &server.url(Postgres::USER, None),
                mode,
                "SELECT id FROM kept WHERE word = :said",
            );
            assert_both(&home, &text, |text| columns(&server.sql(text).expect("a row")));
        }
        let page = home.run(&["report", "last", "--wide"]);
        assert!(page.code == Some(0) && page.stdout.contains("keep"), "{page:?}");
    });
}

#[test]
fn rows_in_mariadb_are_the_replies_that_led_to_them() {
    assert_measured(|| {
        let server = MariaDb::start(&MariaDbSettings::default()).expect("a server");
        let (home, target) = (Home::new(), built_in());
        let table = "CREATE TABLE kept (id int AUTO_INCREMENT PRIMARY KEY, word varchar(40) NOT NULL, seen int DEFAULT 0)";
        server.sql(table).expect("a table");
        let text = plan(
            &url(target.address(), ""),
            &server.url(MariaDb::USER, None),
            "prepared",
            "SELECT LAST_INSERT_ID() AS id",
        );
        assert_both(&home, &text, |text| columns(&server.sql(text).expect("a row")));
    });
}

#[test]
fn rows_in_sqlite_are_the_replies_that_led_to_them() {
    assert_measured(|| {
        let home = Home::new();
        let database = "sqlite:kept.db?journal_mode=wal&busy_timeout=20s";
        let table = "DROP TABLE IF EXISTS kept;
                 CREATE TABLE kept (id INTEGER PRIMARY KEY, word TEXT NOT NULL, seen INT DEFAULT 0)";
        let file = Connection::open(home.path().join("kept.db")).expect("a file");
        for mode in ["simple", "extended", "prepared"] {
            file.execute_batch(table).expect("a table");
            let text = plan("http://127.0.0.1:80", database, mode, "SELECT id FROM kept WHERE word = :said");
            let running = format!("url: http://127.0.0.1:80\ndatabase: {database}");
            let started = format!(
                "{{ start: \"{{tenbin}} target --listen 127.0.0.1:{{port}}\", database: \"{database}\" }}"
            );
            assert!(text.contains(&running));
            let text = text.replace(&running, &format!("question: How fast?\nsystems: {{ app: {started} }}"));
            assert_both(&home, &text, |text| {
                let row = |row: &rusqlite::Row<'_>| {
                    (0..4)
                        .map(|column| Ok(row.get::<_, i64>(column)?.to_string()))
                        .collect::<Result<Vec<_>, _>>()
                };
                file.query_row(text, [], row).expect("a row").join(" ")
            });
        }
        let run = home.last()["runs"][0].clone();
        assert_eq!((&run["connections"], &run["generator"]["threads"]), (&8.into(), &4.into()), "{run}");
        assert!(!run["validity"].to_string().contains("server_count"), "{run}");
    });
}

#[test]
fn unreachable_database_is_reported_with_its_address() {
    let (home, target) = (Home::new(), built_in());
    let gone = target::scripted::closed_port().expect("a port");
    let database = format!("postgres://u@{}/x?sslmode=disable", gone.address());
    let text = plan(&url(target.address(), ""), &database, "simple", "SELECT 1 AS id");
    fs::write(home.path().join("plan.yaml"), text).expect("written");
    let output = home.run(&["run", "plan.yaml"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains(&gone.address().to_string()), "{output:?}");
}
