//! Searches for the capacity of systems with a known limit. No search reports more than its runs show.

use std::fs;
use std::time::Duration;

use crate::support::systems::assert_nothing_is_left;
use crate::support::{Home, number, until};
use rustix::process::Signal;
use serde_json::Value;

/// Four workers that hold each request for 10 ms answer at most 400 requests per second.
const TARGET: &str = "start: '{tenbin} target --listen 127.0.0.1:{port} --workers {workers} --threads 1'";
const MOST_PER_S: f64 = 400.0;
const LIMIT: Duration = Duration::from_secs(120);

/// Writes a plan with one variant for each number of workers. It has a seed: runs are short, and other arrivals may find another
/// limit.
fn plan(home: &Home, workers: &str, load: &str) -> String {
    let path = home.path().join("plan.yaml");
    let text = format!(
        "seed: 1\nscenario:\n  - get: /hold?mean_us=10000\nload: {load}\nsystems:\n  web:\n    {TARGET}\n    vary: {{ workers: [{workers}] }}\n"
    );
    fs::write(&path, text).expect("written");
    path.to_string_lossy().into_owned()
}

/// Study that a search with these flags prints as JSON.
#[track_caller]
fn search(home: &Home, path: &str, flags: &[&str]) -> Value {
    let arguments = [&["capacity", path, "--no-overload", "--format", "json"][..], flags].concat();
    let output = home.start(&arguments).finish_within(LIMIT);
    assert!(matches!(output.code, Some(0 | 4)), "{output:?}");
    output.json()
}

/// Whether the search reports that the machine was too busy. Then it must not claim to have confirmed both ends.
#[track_caller]
fn was_not_fit(found: &Value) -> bool {
    let is_too_busy = found["end"] == "not_fit";
    assert!(!is_too_busy || found["is_confirmed"] == false || found["failed_per_s"].is_null(), "{found}");
    is_too_busy
}

fn per_s(capacity: &Value, key: &str) -> f64 {
    capacity[key].as_f64().unwrap_or_else(|| panic!("{key} is not known: {capacity}"))
}

#[test]
fn capacity_is_between_the_highest_passing_and_the_lowest_failing_rate() {
    let home = Home::new();
    let path = plan(&home, "4", "{ users: 16, for: 1s, warm-up: 300ms }");
    let flags =
        ["--slo", "p99<100ms", "--slo", "errors<0.1%", "--quick", "--resolution", "40%", "--confirm", "1"];
    let study = search(&home, &path, &flags);
    let found = &study["capacity"][0];
    assert_nothing_is_left(&home);
    if was_not_fit(found) {
        return;
    }
    let (held, failed) = (per_s(found, "held_per_s"), per_s(found, "failed_per_s"));
    // The search is coarse and short, and the machine may be busy. The tolerance allows for that.
    assert!(held > MOST_PER_S * 0.25 && held < MOST_PER_S * 1.1, "{found}");
    assert!(failed > held && failed <= held * 4.0, "{found}");
    assert_eq!(found["objectives"], serde_json::json!(["p99<100ms", "errors<0.1%"]), "{found}");
    assert!(found["failed_by"].as_str().is_some_and(|words| !words.is_empty()), "{found}");
    assert_eq!(found["end"], "found", "{found}");
    assert_eq!(study["study"]["is_quick"], true, "a short form says so: {study}");
    assert_eq!(number(found, "runs"), study["runs"].as_array().expect("a list").len() as u64);
    assert!(found["sizing"].as_array().is_some_and(|sizes| sizes.len() >= 3), "{found}");
    let stages = found["levels"].to_string();
    for stage in ["bracket", "confirm"] {
        assert!(stages.contains(stage), "{stage}: {found}");
    }
    // The stored result is equal, and the study is complete.
    assert_eq!(home.json(&["report", study["study"]["id"].as_str().expect("a name")])["capacity"][0], *found);
    let again = home.run(&[&["capacity", &path, "--no-overload", "--resume"][..], &flags].concat());
    assert_eq!(again.code, Some(2), "{again:?}");
    assert_nothing_is_left(&home);
}

#[test]
fn system_that_fails_at_every_rate_is_reported() {
    let home = Home::new();
    let path = plan(&home, "4", "{ rate: 10/s, for: 1s }");
    let study = search(&home, &path, &["--slo", "p99<5ms", "--from", "50/s", "--quick"]);
    let found = &study["capacity"][0];
    if was_not_fit(found) {
        return;
    }
    assert_eq!(found["end"], "nothing_holds", "{found}");
    assert_eq!(study["ending"], "nothing_holds", "a search has no gate: {study}");
    assert!(found["held_per_s"].is_null() && found["failed_per_s"].is_number(), "{found}");
    assert!(found["failed_by"].as_str().is_some_and(|words| words.contains("p99")), "{found}");
}

#[test]
fn search_without_a_failing_rate_reports_no_upper_end() {
    let home = Home::new();
    let path = plan(&home, "2, 4", "{ rate: 10/s, for: 1s }");
    let flags = ["--slo", "p50<1s, errors<50%", "--from", "20/s", "--to", "40/s", "--quick", "--seed", "9"];
    let study = search(&home, &path, &flags);
    let found = study["capacity"].as_array().expect("a list");
    assert_eq!(found.len(), 2, "side by side: {study}");
    for found in found.iter().filter(|found| !was_not_fit(found)) {
        assert_eq!(found["end"], "nothing_fails", "{found}");
        assert!(found["failed_per_s"].is_null(), "{found}");
        // The rate of answers within the second: one of the forty may arrive after it.
        assert!((39.0..=40.0).contains(&per_s(found, "held_per_s")), "{found}");
    }
    let block = |run: &Value| (number(run, "place.block"), run["place"]["variant"].to_string());
    let mut blocks: Vec<_> = study["runs"].as_array().expect("a list").iter().map(block).collect();
    blocks.sort();
    assert!(
        blocks.windows(2).all(|pair| pair[0] != pair[1]),
        "each variant once a round at most: {blocks:?}"
    );
    assert!(blocks[0].0 == blocks[1].0, "both begin in the first round: {blocks:?}");
}

#[test]
fn interrupted_search_keeps_its_result_and_is_resumed() {
    let home = Home::new();
    let path = plan(&home, "4", "{ rate: 10/s, for: 1s }");
    let flags = [
        "capacity",
        &path,
        "--slo",
        "mean<1s, errors<50%",
        "--from",
        "10/s",
        "--to",
        "40/s",
        "--confirm",
        "1",
    ];
    let flags = [&flags[..], &["--no-overload", "--format", "json"]].concat();
    let program = home.start(&flags);
    until("the first run is over", || home.history().iter().any(|study| number(study, "done") >= 1));
    program.signal(Signal::INT);
    let output = program.finish_within(LIMIT);
    assert_eq!(output.code, Some(130), "{output:?}");
    let study = output.json();
    assert_eq!(study["study"]["verdict"], "partial", "{study}");
    assert!(study["capacity"][0]["end"].is_null(), "{study}");
    let before = number(&study["capacity"][0], "runs");
    assert!(before >= 1, "{study}");

    let other = home.run(&[&flags[..], &["--resume", "--for", "2s"]].concat());
    assert_eq!(other.code, Some(2), "of other runs it is another search: {other:?}");
    let output = home.start(&[&flags[..], &["--resume"]].concat()).finish_within(LIMIT);
    assert!(matches!(output.code, Some(0 | 4)), "{output:?}");
    let study = output.json();
    let found = &study["capacity"][0];
    assert!(number(found, "runs") > before, "{found}");
    if !was_not_fit(found) {
        let told = (&found["end"], per_s(found, "held_per_s"));
        assert_eq!(told, (&Value::from("nothing_fails"), 40.0), "{found}");
    }
    assert_nothing_is_left(&home);
}

#[test]
fn system_without_replies_cannot_be_searched() {
    let home = Home::new();
    let path = home.path().join("plan.yaml");
    let text = "scenario:\n  - get: /\nload: { users: 2, for: 1s }\nsystems:\n  web:\n    start: 'sleep {port}'\n    url: http://127.0.0.1:{port}\n    \
                ready: { tcp: true, within: 200ms }\n";
    fs::write(&path, text).expect("written");
    let output = home.run(&["capacity", &path.to_string_lossy(), "--slo", "p99<1s"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert_nothing_is_left(&home);
}

#[test]
fn rejects_impossible_searches_before_anything_starts() {
    let home = Home::new();
    let path = plan(&home, "4", "{ users: 16, for: 1s }");
    let refused = |path: &str, flags: &[&str]| {
        let output = home.run(&[&["capacity", path][..], flags].concat());
        assert_eq!(output.code, Some(2), "{flags:?}: {output:?}");
        output.stderr
    };
    assert!(refused(&path, &[]).contains("--slo"));
    for slo in [
        "",
        "p99",
        "p99<200",
        "p99=<200ms",
        "p99>200ms",
        "speed<1s",
        "p101<1s",
        "errors<-1%",
        "p99<200ms;errors<1%",
        "buy: p99<200ms",
        "p99<200ms from 0s to 9s",
    ] {
        let told = refused(&path, &["--slo", slo]);
        assert!(
            told.contains("--slo") && told.contains("help: ") && told.contains("nothing was started"),
            "{told}"
        );
    }
    let many = [
        "--from",
        "9/s",
        "--to",
        "5/s",
        "--resolution",
        "90%",
        "--confirm",
        "1000",
        "--for",
        "0s",
        "--seed",
        "x",
    ];
    let told =
        refused(&path, &[&["--slo", "p99<1s", "--soak", "never", "--within", "soon"][..], &many].concat());
    assert!(told.contains("7 errors"), "all at once: {told}");
    for flag in ["--from", "--resolution", "--confirm", "--for", "--seed", "--soak", "--within"] {
        assert!(told.contains(flag), "{flag}: {told}");
    }
    let slo = ["--slo", "p99<1s"];
    assert!(refused(&path, &[&slo[..], &["--soak", "500ms"]].concat()).contains("--soak"));
    assert!(refused(&path, &[&slo[..], &["--load", "other"]].concat()).contains("16 users"));
    let staged = plan(&home, "4", "{ stages: [ { for: 1s, to: 5/s } ] }");
    assert!(refused(&staged, &slo).contains("`stages`"));
    let thinking = plan(&home, "4", "{ users: 5, think: 1s }");
    assert!(refused(&thinking, &slo).contains("`think`"));
    assert_eq!(home.history().len(), 0, "nothing was run");
}
