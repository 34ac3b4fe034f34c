//! Differences between the plans of two runs, so that they are not mistaken for differences between the systems.

use evidence::{BaselineLoad, NewRun};
use serde_json::Value;

use crate::text::shortened;

/// Maximum number of characters of a value.
const VALUE_CHARACTERS_MAX: usize = 60;
/// Maximum number of differences that are reported.
const POINTS_MAX: usize = 12;

/// Key that earlier versions did not store.
const PATH: &str = "path";
/// Keys of a request or transaction in a stored plan, and their names. Hosts are omitted, because different systems have different hosts.
const STEP_KEYS: [(&str, &str); 8] = [
    ("method", "method"),
    (PATH, "path"),
    ("headers", "headers"),
    ("body_bytes", "bytes of the body"),
    ("keep_alive", "keep-alive"),
    ("expect", "expected reply"),
    ("saves", "saved values"),
    ("script", "script"),
];
/// Keys of a stored plan, and their names. The load is compared as text, and the seed does not matter.
const PLAN_KEYS: [(&str, &str); 9] = [
    ("scenarios", "order of the steps"),
    ("data", "data"),
    ("sql", "transactions"),
    ("tls", "TLS"),
    ("warm_up_ns", "warm-up (ns)"),
    ("timeout_ns", "time-out (ns)"),
    ("connect_timeout_ns", "time-out of connecting (ns)"),
    ("threads", "threads of the generator"),
    ("pin", "cores of the generator"),
];

/// Work that a plan defines for a run.
pub(crate) struct PlannedWork<'a> {
    title: &'a str,
    steps: &'a [String],
    plan_json: &'a Value,
    plan_hash: &'a str,
}

impl<'a> From<&'a NewRun> for PlannedWork<'a> {
    fn from(run: &'a NewRun) -> Self {
        let NewRun { title, steps, plan_json, plan_hash, .. } = run;
        Self { title, steps, plan_json, plan_hash }
    }
}

impl<'a> From<&'a BaselineLoad> for PlannedWork<'a> {
    fn from(load: &'a BaselineLoad) -> Self {
        let BaselineLoad { title, steps, plan_json, plan_hash, .. } = load;
        Self { title, steps, plan_json, plan_hash }
    }
}

/// Names of the two runs in sentences.
pub(crate) const A_AND_B: [&str; 2] = ["A", "B"];

/// Differences, one sentence each, not escaped. Empty if the plans are equal.
///
/// If `is_same_file` is true, both runs belong to studies with the same plan file, and values that Tenbin chose, such as ports, are
/// ignored. `names` are the names of the two runs.
pub(crate) fn differences(
    first: &PlannedWork<'_>,
    second: &PlannedWork<'_>,
    is_same_file: bool,
    names: [&str; 2],
) -> Vec<String> {
    let [a, b] = [&first.plan_json, &second.plan_json];
    let point = |what: &str, a: &str, b: &str| point(what, [a, b], names);
    let mut points = Vec::new();
    let steps = [first, second].map(|run| run.steps.join(", "));
    if steps[0] != steps[1] {
        points.push(point("steps", &steps[0], &steps[1]));
    }
    if let (Some(of_a), Some(of_b)) = (a["steps"].as_array(), b["steps"].as_array()) {
        for ((of_a, of_b), name) in of_a.iter().zip(of_b).zip(first.steps) {
            let is_known = |key: &str| key != PATH || !(of_a[key].is_null() || of_b[key].is_null());
            let differing = STEP_KEYS.iter().filter(|(key, _)| of_a[key] != of_b[key] && is_known(key));
            points.extend(differing.map(|(key, words)| {
                point(&format!("{words} of {name}"), &format_value(&of_a[key]), &format_value(&of_b[key]))
            }));
        }
    }
    let differing = PLAN_KEYS.iter().filter(|(key, _)| a[key] != b[key]);
    points.extend(differing.map(|(key, words)| point(words, &format_value(&a[key]), &format_value(&b[key]))));
    let is_of_one = is_same_file || first.plan_hash == second.plan_hash;
    if points.is_empty() && first.title == second.title && !is_of_one {
        let [a, b] = names;
        points.push(format!("{a} and {b} are not of the same plan; it is not kept in what they differ."));
    }
    if let Some(more @ 1..) = points.len().checked_sub(POINTS_MAX) {
        points.truncate(POINTS_MAX);
        points.push(format!("The plans differ in {more} more points."));
    }
    points
}

fn point(what: &str, values: [&str; 2], [first, second]: [&str; 2]) -> String {
    let [a, b] = values.map(|side| shortened(side, VALUE_CHARACTERS_MAX));
    format!("The plans differ: {what}: {first} {a}, {second} {b}.")
}

fn format_value(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
