//! What two runs were asked to do: every point in which their plans differ, so that nobody takes a difference of the plans for
//! one of the systems.

use evidence::{BaselineLoad, NewRun};
use serde_json::Value;

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

/// What one of two runs was asked to do.
pub(crate) struct Asked<'a> {
    title: &'a str,
    steps: &'a [String],
    plan_json: &'a Value,
    plan_hash: &'a str,
}

impl<'a> From<&'a NewRun> for Asked<'a> {
    fn from(run: &'a NewRun) -> Self {
        let NewRun { title, steps, plan_json, plan_hash, .. } = run;
        Self { title, steps, plan_json, plan_hash }
    }
}

impl<'a> From<&'a BaselineLoad> for Asked<'a> {
    fn from(load: &'a BaselineLoad) -> Self {
        let BaselineLoad { title, steps, plan_json, plan_hash, .. } = load;
        Self { title, steps, plan_json, plan_hash }
    }
}

/// The two that are compared, in sentences.
pub(crate) const A_AND_B: [&str; 2] = ["A", "B"];

/// The points, a sentence each, not escaped; none of the same plan. Of two runs of studies with the same plan file, what Tenbin chose,
/// such as a port, is no point. `names`: what the two are called.
pub(crate) fn differences(
    first: &Asked<'_>,
    second: &Asked<'_>,
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
            let differing = OF_STEPS.iter().filter(|(key, _)| of_a[key] != of_b[key] && is_known(key));
            points.extend(differing.map(|(key, words)| {
                point(&format!("{words} of {name}"), &written(&of_a[key]), &written(&of_b[key]))
            }));
        }
    }
    let differing = OF_PLANS.iter().filter(|(key, _)| a[key] != b[key]);
    points.extend(differing.map(|(key, words)| point(words, &written(&a[key]), &written(&b[key]))));
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

fn written(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
