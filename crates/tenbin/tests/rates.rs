//! Throughput is the number of answers in the measured window, divided by its length, for every load and every behavior of the
//! target.

use std::fs;
use std::process::Command;
use std::time::Duration;

use crate::support::{Home, Output, Started, TENBIN, assert_counts_or_starved, number, url};
use serde_json::Value;
use target::{Running, Settings, Stall};

/// A target with one thread, which answers 100 requests per second. Twenty users keep it busy for 200 ms after the load.
fn one_thread() -> Running {
    target::start(Settings { threads: 1, ..Settings::default() }).expect("a target")
}

/// Run of a closed load, and its report without line breaks.
fn loaded(target: &Running, warm_up: &str) -> (Value, String) {
    let home = Home::new();
    let url = url(target.address(), "/hold?mean_us=10000");
    let run = home.json(&[url.as_str(), "-c", "20", "-d", "500ms", "--warm-up", warm_up]);
    let report = home.run(&["report"]).stdout;
    (run, report.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn figure(run: &Value, pointer: &str) -> f64 {
    run.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer} in {run}"))
}

#[test]
fn rate_includes_neither_drain_nor_ramp_up() {
    let target = one_thread();
    let (run, report) = loaded(&target, "500ms");
    let answers = number(&run, "window.answers") as f64;
    assert_eq!(figure(&run, "/window/length_s"), 0.5);
    assert_eq!(figure(&run, "/throughput_per_s"), answers / 0.5, "{run}");
    assert_eq!(figure(&run, "/ok_per_s"), answers / 0.5, "{run}");
    assert!(figure(&run, "/throughput_per_s") <= 110.0, "{run}");
    assert!(figure(&run, "/jmeter_throughput_per_s") < 0.9 * figure(&run, "/ok_per_s"), "{run}");
    assert_eq!((number(&run, "window.backlog_start"), number(&run, "window.backlog_end")), (20, 20), "{run}");
    // Replies take 200 ms, in a load of 500 ms. Users in step could add or lose a request each.
    assert!(report.contains("if the users stay in step, the throughput may be off by"), "{report}");
}

/// Runs a load on a target that stalls for `lasting_ms`, `first_ms` after its first request. Returns the output and the run.
fn frozen(first_ms: u64, lasting_ms: u64, arguments: &[&str]) -> (Output, Value) {
    let (first, lasting) = (Duration::from_millis(first_ms), Duration::from_millis(lasting_ms));
    let stall = Some(Stall { first, lasting, every: None });
    let target = target::start(Settings { stall, ..Settings::default() }).expect("a target");
    let url = url(target.address(), "/hold?mean_us=2000");
    let output = Home::new().run(&[&[url.as_str(), "--format", "json"], arguments].concat());
    let run = output.json();
    (output, run)
}

fn assert_degraded(output: &Output, run: &Value) {
    match run["verdict"].as_str() {
        Some("degraded") => assert_eq!(output.code, Some(6), "{output:?}"),
        Some("invalid") => assert_counts_or_starved(output, run),
        _ => panic!("the target was gone for a quarter of the time: {output:?}"),
    }
    assert_eq!(run["steadiness"]["verdict"], "not_steady", "{run}");
}

#[test]
fn stall_across_the_end_of_the_warm_up_does_not_raise_the_rate() {
    let load = ["-R", "200", "-c", "20", "--warm-up", "1s", "-d", "2s"];
    let (output, run) = frozen(600, 1_200, &load);
    let (ok_per_s, backlog) = (figure(&run, "/ok_per_s"), number(&run, "window.backlog_start") as f64);
    assert!(ok_per_s <= 200.0 + (backlog + 1.0) / 2.0, "{ok_per_s}: {run}");
    assert!(backlog > 40.0, "what came while it was away was still open: {run}");
    assert_degraded(&output, &run);
    assert!(figure(&run, "/outage/longest_s") > 0.3, "{run}");
}

#[test]
fn stall_within_a_closed_load_is_degraded() {
    let (output, run) = frozen(1_000, 800, &["-c", "4", "--warm-up", "300ms", "-d", "2500ms"]);
    assert_degraded(&output, &run);
    let (longest_s, gone) = (figure(&run, "/outage/longest_s"), figure(&run, "/outage/gone_share"));
    assert!((0.5..1.5).contains(&longest_s) && (0.2..0.6).contains(&gone), "{run}");
    assert_eq!(run["outage"]["times"][0]["is_open"], false, "it came back: {run}");
}

#[test]
fn responsive_target_has_no_outage() {
    let target = one_thread();
    let (run, _) = loaded(&target, "100ms");
    assert_eq!(run["outage"]["times"].as_array().map(Vec::len), Some(0), "{run}");
    assert_eq!(figure(&run, "/outage/longest_s"), 0.0);
}

#[test]
fn check_prints_the_limit_of_connections_that_the_machine_sets() {
    let home = Home::new();
    let plan = "scenario: [ get: / ]\nload: { rate: 500/s, for: 2s }\nsystems: { a: { url: 'http://127.0.0.1:9' } }\n";
    fs::write(home.path().join("plan.yaml"), plan).expect("written");
    let limited = |files: u32| {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -n {files}; exec \"$0\" check plan.yaml"), TENBIN]);
        home.isolate(&mut command);
        Started::spawn(command).finish()
    };
    let few = limited(400);
    let expected = "connections on this machine (open files, ulimit -Hn), of the 5000 that the load may open";
    assert!(few.code == Some(0) && few.stdout.contains(expected), "{few:?}");
    let many = limited(6_000);
    assert!(many.code == Some(0) && !many.stdout.contains("on this machine"), "{many:?}");
}
