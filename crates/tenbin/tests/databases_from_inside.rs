//! Statistics of real databases under load: waits, blocking sessions, and counters, or the reason why they are missing.

use std::time::{Duration, Instant};
use std::{fs, io};

use crate::support::{Home, built_in, url};
use harness::quiet::assert_measured;
use serde_json::Value;
use servers::fake_postgres::{Peer, complete, description, error_or_notice, one_row, ready, row};
use servers::{FakePostgres, MariaDb, MariaDbSettings, Postgres, PostgresSettings};

/// Script in which all users update one row, and hold its lock for a while.
const ONE_ROW: &str = "BEGIN;\nUPDATE hot SET n = n + 1 WHERE id = 7;\nSELECT SLEEP;\nCOMMIT;\n";

fn load(home: &Home, url: &str, script: &str, more: &[&str]) -> Value {
    let path = home.path().join("load.sql");
    fs::write(&path, script).expect("a script");
    let path = path.to_string_lossy();
    let arguments = [url, "-f", &*path, "-d", "3s", "--timeout", "5s", "--format", "json"];
    // A busy machine may make the run invalid, which does not matter here.
    home.run(&[&arguments, more].concat()).json()
}

/// Max time of a load of three seconds, on a machine that is busy with other tests.
const ENDS_WITHIN: Duration = Duration::from_secs(40);

/// Share of active sessions in waits of a class.
fn share(json: &Value, class: &str) -> f64 {
    let waits = json["database"]["waits"].as_array().unwrap_or_else(|| panic!("no waits: {json}"));
    waits.iter().filter(|one| one["class"] == class).filter_map(|one| one["share"].as_f64()).sum()
}

fn texts<'a>(json: &'a Value, list: &str, key: &str) -> Vec<&'a str> {
    let list = json["database"][list].as_array().expect("a list");
    list.iter().map(|one| one[key].as_str().expect("a text")).collect()
}

/// Statistics of the database that could not be read, and the reasons.
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
    assert!(database["samples"].as_f64() >= Some(2.0), "{json}");
    assert!(database["per_s"]["commits"].as_f64() > Some(1.0), "{json}");
    assert!(database["connections"].as_f64() >= Some(7.0), "{json}");
    assert!(database["sessions_active"].as_f64() <= Some(6.5), "its own session is not counted: {json}");
}

#[test]
fn waits_for_a_row_of_postgresql_and_the_blocking_session_are_reported() {
    let server = Postgres::start(&PostgresSettings::default()).expect("a server");
    server
        .sql("CREATE TABLE hot (id int PRIMARY KEY, n int); INSERT INTO hot VALUES (7, 0)")
        .expect("a table");
    let home = Home::new();
    let script = ONE_ROW.replace("SLEEP", "pg_sleep(0.02)");
    // Blocking sessions are queried so rarely that a busy machine may not get to it in this load.
    let json = assert_measured(|| {
        let json = load(&home, &server.admin_url(), &script, &["-c", "6"]);
        assert_locked(&json);
        json
    });
    let missing = missing(&json);
    assert!(missing.contains("shared_preload_libraries"), "the extension is not loaded: {missing}");
    let id = json["run"]["id"].as_str().expect("an id");
    let report = home.run(&["report", id]).stdout;
    assert!(report.contains("active sessions in Lock:"), "{report}");
    let shared = home.run(&["report", id, "--share", "--format", "json"]).stdout;
    assert!(shared.contains("Lock:transactionid") && !shared.contains("UPDATE hot"), "{shared}");
}

#[test]
fn waits_for_a_row_of_mariadb_are_reported_or_the_missing_privilege_is() {
    let server = MariaDb::start(&MariaDbSettings::default()).expect("a server");
    server
        .sql(
            "CREATE TABLE hot (id int PRIMARY KEY, n int); INSERT INTO hot VALUES (7, 0); \
             CREATE USER poor IDENTIFIED BY 'pw'; GRANT ALL ON tenbin.* TO poor",
        )
        .expect("a table");
    let home = Home::new();
    let script = ONE_ROW.replace("SLEEP", "sleep(0.02)");
    let json = assert_measured(|| {
        let json = load(&home, &server.admin_url(), &script, &["-c", "6"]);
        assert_locked(&json);
        json
    });
    assert!(json["database"]["per_s"]["row_lock_waits"].as_f64() > Some(1.0), "{json}");
    let json = load(&home, &server.url("poor", Some("pw")), &script, &["-c", "6"]);
    assert!(share(&json, "Executing") > 0.5, "{json}");
    assert!(missing(&json).contains("PROCESS"), "{json}");
}

#[test]
fn server_without_a_free_connection_is_loaded_without_statistics() {
    let few =
        PostgresSettings::default().with("max_connections", "5").with("superuser_reserved_connections", "0");
    let few = few.with("max_wal_senders", "0");
    let server = Postgres::start(&few).expect("a server");
    let home = Home::new();
    let json = load(&home, &server.admin_url(), "SELECT pg_sleep(0.01);\n", &["-c", "5"]);
    assert_eq!(json["outcomes"]["rejected"], 0, "{json}");
    assert_eq!(json["database"], Value::Null, "{json}");
    assert!(missing(&json).contains("too many clients"), "{json}");
    let json = load(&home, &server.admin_url(), "SELECT pg_sleep(0.01);\n", &["-c", "4"]);
    assert_eq!(json["database"], Value::Null, "{json}");
    assert!(missing(&json).contains("connections of the server are taken"), "{json}");
}

#[test]
fn role_without_rights_sees_its_own_sessions() {
    let server = Postgres::start(&PostgresSettings::default()).expect("a server");
    server.sql("CREATE ROLE poor LOGIN").expect("a role");
    let home = Home::new();
    let json = load(&home, &server.url("poor", None), "SELECT pg_sleep(0.01);\n", &["-c", "3"]);
    assert!(share(&json, "Timeout") > 0.5, "{json}");
}

/// Loads a server with one connection. `answer` answers requests for statistics, and every other request succeeds.
///
/// Requests before the load use separate connections. A pooled session forgets its prepared statements.
fn load_beside(
    is_pooled: bool,
    answer: impl Fn(&mut Peer, u32) -> io::Result<()> + Send + Sync + 'static,
) -> (Value, Duration) {
    let server = FakePostgres::start(move |peer| {
        peer.accept_login()?;
        let mut prepared = None;
        for number in 0.. {
            let (_, text) = peer.read_request()?;
            let text = String::from_utf8_lossy(&text).into_owned();
            let is_sample = text.contains("GROUP BY 1, 2, 3, 4");
            let of_name = |verb: &str| text.strip_prefix(verb)?.split([' ', '\0']).next().map(str::to_owned);
            if let Some(name) = of_name("PREPARE ").filter(|_| is_sample) {
                prepared = Some(name);
                peer.say(&[complete("PREPARE"), ready(b'I')].concat())?;
            } else if is_pooled && text.starts_with("EXECUTE ") {
                peer.say(
                    &[error_or_notice(b'E', "ERROR", "26000", "there is no such statement"), ready(b'I')]
                        .concat(),
                )?;
            } else if is_sample || of_name("EXECUTE ").is_some_and(|name| prepared == Some(name)) {
                answer(peer, number)?;
            } else if text.contains("server_version_num") {
                peer.say(
                    &[description(3), row(&["150000", "1", "100"]), complete("SELECT"), ready(b'I')].concat(),
                )?;
            } else {
                peer.say(&[one_row("1"), ready(b'I')].concat())?;
            }
        }
        Ok(())
    });
    let (server, home) = (server.expect("a port"), Home::new());
    let begun = Instant::now();
    let json = load(&home, &server.url(), "SELECT 1;\n\\sleep 10 ms\n", &["-c", "1"]);
    (json, begun.elapsed())
}

#[test]
fn server_that_floods_or_hangs_the_statistics_connection_is_still_loaded() {
    let endless = |peer: &mut Peer, _: u32| {
        peer.say(&description(6))?;
        loop {
            peer.say(&row(&["active", "Lock", "tuple", "SELECT 1", "1", "1"]))?;
        }
    };
    let silent = |_: &mut Peer, _: u32| loop {
        std::thread::sleep(Duration::from_secs(1));
    };
    let closing = |_: &mut Peer, _: u32| Err(io::ErrorKind::BrokenPipe.into());
    for (json, took) in [load_beside(false, endless), load_beside(false, silent), load_beside(false, closing)]
    {
        assert_eq!(json["outcomes"]["failed"], 0, "{json}");
        assert!(json["outcomes"]["ok"].as_u64() > Some(0), "{json}");
        assert_eq!(json["database"], Value::Null, "{json}");
        assert!(took < ENDS_WITHIN, "{took:?}");
    }
}

#[test]
fn labels_of_a_hostile_server_are_bounded_and_escaped() {
    let (json, _) = load_beside(false, |peer, number| {
        peer.say(&description(6))?;
        let long = "x".repeat(1_000);
        // One wait that is in every sample, regardless of their number, and others that are in one sample each.
        peer.say(&row(&["active", "w\u{1b}[31m", &long, "SELECT 'secret'", "1", "5000"]))?;
        for place in 0..200 {
            let wait = format!("w\u{1b}[31m{}", number * 1_000 + place);
            peer.say(&row(&["active", &wait, &long, "SELECT 'secret'", "1", "200"]))?;
        }
        peer.say(&[complete("SELECT"), ready(b'I')].concat())
    });
    let waits = json["database"]["waits"].as_array().unwrap_or_else(|| panic!("{json}"));
    assert!((2..=65).contains(&waits.len()), "{}", waits.len());
    assert_eq!(waits[0]["wait"], "other", "most of them: {json}");
    let text = json["database"].to_string();
    assert!(!text.contains("u001b") && !text.contains("secret") && text.len() < 60_000, "{text}");
}

#[test]
fn statistics_through_a_pooler_are_queried_without_prepared_statements() {
    let (json, _) = load_beside(true, |peer, _| {
        let session = row(&["active", "Lock", "tuple", "SELECT 1", "1", "1"]);
        peer.say(&[description(6), session, complete("SELECT"), ready(b'I')].concat())
    });
    assert!(json["database"]["samples"].as_u64() >= Some(2), "{json}");
    assert_eq!(share(&json, "Lock"), 1.0, "{json}");
}

#[test]
fn database_behind_an_http_server_is_watched() {
    let server = Postgres::start(&PostgresSettings::default()).expect("a server");
    let (target, home) = (built_in(), Home::new());
    let path = home.path().join("plan.yaml");
    let plan = format!(
        "question: What does it wait for?\nscenario: [ get: /status ]\nload: {{ rate: 50/s, for: 3s }}\n\
         url: {}\ndatabase: {}\n",
        url(target.address(), ""),
        server.url(Postgres::USER, None),
    );
    fs::write(&path, plan).expect("a plan");
    let output = home.run(&["run", &*path.to_string_lossy(), "--format", "json"]);
    let study = output.json();
    let database = &study["runs"][0]["database"];
    assert!(database["samples"].as_u64() >= Some(1), "{output:?}");
    assert!(database["connections_max"].as_f64() > Some(1.0), "{database}");
}

/// Rows of a table that is read as a whole for each transaction.
const WITHOUT_INDEX: &str = "\\set c random(1, 1000)\nSELECT count(t) FROM orders WHERE customer = :c;\n";

/// Loads until the machine was not what limited the load, because other programs used its cores, up to six times.
fn load_with_cores_to_spare(home: &Home, url: &str, script: &str) -> Value {
    let mut json = load(home, url, script, &["-c", "3"]);
    for _ in 0..5 {
        if json["bottleneck"]["resource"] != "machine_cpu" {
            break;
        }
        json = load(home, url, script, &["-c", "3"]);
    }
    json
}

#[track_caller]
fn assert_without_index(json: &Value, statement: &str) {
    let cause = &json["bottleneck"];
    assert_eq!(cause["resource"], "without_index", "{json}");
    let readings = cause["for"].to_string();
    assert!(readings.contains("SELECT count(t) FROM orders WHERE customer = ?"), "{cause}");
    assert_eq!(cause["next"], format!("add an index for the condition: {statement}"), "{cause}");
}

#[test]
fn statement_that_reads_a_table_without_an_index_is_named_with_the_index() {
    let rows = "CREATE TABLE orders (id int PRIMARY KEY, customer int, t varchar(9)); \
                INSERT INTO orders SELECT g, g % 1000, 'x' FROM ";
    let home = Home::new();
    let postgres = Postgres::start(&PostgresSettings::default()).expect("a server");
    postgres.sql(&format!("{rows} generate_series(1, 60000) g")).expect("a table");
    let mariadb = MariaDb::start(&MariaDbSettings::default()).expect("a server");
    mariadb.sql(&format!("{rows} (SELECT seq AS g FROM seq_1_to_60000) s")).expect("a table");
    let json = load_with_cores_to_spare(&home, &postgres.admin_url(), WITHOUT_INDEX);
    assert_without_index(&json, "CREATE INDEX ON orders (customer)");
    let json = load_with_cores_to_spare(&home, &mariadb.admin_url(), WITHOUT_INDEX);
    assert_without_index(&json, "ALTER TABLE orders ADD INDEX (customer)");
}

#[test]
fn users_of_sqlite_wait_for_the_disk_or_the_lock_and_not_in_think_time() {
    let home = Home::new();
    let file = home.path().join("a.db");
    rusqlite::Connection::open(&file).unwrap().execute_batch("CREATE TABLE t (a int)").unwrap();
    let url = format!("sqlite:{}", file.display());
    for users in ["1", "4"] {
        let json = load(&home, &url, "INSERT INTO t VALUES (1);\n", &["-c", users]);
        let waits = texts(&json, "waits", "wait");
        assert!(waits.iter().any(|wait| ["IO:fsync", "Lock:file", "CPU"].contains(wait)), "{json}");
        let cause = json["bottleneck"].to_string();
        assert!(!cause.contains("think time") && !cause.contains("was not read"), "{cause}");
        assert_ne!(json["bottleneck"]["resource"], "load", "{json}");
    }
}
