//! Runs against every kind of hostile target end in time, are stored, and report what happened.

use std::panic::resume_unwind;
use std::thread;
use std::time::Duration;

use crate::support::own_process::Server;
use crate::support::{Home, assert_identity, built_in, number, server, until, url};
use harness::quiet::assert_measured;
use rustix::process::Signal;
use serde_json::Value;
use target::scripted::{Scripted, Step};
use target::{Settings, Stall};

/// Duration, deadline, and five seconds.
const LIMIT: Duration = Duration::from_secs(1 + 1 + 5);
const LOADS: [&[&str]; 2] = [&["-c", "4"], &["-c", "4", "-R", "50/s"]];

/// Runs one second of load with a deadline of one second.
#[track_caller]
fn loaded(home: &Home, url: &str, load: &[&str]) -> Value {
    let arguments = [&[url, "-d", "1s", "--timeout", "1s", "--format", "json"], load].concat();
    let output = home.run(&arguments);
    assert!(output.took < LIMIT, "{url} {load:?}: {output:?}");
    let run = output.json();
    assert_identity(&run);
    // The load was not cut off. An invalid run did not send everything, or had no free core.
    let verdict = run["verdict"].as_str().unwrap_or_default();
    match verdict {
        "degraded" => assert_eq!(output.code, Some(6), "{output:?}"),
        "complete" => assert_eq!((output.code, number(&run, "offered.not_sent")), (Some(0), 0), "{output:?}"),
        _ => assert!([4, 6].contains(&output.code.unwrap_or(0)), "{output:?}"),
    }
    run
}

/// All kinds of servers that never give a usable answer, with the error classes that may be reported.
fn kinds() -> Vec<(&'static str, Scripted, &'static [&'static str])> {
    let ok = "HTTP/1.1 200 OK\r\n";
    let forever = |first: String, more: &str, every_ms: Option<u64>| {
        let every = every_ms.map(Duration::from_millis);
        let more = if every.is_some() { more.as_bytes().to_vec() } else { more.repeat(1_000).into_bytes() };
        vec![Step::ReadRequest, Step::Send(first.into_bytes()), Step::SendForever { bytes: more, every }]
    };
    let answer = |text: &str, last: Step| vec![Step::ReadRequest, Step::Send(text.as_bytes().to_vec()), last];
    let close = Step::CloseGracefully;
    vec![
        ("silence", server(vec![Step::ReadRequest, Step::HoldOpen]), &["timeout_first_byte"]),
        ("not even reading", server(vec![Step::HoldOpen]), &["timeout_first_byte"]),
        (
            "a byte at a time",
            server(forever(String::new(), "H", Some(300))),
            &["protocol_error", "timeout_head"],
        ),
        ("an endless head", server(forever(ok.to_owned(), "A: b\r\n", None)), &["header_limit"]),
        ("a slow head", server(forever(ok.to_owned(), "A: b\r\n", Some(200))), &["timeout_head"]),
        ("an endless body", server(forever(format!("{ok}\r\n"), "x", None)), &["timeout_body"]),
        ("a slow body", server(forever(format!("{ok}\r\n"), "x", Some(300))), &["timeout_body"]),
        (
            "endless interim replies",
            server(forever(String::new(), "HTTP/1.1 102 P\r\n\r\n", None)),
            &["protocol_error"],
        ),
        ("an upgrade", server(answer("HTTP/1.1 101 S\r\n\r\n", Step::HoldOpen)), &["protocol_error"]),
        ("garbage", server(answer("garbage\r\n\r\n", close.clone())), &["protocol_error"]),
        (
            "half a body",
            server(answer(&format!("{ok}Content-Length: 9\r\n\r\nhalf"), close.clone())),
            &["incomplete"],
        ),
        ("a close", server(answer("", close)), &["closed_before_reply"]),
        ("a reset", server(answer("", Step::Reset)), &["reset_before_reply"]),
        (
            "a reset out of nothing",
            // Late enough for the check that the server is up. The reset comes before, while, or after the request is sent.
            server(vec![Step::Wait(Duration::from_millis(20)), Step::Reset]),
            &["reset_before_reply", "connect_reset", "closed_before_reply"],
        ),
        (
            "two replies",
            server(answer(&format!("{ok}Content-Length: 0\r\n\r\n").repeat(2), Step::HoldOpen)),
            &["unsolicited_reply"],
        ),
    ]
}

#[test]
fn run_against_any_hostile_target_ends_in_time_and_reports_its_errors() {
    let kinds = kinds();
    for load in LOADS {
        // Four at a time, because they mostly wait.
        for four in kinds.chunks(4) {
            thread::scope(|scope| {
                for (what, scripted, classes) in four {
                    scope.spawn(move || {
                        let home = Home::new();
                        let run = loaded(&home, &url(scripted.address(), "/"), load);
                        assert_eq!(number(&run, "outcomes.ok"), 0, "{what} {load:?}: {run}");
                        assert_ne!(run["verdict"], "complete", "{what} {load:?}: nobody was answered: {run}");
                        assert!(number(&run, "offered.sent") >= 4, "{what} {load:?}: {run}");
                        for error in run["errors"].as_array().expect("a list") {
                            let class = error["class"].as_str().expect("a word");
                            assert!(classes.contains(&class), "{what} {load:?}: {error}");
                        }
                        assert_eq!(home.last(), run, "{what} {load:?}: kept as it was shown");
                    });
                }
            });
        }
    }
}

#[test]
fn target_that_stops_answering_is_waited_for_up_to_the_deadline() {
    let stall = Stall { first: Duration::from_millis(700), lasting: Duration::from_secs(30), every: None };
    for load in LOADS {
        let home = Home::new();
        let target = target::start(Settings { stall: Some(stall), ..Settings::default() }).expect("a target");
        let run = loaded(&home, &url(target.address(), "/hold?mean_us=10000"), load);
        assert_ne!(run["verdict"], "complete", "{load:?}: it stopped answering: {run}");
        assert!(
            number(&run, "outcomes.ok") > 0 && number(&run, "outcomes.timed_out") > 0,
            "{}",
            run["outcomes"]
        );
    }
}

#[test]
fn stopped_or_killed_target_causes_errors_and_no_longer_run() {
    assert_measured(|| {
        for (signal, outcome) in [(Signal::STOP, "timed_out"), (Signal::KILL, "failed")] {
            for load in LOADS {
                let home = Home::new();
                let program = Server::start(&home);
                let target_url = format!("{}hold?mean_us=5000", program.url);
                let run = thread::scope(|scope| {
                    let run = scope.spawn(|| loaded(&home, &target_url, load));
                    until("the load begins", || program.requests() >= 5);
                    program.signal(signal);
                    run.join().unwrap_or_else(|panic| resume_unwind(panic))
                });
                assert!(number(&run, "outcomes.ok") > 0, "{signal:?} {load:?}: {}", run["outcomes"]);
                assert_ne!(run["verdict"], "complete", "{signal:?} {load:?}: it was gone: {run}");
                assert!(number(&run, &format!("outcomes.{outcome}")) > 0, "{signal:?} {load:?}: {run}");
            }
        }
    });
}

#[test]
fn overload_ends_in_time_and_is_reported() {
    let target = target::start(Settings { threads: 1, ..Settings::default() }).expect("a target");
    let home = Home::new();
    let url = url(target.address(), "/hold?mean_us=100000");
    let run = loaded(&home, &url, &["-c", "2", "-R", "200/s"]);
    assert_eq!(number(&run, "offered.planned"), 200);
    assert!(number(&run, "offered.not_sent") > 100, "{}", run["offered"]);
    assert_eq!(target.counters().requests, number(&run, "offered.sent"));
    let causes = run["validity"]["causes"].to_string();
    assert!(causes.contains("not_sent") && causes.contains("planned requests"), "{causes}");
}

#[test]
fn responsive_target_takes_the_planned_time() {
    let (home, target) = (Home::new(), built_in());
    let run =
        loaded(&home, &url(target.address(), "/status"), &["-c", "4", "-R", "100/s", "--warm-up", "500ms"]);
    assert_eq!((number(&run, "outcomes.ok"), number(&run, "warm_up.outcomes.ok")), (100, 50));
    assert_eq!(target.counters().requests, 150);
}
