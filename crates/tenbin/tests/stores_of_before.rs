//! Stores of earlier versions can be opened, and every figure that those versions reported is still reported.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::Value;

use crate::support::Home;

/// A store that an earlier version wrote.
struct Earlier {
    /// Tables, if the dump has rows alone.
    schema: &'static str,
    dump: Cow<'static, str>,
    /// JSON that the earlier version reported, by the name of each study and of each other run.
    told: BTreeMap<String, Value>,
}

/// Stores of the versions that differ in what they store.
fn first() -> [Earlier; 2] {
    let told = |json| serde_json::from_str(json).expect("it is JSON");
    [
        Earlier {
            schema: "",
            dump: include_str!("stores/version_7.sql").into(),
            told: told(include_str!("stores/version_7.json")),
        },
        Earlier {
            schema: "",
            dump: include_str!("stores/version_14.sql").into(),
            told: told(include_str!("stores/version_14.json")),
        },
    ]
}

/// Stores of version 21, one for each kind of load and system. They share their tables.
fn kinds() -> Vec<Earlier> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores/version_21");
    let read = |path: &Path| fs::read_to_string(path).expect("it can be read");
    let files = fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut told: Vec<_> = files.filter(|path| path.extension().is_some_and(|of| of == "json")).collect();
    told.sort();
    let store = |path: PathBuf| Earlier {
        schema: include_str!("stores/version_21/schema.sql"),
        dump: read(&path.with_extension("sql")).into(),
        told: serde_json::from_str(&read(&path)).expect("it is JSON"),
    };
    told.into_iter().map(store).collect()
}

fn all() -> Vec<Earlier> {
    first().into_iter().chain(kinds()).collect()
}

const LOGGED: &str = "20261122-215707-7ktr";

impl Earlier {
    fn home(&self) -> Home {
        let home = Home::new();
        let store = Connection::open(home.store()).expect("a store");
        store.execute_batch(self.schema).expect("its tables are created");
        store.execute_batch(&self.dump).expect("it is a dump");
        home
    }
}

/// Asserts that a later report contains everything in an earlier one. Additions are ignored.
///
/// An intended change of a figure needs a line in CHANGELOG.md, and is made in the stored JSON, too.
fn assert_contains_all(path: &str, before: &Value, now: &Value) {
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => {
            for (key, value) in before {
                let now = now.get(key).unwrap_or_else(|| panic!("{path}/{key} is gone"));
                assert_contains_all(&format!("{path}/{key}"), value, now);
            }
        }
        (Value::Array(before), Value::Array(now)) if before.len() == now.len() => {
            for (place, (before, now)) in before.iter().zip(now).enumerate() {
                assert_contains_all(&format!("{path}/{place}"), before, now);
            }
        }
        // The order of a sum may differ.
        (Value::Number(before), Value::Number(now)) if before.is_f64() && now.is_f64() => {
            let [before, now] = [before, now].map(|number| number.as_f64().unwrap_or(f64::NAN));
            let is_same = (now - before).abs() <= 1e-12 * before.abs();
            assert!(is_same, "{path}: {now} now, {before} before");
        }
        _ => assert_eq!(now, before, "{path}: left: now; right: before"),
    }
}

#[test]
fn every_figure_is_reported_as_before() {
    assert_eq!(first().map(|earlier| earlier.told.len()), [3, 1], "a study and two runs; a run");
    let stores = all();
    assert!(stores.len() >= 20, "{} stores", stores.len());
    for earlier in stores {
        let home = earlier.home();
        for (name, before) in &earlier.told {
            let output = home.run(&["report", name, "--format", "json"]);
            assert_eq!(output.code, Some(0), "{name}: {}", output.stderr);
            assert_contains_all(name, before, &output.json());
        }
    }
}

#[test]
fn every_format_and_command_reads_earlier_stores() {
    for earlier in first() {
        assert_read_in_every_way(&earlier);
    }
}

fn assert_read_in_every_way(earlier: &Earlier) {
    let (home, told) = (earlier.home(), &earlier.told);
    for name in told.keys() {
        let formats: &[&str] = match name.starts_with("s-") {
            true => &["terminal", "md", "html", "csv"],
            // One of the runs logged single requests.
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
    let Some(study) = told.values().find(|told| told["runs"].is_array()) else { return };
    let of_study = &study["runs"];
    let [a, b] = [0, 1].map(|run| of_study[run]["run"]["id"].as_str().expect("a name").to_owned());
    let compared = home.run(&["compare", &a, &b]);
    assert_eq!(compared.code, Some(0), "{}", compared.stderr);
}
