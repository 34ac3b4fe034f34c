//! What two runs were asked to do: every point in which their plans differ, so that nobody takes a difference of the plans for
//! one of the systems.

use serde_json::Value;
use store::NewRun;

use crate::text::shortened;

/// Characters of what one side has.
const VALUE_CHARACTERS_MAX: usize = 60;
/// Points that are reported.
const POINTS_MAX: usize = 12;

/// What earlier versions did not keep.
const PATH: &str = "path";
/// Of a request or transaction, as the plan is kept, and how it is called. Hosts differ where systems do.
const OF_STEPS: [(&str, &str); 8] = [
    ("method", "method"),
    (PATH, "path"),
    ("headers", "headers"),
    ("body_bytes", "bytes of the body"),
    ("keep_alive", "keep-alive"),
    ("expect", "expected reply"),
    ("saves", "saved values"),
    ("script", "script"),
];
/// The same of the plan. The load is in words of its own, and a seed makes no other plan.
const OF_PLANS: [(&str, &str); 9] = [
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

/// What is said where a difference is known, and not which.
const UNKNOWN: &str = "A and B are not of the same plan; it is not kept in what they differ.";

/// The points of two runs of studies whose plan files are the same, or are not. What Tenbin chose, such as a port, is no point.
pub(super) fn differences_in_studies(first: &NewRun, second: &NewRun, is_same_file: bool) -> Vec<String> {
    let mut points = differences(first, second);
    points.retain(|point| !is_same_file || point != UNKNOWN);
    points
}

/// The points, a sentence each, not escaped; none of the same plan.
pub(super) fn differences(first: &NewRun, second: &NewRun) -> Vec<String> {
    let [a, b] = [&first.plan_json, &second.plan_json];
    let mut points = Vec::new();
    let steps = [first, second].map(|run| run.steps.join(", "));
    if steps[0] != steps[1] {
        points.push(point("steps", &steps[0], &steps[1]));
    }
    if let (Some(of_a), Some(of_b)) = (a["steps"].as_array(), b["steps"].as_array()) {
        for ((of_a, of_b), name) in of_a.iter().zip(of_b).zip(&first.steps) {
            let is_known = |key: &str| key != PATH || !(of_a[key].is_null() || of_b[key].is_null());
            let differing = OF_STEPS.iter().filter(|(key, _)| of_a[key] != of_b[key] && is_known(key));
            points.extend(differing.map(|(key, words)| {
                point(&format!("{words} of {name}"), &written(&of_a[key]), &written(&of_b[key]))
            }));
        }
    }
    let differing = OF_PLANS.iter().filter(|(key, _)| a[key] != b[key]);
    points.extend(differing.map(|(key, words)| point(words, &written(&a[key]), &written(&b[key]))));
    if points.is_empty() && first.title == second.title && first.plan_hash != second.plan_hash {
        points.push(UNKNOWN.to_owned());
    }
    if let Some(more @ 1..) = points.len().checked_sub(POINTS_MAX) {
        points.truncate(POINTS_MAX);
        points.push(format!("The plans differ in {more} more points."));
    }
    points
}

fn point(what: &str, a: &str, b: &str) -> String {
    let [a, b] = [a, b].map(|side| shortened(side, VALUE_CHARACTERS_MAX));
    format!("The plans differ: {what}: A {a}, B {b}.")
}

fn written(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
