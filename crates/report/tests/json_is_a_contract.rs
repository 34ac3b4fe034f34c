//! The JSON summary has the agreed keys in the agreed order, and null where a figure would be a guess.

mod runs;

use report::Options;
use serde_json::Value;
use store::Run;

fn text(runs: &[Run]) -> String {
    let mut out = Vec::new();
    report::write(report::format("json").unwrap(), runs, &Options { color: false, width: 80 }, &mut out)
        .unwrap();
    String::from_utf8(out).unwrap()
}

fn value(run: Run) -> Value {
    serde_json::from_str(&text(&[run])).unwrap()
}

/// Keys of the outermost object, in the order written.
fn keys(text: &str) -> Vec<&str> {
    let key =
        |line: &'_ str| -> Option<usize> { line.starts_with("  \"").then(|| line[3..].find('"')).flatten() };
    text.lines().filter_map(|line| Some(&line[3..3 + key(line)?])).collect()
}

#[test]
fn the_keys_of_the_contract_come_first_in_their_order() {
    let contract = [
        "schema",
        "run",
        "verdict",
        "validity",
        "offered",
        "outcomes",
        "throughput_per_s",
        "received_bytes",
        "sent_bytes",
        "response_time_us",
        "service_time_us",
        "lateness_us",
        "steps",
        "errors",
        "generator",
        "system",
    ];
    for run in [runs::normal(), runs::every_kind_of_error(), runs::empty(), runs::cut_short()] {
        let text = text(&[run]);
        assert_eq!(keys(&text)[..contract.len()], contract);
    }
    assert_eq!(keys(&text(&[runs::normal(), runs::late()])), ["schema", "runs", "comparison", "bottlenecks"]);
}

#[test]
fn accounts_balance() {
    for run in [runs::normal(), runs::every_kind_of_error(), runs::empty(), runs::cut_short(), runs::late()] {
        let value = value(run);
        for part in [&value, &value["steps"][0], &value["warm_up"]] {
            let number = |pointer: &str| part.pointer(pointer).unwrap().as_u64().unwrap();
            assert_eq!(number("/offered/planned"), number("/offered/sent") + number("/offered/not_sent"));
            let ends = ["ok", "refused", "failed", "timed_out", "unfinished"];
            let ended: u64 = ends.iter().map(|end| number(&format!("/outcomes/{end}"))).sum();
            assert_eq!(number("/offered/sent"), ended);
        }
    }
}

#[test]
fn an_empty_run_has_nulls_and_no_guesses() {
    let value = value(runs::empty());
    assert_eq!(value["throughput_per_s"], Value::Null);
    for key in ["min", "mean", "p50", "p99_99", "max"] {
        assert_eq!(value["response_time_us"][key], Value::Null, "{key}");
    }
    assert_eq!(value["verdict"], "aborted");
    assert_eq!(value["validity"]["verdict"], "invalid");
}

#[test]
fn a_percentile_of_too_few_samples_is_null() {
    let value = value(runs::cut_short());
    let times = &value["response_time_us"];
    assert!(times["p90"].is_number() && times["max"].is_number());
    assert!(times["p95"].is_null(), "150 samples have 7.5 above");
}

#[test]
fn a_run_without_an_ending_is_partial_and_suspect() {
    let value = value(runs::cut_short());
    assert_eq!((&value["verdict"], &value["validity"]["verdict"]), (&"partial".into(), &"suspect".into()));
    assert_eq!(value["outcomes"]["unfinished"], 20);
    assert_eq!(value["generator"]["threads"], Value::Null);
}

#[test]
fn errors_are_sorted_and_those_that_did_not_fit_come_last() {
    let value = value(runs::every_kind_of_error());
    let errors = value["errors"].as_array().unwrap();
    let classes: Vec<_> = errors.iter().map(|error| error["class"].as_str().unwrap()).collect();
    assert_eq!(classes, ["status", "check", "reset", "timeout_headers", "others"]);
    assert_eq!(errors[0]["count"], 96);
}

#[test]
fn what_is_known_of_the_system_is_put_together() {
    let value = value(runs::every_kind_of_error());
    let system = &value["system"];
    assert_eq!(
        [&system["name"], &system["variant"], &system["version"], &system["knobs"]["workers"]],
        ["puma", "workers=8 threads=16", "puma version 6.6.0", "8"]
    );
    // Seconds 1 to 3: second 0 is warm-up.
    assert_eq!(system["cpu_s"], 3.0 * 0.875);
    assert_eq!(system["rss_peak_bytes"], 180_000_000);
    assert_eq!((&system["pid"], &system["cores_used"]), (&4242.into(), &0.875.into()));
    assert_eq!(system["processes"][0]["name"], "app");
    let alone = self::value(runs::normal());
    assert_eq!(alone["system"], Value::Null);
}
