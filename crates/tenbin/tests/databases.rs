//! Real databases: transactions are counted, missing things are reported, and passwords are shown nowhere.

use std::fs;
use std::time::Duration;

use crate::support::{self, Home};
use serde_json::Value;
use servers::{Auth, MariaDb, MariaDbSettings, Postgres, PostgresSettings};

/// Max time until a rejection is reported.
const AT_ONCE: Duration = Duration::from_secs(5);

#[track_caller]
fn assert_counted(json: &Value, planned: u64) {
    let count = |pointer: &str| json.pointer(pointer).and_then(Value::as_u64).expect(pointer);
    assert_eq!(count("/offered/planned"), planned, "{json}");
    assert_eq!(count("/offered/planned"), count("/offered/sent") + count("/offered/not_sent"));
    let outcomes = ["ok", "rejected", "failed", "timed_out", "unfinished"];
    let ended: u64 = outcomes.iter().map(|name| count(&format!("/outcomes/{name}"))).sum();
    assert_eq!(count("/offered/sent"), ended, "{json}");
    assert_eq!(count("/outcomes/ok"), planned, "{json}");
}

/// Asserts that no file of the store contains the password.
#[track_caller]
fn assert_secret(home: &Home, password: &str) {
    let entries = fs::read_dir(home.path()).expect("the folder");
    for path in entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file()) {
        let bytes = fs::read(&path).expect("readable");
        let has_it = bytes.windows(password.len()).any(|part| part == password.as_bytes());
        assert!(!has_it, "{} has the password", path.display());
    }
}

fn preparing(home: &Home, url: &str, more: &[&str]) -> support::Started {
    let mut command = std::process::Command::new(support::TENBIN);
    home.isolate(&mut command);
    command.arg("prepare").arg(url).args(more);
    support::Started::spawn(command)
}

fn prepare(home: &Home, url: &str, more: &[&str]) {
    let output = preparing(home, url, more).finish();
    assert_eq!(output.code, Some(0), "{output:?}");
}

#[test]
fn transactions_on_postgresql_are_counted_and_the_password_is_not_stored() {
    let settings = PostgresSettings { auth: Auth::Scram, ..PostgresSettings::default() };
    let server = Postgres::start(&settings).expect("a server");
    let (home, password) = (Home::new(), "sesame-8fb1");
    server.sql(&format!("CREATE ROLE tester LOGIN SUPERUSER PASSWORD '{password}'")).expect("a role");
    let url = server.url("tester", Some(password));
    prepare(&home, &url, &["--workload", "tpcb-like", "--scale", "1"]);
    for mode in ["simple", "extended", "prepared"] {
        let arguments = [&url, "--workload", "select-only", "-c", "4", "-n", "200", "--query-mode", mode];
        let json = home.json(&arguments);
        assert_counted(&json, 200);
        assert!(!json.to_string().contains(password), "{json}");
        assert!(json.to_string().contains(&format!("query mode {mode}, scale 1")), "{json}");
    }
    let json = home.json(&[
        &url,
        "--workload",
        "tpcb-like@2",
        "--workload",
        "simple-update",
        "-c",
        "2",
        "-n",
        "40",
        "--max-tries",
        "0",
    ]);
    assert_counted(&json, 40);
    assert_eq!(json["steps"][0]["statements"].as_array().map(Vec::len), Some(7), "{json}");
    assert_eq!(server.sql("SELECT count(*) FROM pgbench_history").expect("a number").trim(), "40");
    let output = home.run(&[&url, "--workload", "tpcb-like", "-c", "2", "-d", "200ms"]);
    let page = home.run(&["report", "last", "--format", "html", "-o", "page.html"]);
    for text in [&output.stdout, &output.stderr, &page.stdout, &page.stderr] {
        assert!(!text.contains(password), "{text}");
    }
    assert_secret(&home, password);

    // The password is "sesame", hashed in 150,000 iterations: eight connections compute them once.
    let stretched = "SCRAM-SHA-256$150000:MDEyMzQ1Njc4OWFiY2RlZg==$V9JC1H9sxmAzyW6sgKuHYqy92ml54AI3ip4rtTBc0K8=:\
        6efD5ICeqEK70+rwF/690uG5HuLP/WRUU8/0ZpMPkxE=";
    server.sql(&format!("CREATE ROLE slow LOGIN SUPERUSER PASSWORD '{stretched}'")).expect("a role");
    let url = server.url("slow", Some("sesame"));
    assert_counted(&home.json(&[&url, "--workload", "select-only", "-c", "8", "-n", "80"]), 80);
}

#[test]
fn load_on_partly_filled_tables_is_rejected() {
    let (server, home) = (Postgres::start(&PostgresSettings::default()).expect("a server"), Home::new());
    let url = server.admin_url();
    let interrupted = preparing(&home, &url, &["--workload", "oltp-read-write", "--table-size", "5000000"]);
    support::until("a table is there", || {
        server
            .sql("SELECT count(*) FROM pg_class WHERE relname = 'sbtest1'")
            .is_ok_and(|found| found.trim() == "1")
    });
    interrupted.signal(rustix::process::Signal::KILL);
    let _ = interrupted.finish();
    let load = |size: &str| {
        let output = home.run(&[&url, "--workload", "oltp-read-write", "--table-size", size, "-n", "9"]);
        assert_eq!(output.code, Some(1), "{output:?}");
        output.stderr
    };
    let said = load("5000000");
    assert!(said.contains("did not end (sbtest, 1 tables of 5000000 rows, seed 1)"), "{said}");
    assert!(said.contains("--workload oltp-read-write --tables 1 --table-size 5000000 --drop`"), "{said}");

    prepare(&home, &url, &["--workload", "oltp-read-write", "--table-size", "1000", "--drop"]);
    assert_counted(
        &home.json(&[&url, "--workload", "oltp-read-write", "--table-size", "1000", "-n", "9"]),
        9,
    );
    assert!(load("1000000").contains("sbtest1 has rows up to id 1000, and the load assumes 1000000"));
    server.sql("DELETE FROM sbtest1 WHERE id % 2 = 0").expect("a deletion");
    assert!(load("1000").contains("sbtest1 has 500 rows, and the load assumes 1000"));
    prepare(&home, &url, &["--workload", "tpcb-like"]);
    server.sql("DELETE FROM pgbench_accounts WHERE aid > 50000").expect("a deletion");
    let said = home.run(&[&url, "--workload", "tpcb-like", "-n", "9"]).stderr;
    assert!(said.contains("pgbench_accounts has 50000 rows, and the load assumes 100000"), "{said}");
    assert!(said.contains("--workload tpcb-like --scale 1 --drop`, which drops them first"), "{said}");
}

#[test]
fn missing_things_on_postgresql_are_reported_at_once_with_help() {
    let settings =
        PostgresSettings { auth: Auth::Scram, ..PostgresSettings::default() }.with("max_connections", "12");
    let server = Postgres::start(&settings).expect("a server");
    let home = Home::new();
    let told = |url: &str, more: &[&str], expected: &str| {
        let output = home.run(&[&[url][..], more].concat());
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(output.stderr.contains(expected), "{output:?}");
        assert!(output.took < AT_ONCE && output.stdout.is_empty(), "{output:?}");
        assert!(!output.stderr.contains("sesame"), "{output:?}");
    };
    let wrong = server.url(Postgres::USER, Some("sesame"));
    told(&wrong, &["--workload", "select-only", "-n", "1"], "password authentication failed");
    assert_eq!(server.log().matches("password authentication failed").count(), 1, "one attempt, no more");
    let own = server.admin_url();
    told(&own, &["--workload", "select-only", "-c", "2", "-n", "1"], "--workload select-only --scale 10`");
    told(&own, &["--workload", "sign-up", "-c", "20", "-n", "1"], "the server takes 12 connections");
    assert_eq!(home.history(), Vec::<Value>::new());
}

#[test]
fn open_load_on_postgresql_opens_connections_as_needed_up_to_the_free_ones() {
    let server =
        Postgres::start(&PostgresSettings::default().with("max_connections", "200")).expect("a server");
    let home = Home::new();
    let script = home.path().join("sleep.sql");
    fs::write(&script, "SELECT pg_sleep(0.3);\n").expect("written");
    let load = |per_s: &str| {
        let script = script.to_string_lossy();
        home.json(&[&server.admin_url(), "-f", &script, "-R", per_s, "-d", "2s", "--timeout", "20s"])
    };
    let opened = |run: &Value| run["connections"].as_u64().expect("a count");
    let enough = load("190/s");
    assert!((51..198).contains(&opened(&enough)), "{enough}");
    assert!(!enough["notes"].to_string().contains("the limit of"), "{enough}");
    let short = load("1000/s");
    assert!((190..=198).contains(&opened(&short)), "{short}");
    assert!(
        short["notes"].to_string().contains("the server had no more free: raise its max_connections"),
        "{short}"
    );
    for run in [enough, short] {
        assert_eq!(run["errors"], Value::Array(Vec::new()), "no log-in is refused: {run}");
    }
}

#[test]
fn transactions_on_mariadb_are_counted() {
    let server = MariaDb::start(&MariaDbSettings::default()).expect("a server");
    let (home, url) = (Home::new(), server.admin_url());
    let tables = ["--workload", "oltp-read-write", "--tables", "2", "--table-size", "500"];
    prepare(&home, &url, &tables);
    let json = home.json(&[&[url.as_str()][..], &tables, &["-c", "4", "-n", "100"]].concat());
    assert_counted(&json, 100);
    assert!(!json.to_string().contains(MariaDb::PASSWORD), "{json}");
    assert_secret(&home, MariaDb::PASSWORD);
    let output = home.run(&[url.as_str(), "--workload", "select-only", "-n", "1"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains("create the tables with `tenbin prepare mysql://"), "{output:?}");
}

#[test]
fn tables_of_another_workload_are_reported_before_the_load() {
    let mariadb = MariaDb::start(&MariaDbSettings::default()).expect("a server");
    let postgres = Postgres::start(&PostgresSettings::default()).expect("a server");
    let home = Home::new();
    let file = format!("sqlite:{}", home.path().join("tables.sqlite").display());
    for url in [&mariadb.admin_url(), &postgres.admin_url(), &file] {
        for (there, asked, columns) in [
            ("oltp-read-write", "bulk-insert", "bulk-insert needs (id, k, and no others)"),
            ("bulk-insert", "oltp-point-select", "oltp-point-select needs (id, k, c, pad)"),
        ] {
            prepare(&home, url, &["--workload", there, "--fresh"]);
            let output = home.run(&[url, "--workload", asked, "-n", "1"]);
            assert_eq!(output.code, Some(1), "{output:?}");
            let told =
                ["sbtest1 does not have the columns that ", columns, "--workload ", asked, " --fresh`"];
            assert!(told.iter().all(|part| output.stderr.contains(part)), "{output:?}");
            let output = home.run(&[url, "--workload", there, "-n", "1"]);
            assert_eq!(output.code, Some(0), "{output:?}");
        }
    }
    assert_eq!(home.history().len(), 6, "only loads on their own tables were begun");
}

#[test]
fn pause_beyond_the_idle_timeout_of_mariadb_is_reported() {
    let server = MariaDb::start(&MariaDbSettings::default()).expect("a server");
    let home = Home::new();
    let path = home.path().join("idle.sql");
    fs::write(&path, "SET SESSION wait_timeout = 1;\nBEGIN;\n\\sleep 60 s\nCOMMIT;\n").expect("a script");
    let output =
        home.run(&[&server.admin_url(), "-f", &*path.to_string_lossy(), "-n", "1", "--format", "json"]);
    let json = output.json();
    assert_eq!(json["outcomes"]["failed"], 1, "{json}");
    assert_eq!(support::errors(&json, "closed_in_pause"), 1, "{json}");
}

/// Runs statements that always time out. `running` returns the number of them on the server.
fn assert_cancelled_statements_end(url: &str, script: &str, running: &dyn Fn() -> u64) {
    let home = Home::new();
    let path = home.path().join("slow.sql");
    fs::write(&path, script).expect("a script");
    let path = path.to_string_lossy();
    let load =
        home.start(&[url, "-f", &*path, "-c", "5", "--timeout", "400ms", "-n", "40", "--format", "json"]);
    let mut most = 0;
    for _ in 0..20 {
        most = running().max(most);
        std::thread::sleep(Duration::from_millis(100));
    }
    let output = load.finish();
    // Statements of five users, and for a moment those that are being canceled.
    assert!((1..=10).contains(&most), "{most} statements at once, {output:?}");
    assert_eq!(running(), 0, "{output:?}");
    let json: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(json["outcomes"]["timed_out"], 40, "{json}");
    assert!(!output.stdout.contains("not_canceled"), "{json}");
}

#[test]
fn timed_out_statements_end_on_the_server() {
    let server = MariaDb::start(&MariaDbSettings::default()).expect("a server");
    let url = server.admin_url();
    let count = |answer: String| answer.trim().parse().expect("a number");
    assert_cancelled_statements_end(&url, "SELECT sleep(20);", &|| {
        let question = "SELECT count(*) FROM information_schema.processlist WHERE info LIKE '%sleep(20)%'";
        count(server.sql(&format!("{question} AND id <> connection_id()")).expect("a number"))
    });
    let server = Postgres::start(&PostgresSettings::default()).expect("a server");
    let url = server.admin_url();
    assert_cancelled_statements_end(&url, "SELECT pg_sleep(20);", &|| {
        let question =
            "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%sleep(20)%'";
        count(server.sql(&format!("{question} AND pid <> pg_backend_pid()")).expect("a number"))
    });
}

#[test]
fn transactions_on_sqlite_are_counted() {
    let home = Home::new();
    let missing = home.run(&["sqlite:bench.db", "--workload", "select-only", "-n", "1"]);
    assert_eq!(missing.code, Some(1), "{missing:?}");
    assert!(missing.stderr.contains("tenbin prepare"), "{missing:?}");
    prepare(&home, "sqlite:bench.db", &["--workload", "select-only"]);
    let load = ["--workload", "oltp-insert", "--tables", "2", "--table-size", "77", "-n", "1"];
    let missing = home.run(&[&["sqlite:bench.db"][..], &load].concat());
    let step = "`tenbin prepare sqlite:bench.db --workload oltp-insert --tables 2 --table-size 77`";
    assert!(missing.stderr.contains(step), "{missing:?}");
    let url = "sqlite:bench.db?journal_mode=wal&synchronous=normal&busy_timeout=10s";
    assert_counted(&home.json(&[url, "--workload", "select-only", "-c", "3", "-n", "90"]), 90);
    assert_counted(&home.json(&[url, "--workload", "tpcb-like", "-c", "2", "-n", "20"]), 20);
    let report = home.run(&["report"]);
    assert!(report.stdout.contains("ok/s") && !report.stdout.contains("KB/s"), "{report:?}");
}

#[test]
fn runtime_error_of_a_script_is_reported_as_one() {
    let home = Home::new();
    fs::write(home.path().join("zero.sql"), "SELECT 1;\n\\set a 1/0\n").expect("written");
    prepare(&home, "sqlite:zero.db", &["--workload", "sign-up"]);
    let output = home.run(&["sqlite:zero.db", "-f", "zero.sql", "-c", "1", "-n", "3"]);
    assert_eq!(output.code, Some(4), "{output:?}");
    for told in ["zero.sql:2: division by zero", "the load could not continue", "correct the script"] {
        assert!(output.stdout.contains(told), "{told}: {output:?}");
    }
    assert!(!output.stdout.contains("measured itself"), "{output:?}");
}

#[test]
fn unsuitable_flags_are_reported_together_and_script_errors_with_a_caret() {
    let home = Home::new();
    fs::write(home.path().join("bad.sql"), "\\set a random(1, 10\nSELECT 1;\n").expect("written");
    let output = home.run(&[
        "postgres://u:sesame@127.0.0.1:1/d",
        "-f",
        "bad.sql",
        "-H",
        "a: b",
        "--query-mode",
        "fast",
        "--max-tries",
        "-1",
        "--tables",
        "2",
        "-R",
        "5/s",
        "--pool",
        "1",
    ]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""), "{output:?}");
    let output_of_socket =
        home.run(&["mysql://u@127.0.0.1:1/d", "--unix-socket", "/run/my.sock", "-f", "bad.sql"]);
    assert!(
        output_of_socket.stderr.contains("mysql://USER@localhost/DB?socket=PATH"),
        "{output_of_socket:?}"
    );
    for told in [
        "-H: it applies to HTTP requests",
        "bad.sql:1",
        "^ error found here",
        "--query-mode: unknown query mode \"fast\"",
        "--max-tries",
        "--tables: none of the workloads has this variable",
        "--pool: with -R or --stages, -c sets the number of connections",
        "errors; nothing was sent",
    ] {
        assert!(output.stderr.contains(told), "{told}: {output:?}");
    }
    assert!(!output.stderr.contains("sesame"), "{output:?}");
    let output = home.run(&["http://127.0.0.1:1/", "--workload", "select-only", "--scale", "2"]);
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(
        output.stderr.contains("--workload: it applies to databases")
            && output.stderr.contains("--scale: it applies")
    );
    let output = home.run(&["postgres://u@127.0.0.1:1/d"]);
    assert!(output.stderr.contains("no workload and no script is given"), "{output:?}");
    let output = home.run(&["postgres://u@8.8.8.8/d", "-f", "bad.sql"]);
    assert_eq!(output.code, Some(2), "{output:?}");
}
