//! Known errors of the generator are detected, and errors of the system are not attributed to it.

use std::thread;
use std::time::Duration;

use crate::support::own_process::Server;
use crate::support::{Home, Started, assert_identity, causes, number, url};
use rusqlite::Connection;
use rustix::process::Signal;
use target::Settings;

/// Stops a process for 200 ms of each 400 ms, until the load ends.
fn disturb(program: &mut Started, mut stop: impl FnMut(&Started, Signal)) {
    for _ in 0..100 {
        thread::sleep(Duration::from_millis(200));
        if !program.is_running() {
            return;
        }
        stop(program, Signal::STOP);
        thread::sleep(Duration::from_millis(200));
        stop(program, Signal::CONT);
    }
}

#[test]
fn repeatedly_stopped_generator_widens_bounds_in_open_and_closed_loads() {
    let target = target::start(Settings::default()).expect("a target");
    let url = url(target.address(), "/hold?mean_us=5000");
    for load in [["-R", "100/s"], ["-c", "4"]] {
        let home = Home::new();
        let arguments = [&[url.as_str(), "-d", "4s", "--format", "json"][..], &load].concat();
        let mut program = home.start(&arguments);
        disturb(&mut program, Started::signal);
        let output = program.finish();
        let run = output.json();
        assert_identity(&run);
        // There is no bound if the generator was stopped for more than half of the time.
        let verdict = run["validity"]["verdict"].as_str().unwrap_or_default();
        assert!(
            [(Some(0), "suspect"), (Some(4), "invalid")].contains(&(output.code, verdict)),
            "{load:?}: {run}"
        );
        // An undisturbed client would have measured 5 ms and a little more.
        let bounds = &run["validity"]["bounds"]["p50_us"];
        let [low, high] = ["low", "high"].map(|end| bounds[end].as_f64().expect("a bound"));
        assert!(low <= 5_100.0 && high >= 5_000.0, "{load:?}: {bounds}");
        let stalled = causes(&run).iter().any(|code| ["generator_stalled", "generator_lag"].contains(code));
        assert!(stalled, "{load:?}: {}", run["validity"]);
    }
}

#[test]
fn repeatedly_stopped_system_is_not_attributed_to_the_generator() {
    let home = Home::new();
    let server = Server::start(&home);
    let target_url = format!("{}hold?mean_us=5000", server.url);
    // A low rate, which a busy machine sustains.
    let mut program =
        home.start(&[target_url.as_str(), "-c", "20", "-R", "20/s", "-d", "3s", "--format", "json"]);
    disturb(&mut program, |_, signal| server.signal(signal));
    let output = program.finish();
    let run = output.json();
    assert_identity(&run);
    assert_eq!(number(&run, "offered.not_sent"), 0, "{run}");
    let blamed = ["wake_lag", "generator_fault", "server_count", "little", "not_sent"];
    let causes = causes(&run);
    assert!(causes.iter().all(|code| !blamed.contains(code)), "{}", run["validity"]);
    // A busy machine may have kept the generator waiting as well. Then both are reported.
    let is_starved =
        causes.iter().any(|code| ["generator_waited", "generator_stalled", "steal"].contains(code));
    assert!(run["validity"]["verdict"] != "invalid" || is_starved, "{}", run["validity"]);
}

#[test]
fn load_limited_by_connections_is_not_attributed_to_the_generator() {
    let (home, target) = (Home::new(), target::start(Settings::default()).expect("a target"));
    let url = url(target.address(), "/hold?mean_us=100000");
    let output = home.run(&[url.as_str(), "-c", "8", "-R", "200/s", "-d", "3s", "--format", "json"]);
    let run = output.json();
    assert_identity(&run);
    assert_eq!(output.code, Some(4), "{output:?}");
    let causes = run["validity"]["causes"].as_array().expect("a list");
    let cause = causes.iter().find(|cause| cause["code"] == "not_sent").expect("the plan was not kept");
    let [sentence, remedy] = ["sentence", "remedy"].map(|key| cause[key].as_str().unwrap_or_default());
    assert!(sentence.contains("all 8 connections were busy"), "{cause}");
    assert!(
        remedy.contains("the generator is not the cause") && remedy.contains("connections (-c)"),
        "{cause}"
    );
}

#[test]
fn counts_of_the_built_in_target_agree_and_its_share_of_the_machine_is_noted() {
    let home = Home::new();
    let server = Server::start(&home);
    let run = home.json(&[format!("{}status", server.url).as_str(), "-c", "2", "-n", "200"]);
    assert!(!causes(&run).contains(&"server_count"), "{}", run["validity"]);
    assert!(run["notes"].to_string().contains("SHARED: the system (tenbin"), "{}", run["notes"]);
    let query = "SELECT is_system_local FROM ending";
    let is_local =
        Connection::open(home.store()).and_then(|store| store.query_row(query, [], |row| row.get(0)));
    assert_eq!(is_local, Ok(true));
}
