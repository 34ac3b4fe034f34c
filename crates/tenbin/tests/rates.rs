//! Rates of short closed loads are those of the system, and where they may be off, that is said.

mod support;

use serde_json::Value;
use support::{Home, number, url};
use target::{Running, Settings};

/// One thread that takes 10 ms for each request: a hundred a second. Twenty users keep it busy for 200 ms after the load.
fn one_thread() -> Running {
    target::start(Settings { threads: 1, ..Settings::default() }).expect("a target")
}

/// The run, and its report without line breaks.
fn loaded(target: &Running, warm_up: &str) -> (Value, String) {
    let home = Home::new();
    let url = url(target.address(), "/hold?mean_us=10000");
    let run = home.json(&[url.as_str(), "-c", "20", "-d", "500ms", "--warm-up", warm_up]);
    let report = home.run(&["report"]).stdout;
    (run, report.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn per_s(run: &Value, key: &str) -> f64 {
    run[key].as_f64().unwrap_or_else(|| panic!("{key} in {run}"))
}

#[test]
fn after_a_warm_up_the_time_until_the_last_reply_is_no_part_of_the_rate() {
    let target = one_thread();
    let (run, report) = loaded(&target, "100ms");
    let (ok, jmeter) = (number(&run, "outcomes.ok"), per_s(&run, "throughput_per_s"));
    assert_eq!(per_s(&run, "ok_per_s"), ok as f64 / 0.5, "{run}");
    assert!(jmeter < 0.9 * per_s(&run, "ok_per_s"), "{run}");
    assert!(report.contains("until the last reply, as JMeter counts"), "{report}");
    // Replies of 200 ms in 500 ms: if the users had stayed in step, it could be a request more or less for each.
    assert!(report.contains("if the users stay in step, the throughput may be off by"), "{report}");
}

#[test]
fn without_a_warm_up_the_first_requests_make_up_for_the_last() {
    let target = one_thread();
    let (run, report) = loaded(&target, "0s");
    assert_eq!(per_s(&run, "ok_per_s"), per_s(&run, "throughput_per_s"), "all were ok: {run}");
    assert!(!report.contains("as JMeter counts") && !report.contains("may be off by"), "{report}");
}
