//! Stores that an earlier program wrote are opened, and every figure that it told of them is still told.

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde_json::Value;

use crate::support::Home;

/// A store, and what the program that wrote it said of its study and its other runs in JSON.
const STORE: &str = include_str!("stores/version_7.sql");
const TOLD: &str = include_str!("stores/version_7.json");
const LOGGED: &str = "20261122-215707-7ktr";

fn home() -> Home {
    let home = Home::new();
    Connection::open(home.store()).expect("a store").execute_batch(STORE).expect("it is a dump");
    home
}

/// Asserts that everything in a report is in a later one. What is new there is not looked at. A figure that is meant to change
/// has a line in CHANGELOG.md, and is changed in the file.
fn assert_told(path: &str, before: &Value, now: &Value) {
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => {
            for (key, value) in before {
                let now = now.get(key).unwrap_or_else(|| panic!("{path}/{key} is gone"));
                assert_told(&format!("{path}/{key}"), value, now);
            }
        }
        (Value::Array(before), Value::Array(now)) if before.len() == now.len() => {
            for (place, (before, now)) in before.iter().zip(now).enumerate() {
                assert_told(&format!("{path}/{place}"), before, now);
            }
        }
        _ => assert_eq!(now, before, "{path}: left: now; right: before"),
    }
}

#[test]
fn every_figure_is_told_as_before() {
    let home = home();
    let told: BTreeMap<String, Value> = serde_json::from_str(TOLD).expect("it is JSON");
    assert_eq!(told.len(), 3, "a study and two runs");
    for (name, before) in &told {
        let output = home.run(&["report", name, "--format", "json"]);
        assert_eq!(output.code, Some(0), "{name}: {}", output.stderr);
        assert_told(name, before, &output.json());
    }
}

#[test]
fn every_format_and_command_reads_it() {
    let home = home();
    let told: BTreeMap<String, Value> = serde_json::from_str(TOLD).expect("it is JSON");
    for name in told.keys() {
        let formats: &[&str] = match name.starts_with("s-") {
            true => &["terminal", "md", "html", "csv"],
            // One run of them kept single requests.
            false if name == LOGGED => &["terminal", "md", "html", "csv", "hlog", "jtl"],
            false => &["terminal", "md", "html", "csv", "hlog"],
        };
        for format in formats {
            let output = home.run(&["report", name, "--format", format]);
            assert_eq!(output.code, Some(0), "{name} {format}: {}", output.stderr);
            assert!(!output.stdout.is_empty() && !output.stdout.contains("NaN"), "{name} {format}");
        }
    }
    let history = home.run(&["history", "--runs"]);
    assert!(told.keys().all(|name| history.stdout.contains(name.as_str())), "{}", history.stdout);
    let of_study = &told.values().next_back().expect("a study")["runs"];
    let [a, b] = [0, 1].map(|run| of_study[run]["run"]["id"].as_str().expect("a name").to_owned());
    let compared = home.run(&["compare", &a, &b]);
    assert_eq!(compared.code, Some(0), "{}", compared.stderr);
}
