//! Loads whose requests start at recorded times.

use std::fs;

use crate::support::{Home, built_in, number, url};
use serde_json::Value;

/// Ten arrivals of two sessions in one second, at uneven intervals.
const ARRIVALS: &str = "at,session\n0.000,a\n0.001,a\n0.002,b\n0.300,a\n0.301,b\n0.302,a\n0.600,b\n0.601,a\n0.9,b\n0.999999999,a\n";

fn offered(run: &Value) -> (u64, u64) {
    (number(run, "offered.planned"), number(run, "outcomes.ok"))
}

/// Run of a load, whether it is valid or not.
fn load(home: &Home, arguments: &[&str]) -> Value {
    home.run(&[arguments, &["--format", "json"]].concat()).json()
}

#[test]
fn command_line_sends_a_request_for_each_arrival() {
    let (home, target) = (Home::new(), built_in());
    fs::write(home.path().join("a.csv"), ARRIVALS).expect("written");
    let all = load(&home, &[&url(target.address(), "/status"), "--recorded", "a.csv"]);
    assert_eq!(offered(&all), (10, 10));
    let cut = load(&home, &[&url(target.address(), "/status"), "--recorded", "a.csv", "-d", "300ms"]);
    assert_eq!(offered(&cut), (3, 3));
    assert_ne!(all["run"]["plan_hash"], cut["run"]["plan_hash"]);

    let later = ARRIVALS.replace("0.300", "0.310");
    fs::write(home.path().join("a.csv"), later).expect("written");
    let changed = load(&home, &[&url(target.address(), "/status"), "--recorded", "a.csv"]);
    assert_ne!(all["run"]["plan_hash"], changed["run"]["plan_hash"]);
}

#[test]
fn users_of_a_plan_replay_their_sessions_and_the_first_part_is_warm_up() {
    let (home, target) = (Home::new(), built_in());
    fs::write(home.path().join("a.csv"), ARRIVALS).expect("written");
    let plan = format!(
        "url: {}\nscenario: [ get: /status ]\nload: {{ recorded: a.csv, users: 2, warm-up: 100ms }}\n",
        url(target.address(), "")
    );
    fs::write(home.path().join("plan.yaml"), plan).expect("written");
    let run = load(&home, &["run", "plan.yaml"]);
    let run = if run["runs"].is_array() { &run["runs"][0] } else { &run };
    assert_eq!(offered(run), (7, 7));
    let check = home.run(&["check", "plan.yaml"]);
    assert!(check.stdout.contains("2 users, closed, playing 10 recorded arrivals"), "{check:?}");
}
