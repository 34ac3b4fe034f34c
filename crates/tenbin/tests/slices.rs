//! Comparisons that are made in slices without being asked for: with gates, and with databases.

use std::collections::BTreeSet;
use std::fs;

use crate::support::{Home, Output, systems::assert_nothing_is_left};
use evidence::stage;
use harness::quiet::assert_measured;
use rusqlite::Connection;
use serde_json::Value;
use servers::{Postgres, PostgresSettings};

fn plan(home: &Home, text: &str) -> String {
    let path = home.path().join("plan.yaml");
    fs::write(&path, text).expect("written");
    path.to_string_lossy().into_owned()
}

/// Runs one block of a comparison with two slices per variant, which takes about six seconds: a block cannot be shorter. Returns its
/// report, too.
fn one_block(home: &Home, text: &str) -> (Output, Value) {
    let output = home.run(&["run", &plan(home, text), "--within", "9s", "--format", "json"]);
    let report: Value =
        serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let stages: Vec<&str> = runs(&report).iter().filter_map(|run| run["place"]["stage"].as_str()).collect();
    assert!(stages.len() >= 4 && stages.iter().all(|of| *of == stage::SLICE), "{stages:?} {}", output.stderr);
    (output, report)
}

fn runs(report: &Value) -> &[Value] {
    report["runs"].as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn gates_are_judged_on_all_slices_of_a_start() {
    assert_measured(|| {
        let home = Home::new();
        let (output, report) = one_block(
            &home,
            "scenario: [ get: '/hold?mean_us=2000' ]\nload: { users: 4, warm-up: 250ms, for: 2s }\nsystems:\n  target:\n    \
             start: '{tenbin} target --listen 127.0.0.1:{port} --threads {threads}'\n    vary: { threads: [4, 8] }\n\
             compare: { by: throughput }\ngates: [ 'p99<2s', 'errors<1%' ]\n",
        );
        assert_eq!(output.code, Some(0), "{output:?}");
        let gates = report["gates"].as_array().expect("a list");
        assert!(gates.iter().all(|gate| gate["holds"] == true), "{gates:?}");
        let judged: BTreeSet<&str> = gates.iter().filter_map(|gate| gate["run"].as_str()).collect();
        assert_eq!(judged.len() * 2, runs(&report).len(), "with the last slice of each start: {gates:?}");
        let text = home.run(&["report", report["study"]["id"].as_str().expect("a name"), "--wide"]);
        let is_of_starts =
            |line: &str| line.contains("p99<2s: held in all ") && line.trim_end().ends_with(" starts");
        assert!(text.stdout.lines().any(is_of_starts), "{text:?}");
        assert_nothing_is_left(&home);
    });
}

#[test]
fn databases_of_two_kinds_are_compared_in_slices() {
    assert_measured(|| {
        let home = Home::new();
        let postgres = Postgres::start(&PostgresSettings::default()).expect("a server");
        postgres.sql("CREATE TABLE t (n integer)").expect("a table");
        let file = Connection::open(home.path().join("bench.db")).expect("a file");
        file.execute("CREATE TABLE t (n integer)", ()).expect("a table");
        let url = postgres.url(Postgres::USER, None);
        let text = format!(
            "scenario: [ sql: INSERT INTO t VALUES (1) ]\nload: {{ users: 2, warm-up: 250ms, for: 2s }}\nsystems:\n  \
             postgres: {{ url: '{url}' }}\n  file: {{ url: 'sqlite:bench.db' }}\ncompare: {{ by: throughput }}\n"
        );
        let (output, report) = one_block(&home, &text);
        assert!(runs(&report).iter().all(|run| run["outcomes"]["ok"].as_u64() > Some(0)), "{output:?}");
    });
}

#[test]
fn variants_that_write_to_one_database_get_whole_runs_with_the_reason() {
    let home = Home::new();
    let text = "scenario: [ sql: UPDATE t SET n = n + 1 ]\nload: { users: 1, warm-up: 250ms, for: 2s }\nsystems:\n  a: { url: 'sqlite:one.db' }\n  \
                b: { url: 'sqlite:one.db?synchronous=off' }\ncompare: { by: throughput }\n";
    let checked = home.run(&["check", &plan(&home, text)]);
    let why = "in whole runs, not in slices: variants write to one store, one.db, where each finds what the other left";
    assert!(checked.stdout.contains(why), "{checked:?}");
}
