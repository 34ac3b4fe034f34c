//! Studies of databases: tables are created, the version and settings of the server are stored, and passwords are protected.

use std::fs;

use crate::support::{self, Home};
use rusqlite::Connection;
use serde_json::Value;
use servers::{Auth, Postgres, PostgresSettings, Tls};

fn plan(home: &Home, text: &str) -> String {
    let path = home.path().join("plan.yaml");
    fs::write(&path, text).expect("written");
    path.to_string_lossy().into_owned()
}

#[test]
fn tables_are_created_before_each_load_and_version_and_scale_are_stored() {
    let home = Home::new();
    let path = plan(
        &home,
        "question: How fast?\nscenarios:\n  read: { steps: [workload: select-only] }\n  write: { steps: [workload: tpcb-like] }\n\
         load:\n  - { name: reads, scenario: read, users: 2, requests: 50 }\n  - { name: writes, scenario: write, users: 1, requests: 7 }\n\
         systems:\n  file:\n    url: \"sqlite:{dir}/bench.db\"\n    prepare: { workload: tpcb-like, scale: 1 }\n",
    );
    let study = home.json(&["run", &path]);
    let runs = study["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 2);
    for (load, step, count) in [("reads", "select-only", 50), ("writes", "tpcb-like", 7)] {
        let run = runs.iter().find(|run| run["place"]["load"] == load).expect(load);
        assert_eq!(run["outcomes"]["ok"], count, "{run}");
        let names: Vec<&Value> =
            run["steps"].as_array().expect("steps").iter().map(|step| &step["name"]).collect();
        assert_eq!(names, [step], "the other scenario is none of its business");
        assert!(run["system"]["version"].as_str().is_some_and(|text| text.starts_with("SQLite 3.")), "{run}");
        assert_eq!(run["notes"], Value::Array(Vec::new()), "nothing went wrong");
    }
    let store = Connection::open(home.store()).expect("the store");
    let mut kept =
        store.prepare("SELECT plan_text, json_extract(plan, '$.sql.scale') FROM run").expect("a query");
    let rows = kept.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))).expect("rows");
    for row in rows {
        let (words, scale) = row.expect("a row");
        assert!(words.ends_with("; query mode simple, scale 1"), "{words}");
        assert_eq!(scale, 1);
    }
}

#[test]
fn failure_to_create_tables_is_a_failed_run_with_help() {
    let home = Home::new();
    let path = plan(
        &home,
        "question: How fast?\nscenario: [ workload: select-only ]\nload: { users: 1, requests: 1 }\n\
         url: sqlite:/nonexistent/bench.db\nprepare: { workload: select-only }\n",
    );
    let output = home.run(&["run", &path]);
    assert_ne!(output.code, Some(0), "{output:?}");
    assert!(output.stderr.contains("/nonexistent/bench.db"), "{output:?}");
    assert!(output.stderr.contains("correct url and prepare in the plan"), "{output:?}");
}

#[test]
fn unsent_transactions_are_reported_as_transactions() {
    let home = Home::new();
    fs::write(home.path().join("wait.sql"), "\\sleep 200 ms\nSELECT 1;\n").expect("written");
    let arguments =
        ["sqlite:new.db", "-f", "wait.sql", "-R", "100/s", "-c", "1", "-d", "1s", "--shed-after", "50ms"];
    Connection::open(home.path().join("new.db"))
        .and_then(|file| file.execute("CREATE TABLE t (n)", ()))
        .expect("a file");
    let output = home.run(&arguments);
    let words = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("of 100 planned transactions"), "{output:?}");
}

#[test]
fn password_is_sent_as_md5_only_if_the_url_allows_it() {
    let settings = PostgresSettings { auth: Auth::Md5, ..PostgresSettings::default() };
    let server = Postgres::start(&settings).expect("a server");
    let home = Home::new();
    fs::write(home.path().join("one.sql"), "SELECT 1;\n").expect("written");
    let url = server.url(Postgres::USER, Some(Postgres::PASSWORD));
    let refused = home.run(&[&url, "-f", "one.sql", "-n", "1"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("add require_auth=md5 to the URL"), "{refused:?}");
    let allowed = format!("{url}{}require_auth=md5", if url.contains('?') { '&' } else { '?' });
    let json = home.json(&[&allowed, "-f", "one.sql", "-n", "1"]);
    assert_eq!(json["outcomes"]["ok"], 1, "{json}");
    assert!(json["notes"].to_string().contains("without TLS"), "{json}");
}

#[test]
fn unverified_certificate_is_stamped() {
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let tls = Tls { certificate_pem: issued.cert.pem(), key_pem: issued.signing_key.serialize_pem() };
    let home = Home::new();
    let authority = home.path().join("ca.pem");
    fs::write(&authority, &tls.certificate_pem).expect("written");
    fs::write(home.path().join("one.sql"), "SELECT 1;\n").expect("written");
    let settings = PostgresSettings { tls: Some(tls), ..PostgresSettings::default() };
    let server = Postgres::start(&settings).expect("a server");
    let url = server.url(Postgres::USER, Some(Postgres::PASSWORD));
    let with = |more: &str| format!("{url}{}{more}", if url.contains('?') { '&' } else { '?' });
    for (url, is_stamped, way) in [
        (with("sslmode=prefer"), true, "over TLS"),
        (with("sslmode=require"), true, "over TLS"),
        (with(&format!("sslmode=verify-ca&sslrootcert={}", authority.display())), false, "over TLS"),
        (with("sslmode=disable"), false, "without TLS"),
    ] {
        let json = home.json(&[&url, "-f", "one.sql", "-n", "1"]);
        let stamps = json["stamps"].to_string();
        let told = stamps.contains("TLS certificates were not verified (sslmode=verify-full verifies them)");
        assert_eq!(told, is_stamped, "{url}: {stamps}");
        assert!(json["notes"].to_string().contains(way), "{json}");
    }
}

#[test]
fn check_changes_nothing_in_a_running_database() {
    let home = Home::new();
    let file = home.path().join("bench.db");
    Connection::open(&file).and_then(|file| file.execute("CREATE TABLE t (n)", ())).expect("a file");
    let before = fs::read(&file).expect("readable");
    let path = plan(
        &home,
        &format!(
            "question: How fast?\nscenario: [ workload: select-only ]\nload: {{ users: 1, requests: 1 }}\nurl: sqlite:{}\n\
             prepare: {{ workload: select-only, drop: true }}\n",
            file.display()
        ),
    );
    let mut command = std::process::Command::new(support::TENBIN);
    home.isolate(&mut command);
    command.args(["check", &path, "--start"]);
    let checked = support::Started::spawn(command).finish();
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert!(checked.stdout.contains("in the generator, file sqlite:"), "{checked:?}");
    assert!(checked.stdout.contains("before each load: create the tables of select-only"), "{checked:?}");
    assert_eq!(fs::read(&file).expect("readable"), before);
}
