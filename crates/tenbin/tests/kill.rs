//! A run that is killed at any moment loses no more than a second. It is shown as partial, and its store still works.
//!
//! `TENBIN_KILLS` sets the number of kills, and `TENBIN_SEED` their moments.

use std::thread;
use std::time::{Duration, Instant};

use crate::support::{self, Home, assert_identity, built_in, moments, number, until, url};
use rustix::process::Signal;

const PER_S: u64 = 1_000;
/// Requests of a second, and of the time that it takes to write a second to the store.
const LOST_MAX: u64 = PER_S * 12 / 10;

#[test]
#[expect(clippy::print_stdout, reason = "a failure must show the moments that led to it")]
fn killed_run_is_partial_and_loses_up_to_a_second() {
    let (seed, kills) = (moments::seed(), moments::kills().unwrap_or(8));
    println!("TENBIN_SEED={seed} TENBIN_KILLS={kills}");
    let (home, mut state) = (Home::new(), seed);
    for number_of_kill in 1..=kills {
        let moment = Duration::from_millis(moments::next(&mut state) % 2_500);
        kill_after(&home, moment, number_of_kill);
    }
    let url = url(built_in().address(), "/status");
    assert!(home.run(&[url.as_str(), "-n", "5"]).code == Some(1), "that target is gone");
    let target = built_in();
    let run = home.json(&[&support::url(target.address(), "/status"), "-n", "50", "-c", "2"]);
    assert_eq!((number(&run, "outcomes.ok"), &run["verdict"]), (50, &"complete".into()));
    assert_eq!(home.json(&["history", "--limit", "1000"]).as_array().map(Vec::len), Some(kills as usize + 1));
}

fn kill_after(home: &Home, moment: Duration, number_of_kill: u64) {
    let target = built_in();
    let url = url(target.address(), "/status");
    let program = home.start(&[&url, "-R", "1000/s", "-c", "20", "-d", "10m"]);
    until("the load begins", || target.counters().requests > 0);
    thread::sleep(moment);
    program.signal(Signal::KILL);
    let output = program.finish();
    let seen = target.counters().requests;
    assert_eq!((output.code, output.stdout.as_str()), (None, ""));

    let run = home.last();
    let kept = number(&run, "offered.sent");
    assert_eq!(run["verdict"], "partial", "kill {number_of_kill} after {moment:?}");
    assert_identity(&run);
    assert!(kept <= seen, "{kept} of {seen}, killed after {moment:?}");
    assert!(kept + LOST_MAX >= seen, "{kept} of {seen}, killed after {moment:?}");
    let history = home.json(&["history", "--limit", "1000"]);
    let history = history.as_array().expect("a list");
    assert_eq!(history.len() as u64, number_of_kill, "every run is listed");
    assert!(history.iter().all(|run| run["verdict"] == "partial"), "{history:?}");
}

#[test]
fn unfinished_run_is_shown_as_running() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/status");
    let program = home.start(&[&url, "-R", "200/s", "-c", "20", "-d", "10m"]);
    until("the load begins", || target.counters().requests > 0);
    assert_eq!(home.history()[0]["verdict"], "running");
    // Another run may be stored in the file at the same time.
    let other = home.json(&[url.as_str(), "-n", "50", "-c", "2"]);
    assert_eq!(other["verdict"], "complete");
    let begun = Instant::now();
    program.signal(Signal::INT);
    assert_eq!(program.finish().code, Some(130));
    assert!(begun.elapsed() < Duration::from_secs(5));
    let verdicts: Vec<_> = home.history().iter().map(|run| run["verdict"].clone()).collect();
    assert_eq!(verdicts, ["complete", "partial"]);
}
