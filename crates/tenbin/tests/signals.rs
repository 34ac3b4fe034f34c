//! Signals: the first drains and reports, the second ends the program at once, and one before the load ends it silently.

use std::thread;
use std::time::{Duration, Instant};

use crate::support::{self, Home, Output, Started, assert_identity, built_in, number, server, until, url};
use harness::quiet::assert_measured;
use rustix::process::Signal;
use serde_json::Value;
use target::Running;
use target::scripted::{Step, blackhole};

/// A load that only a signal ends within the time of a test.
const LONG: [&str; 4] = ["-d", "10m", "--timeout", "5m"];
const JSON: [&str; 2] = ["--format", "json"];

/// Starts a load, and waits until the target has counted four requests.
fn loading(home: &Home, target: &Running, path: &str, more: &[&str]) -> Started {
    let url = url(target.address(), path);
    let program = home.start(&[&[url.as_str()][..], &LONG, &JSON, more].concat());
    until("the load begins", || target.counters().requests >= 4);
    program
}

/// Asserts that the printed report equals the stored one, and returns it.
#[track_caller]
fn kept(home: &Home, output: &Output) -> Value {
    let run = output.json();
    assert_identity(&run);
    assert_eq!(home.last(), run);
    let history = home.history();
    assert_eq!((history.len(), &history[0]["verdict"]), (1, &run["verdict"]));
    assert!(output.stderr.starts_with("kept as "), "{output:?}");
    run
}

#[test]
fn first_signal_drains_and_reports() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 143)] {
        for load in [&["-c", "4"][..], &["-c", "50", "-R", "100"]] {
            let (home, target) = (Home::new(), built_in());
            let program = loading(&home, &target, "/hold?mean_us=100000", load);
            program.signal(signal);
            let asked = Instant::now();
            let output = program.finish();
            assert_eq!(output.code, Some(code), "{output:?}");
            assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
            let run = kept(&home, &output);
            assert_eq!(run["verdict"], "partial");
            assert_eq!(number(&run, "outcomes.unfinished"), 0, "what was in flight was waited for");
            assert_eq!(number(&run, "offered.sent"), target.counters().requests);
        }
    }
}

#[test]
fn second_signal_ends_the_run_within_a_second() {
    assert_measured(|| {
        for second in [Signal::INT, Signal::TERM] {
            let (home, target) = (Home::new(), built_in());
            let program = loading(&home, &target, "/hold?mean_us=9000000", &["-c", "4"]);
            program.signal(Signal::INT);
            thread::sleep(Duration::from_millis(200));
            program.signal(second);
            let asked = Instant::now();
            let output = program.finish();
            assert!(asked.elapsed() < Duration::from_secs(1), "{:?}", asked.elapsed());
            assert_eq!(output.code, Some(130), "the first signal decides: {output:?}");
            let run = kept(&home, &output);
            assert_eq!(run["verdict"], "partial");
            assert_eq!(number(&run, "outcomes.unfinished"), 4);
        }
    });
}

#[test]
fn fifty_signals_have_the_effect_of_two() {
    let (home, target) = (Home::new(), built_in());
    let program = loading(&home, &target, "/hold?mean_us=9000000", &["-c", "4"]);
    for _ in 0..50 {
        program.signal(Signal::INT);
        thread::sleep(Duration::from_millis(2));
    }
    let asked = Instant::now();
    let output = program.finish();
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    assert_eq!(output.code, Some(130), "{output:?}");
    let run = kept(&home, &output);
    assert_eq!(run["verdict"], "partial");
}

#[test]
fn signal_before_the_load_leaves_nothing_behind() {
    let hole = blackhole().expect("a full queue");
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let home = Home::new();
        let program = home.start(&[&url(hole.address(), "/")]);
        thread::sleep(Duration::from_millis(300));
        program.signal(signal);
        let asked = Instant::now();
        let output = program.finish();
        assert!(asked.elapsed() < Duration::from_secs(1), "{:?}", asked.elapsed());
        assert_eq!((output.code, output.stdout.as_str()), (Some(code), ""), "{output:?}");
        assert_eq!(home.history(), Vec::<Value>::new());
    }
}

#[test]
fn signal_ends_the_check_of_a_plan_with_a_silent_server() {
    let hole = blackhole().expect("a full queue");
    let home = Home::new();
    let plan = format!(
        "question: How fast?\nscenario: [ get: / ]\nload: {{ users: 1, timeout: 5m }}\nurl: {}\n",
        url(hole.address(), "/")
    );
    std::fs::write(home.path().join("plan.yaml"), plan).expect("written");
    let mut command = std::process::Command::new(support::TENBIN);
    home.isolate(&mut command);
    command.args(["check", "plan.yaml", "--connect"]);
    let program = Started::spawn(command);
    thread::sleep(Duration::from_millis(300));
    program.signal(Signal::INT);
    let asked = Instant::now();
    let output = program.finish();
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    assert_eq!(output.code, Some(130), "{output:?}");
}

#[test]
fn drain_of_a_silent_server_ends_at_the_deadline() {
    let (home, silent) = (Home::new(), server(vec![Step::ReadRequest, Step::HoldOpen]));
    let url = url(silent.address(), "/");
    let program = home.start(&[&url, "-c", "3", "-d", "10m", "--timeout", "1s", "--format", "json"]);
    until("the load begins", || silent.requests() >= 3);
    program.signal(Signal::INT);
    let asked = Instant::now();
    let output = program.finish();
    assert!(asked.elapsed() < Duration::from_secs(3), "{:?}", asked.elapsed());
    assert_eq!(output.code, Some(130));
    let run = kept(&home, &output);
    assert_eq!((number(&run, "outcomes.timed_out"), number(&run, "offered.sent")), (3, 3));
}
