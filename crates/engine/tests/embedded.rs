//! Systems within this process: blocking calls, with one thread per connection.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use crate::support::acts::{Act, Acts, acts};
use crate::support::lines::{Answer, Lines};
use crate::support::scenario::{in_turn, visit};
use crate::support::{Done, MS, SECOND, closed, count, finish, lasting, limit, tcp};
use engine::{Endpoint, Job, Peer, StopLevel};
use load::{Load, Open, Schedule, Spacing, open::Profile};
use wire::{InProcess, Mix, PeerStep};

fn nowhere() -> Peer {
    Peer::of(Endpoint::Unix("/nowhere".into()), None)
}

fn run(job: Job, script: Acts) -> Done {
    let limit = limit(&job);
    finish(engine::start_embedded(job, script).unwrap(), limit)
}

fn taking(list: &[Act], call: Duration) -> Acts {
    Acts { call, ..acts(list) }
}

#[test]
fn in_process_calls_count_as_requests_and_parts() {
    let script = taking(&[Act::Say("a", Some(1)), Act::Commit("b", Some(2))], Duration::from_millis(2));
    let done = run(Job { parts: 2, ..closed(nowhere(), 3, count(30)) }, script);
    assert_eq!(done.ends.len(), 3, "one thread for each connection");
    for tally in &done.steps {
        assert_eq!((tally.counts.sent, tally.counts.ok), (30, 30));
        assert!(tally.service.ok.min_ns().is_some_and(|min_ns| min_ns >= 2 * MS));
    }
    assert_eq!(done.tally.connections, 3);
}

#[test]
fn in_process_rejections_are_explained_and_pauses_kept() {
    let done = run(closed(nowhere(), 1, count(3)), acts(&[Act::Pause(30 * MS), Act::Say("no", None)]));
    assert_eq!((done.tally.counts.rejected, done.errors("check_body")), (3, 3));
    assert!(done.tally.service.rejected.min_ns().is_some_and(|min_ns| min_ns >= 30 * MS));
    // A load without any call still ends.
    let done = run(closed(nowhere(), 2, lasting(100 * MS)), acts(&[]));
    assert!(done.tally.counts.ok > 100);
}

#[test]
fn arrivals_take_any_free_in_process_connection() {
    let load = Load::Open(Open {
        schedule: Schedule::Rate(Profile::constant(100.0), Spacing::EVEN),
        connections: 4,
        shed_after_ns: None,
    });
    // Four connections with calls of 25 ms serve 160 requests per second. Separate sequences per connection would not come out
    // even.
    let job = Job { load, ..closed(nowhere(), 1, lasting(SECOND)) };
    let done = run(job.clone(), taking(&[Act::Say("a", None)], Duration::from_millis(25)));
    done.assert_all_ok(100);
    // Five times the capacity: requests that are not started soon after the end still count as planned.
    let job = Job { stop: lasting(200 * MS), ..job };
    let load = Load::Open(Open {
        schedule: Schedule::Rate(Profile::constant(500.0), Spacing::EVEN),
        connections: 1,
        shed_after_ns: None,
    });
    let done = run(Job { load, ..job }, taking(&[Act::Say("a", None)], Duration::from_millis(100)));
    let counts = done.tally.counts;
    assert_eq!((counts.planned, counts.sent + counts.not_sent), (100, 100));
    assert!(counts.not_sent > 0 && counts.ok == counts.sent, "{counts:?}");
}

#[test]
fn late_in_process_arrivals_are_shed_and_counted() {
    let load = Load::Open(Open {
        schedule: Schedule::Rate(Profile::constant(1000.0), Spacing::EVEN),
        connections: 2,
        shed_after_ns: Some(20 * MS),
    });
    let job = Job { load, ..closed(nowhere(), 1, lasting(300 * MS)) };
    let done = run(job, taking(&[Act::Say("a", None)], Duration::from_millis(30)));
    let counts = done.tally.counts;
    assert_eq!((counts.planned, counts.sent + counts.not_sent), (300, 300), "{counts:?}");
    assert!(counts.not_sent > 200, "{counts:?}");
}

#[test]
fn call_past_its_deadline_is_interrupted_and_times_out() {
    let script = Acts {
        hangs: true,
        interrupted: Some(Arc::new(AtomicUsize::new(0))),
        ..acts(&[Act::Say("a", None)])
    };
    let job = Job { timeout_ns: 60 * MS, connect_timeout_ns: 60 * MS, ..closed(nowhere(), 1, count(2)) };
    let done = run(job.clone(), script.clone());
    done.assert_all_timed_out("timeout_statement", 2);

    // Without an interrupt, a late commit may have taken effect; a rejected one has not.
    for (line, class) in [("a", "timeout_in_commit"), ("no", "timeout_statement")] {
        let script = taking(&[Act::Commit(line, None)], Duration::from_millis(80));
        run(job.clone(), script).assert_all_timed_out(class, 2);
    }

    // An abort ends the load immediately.
    let job = Job { timeout_ns: 60 * SECOND, stop: lasting(60 * SECOND), ..job };
    let running = engine::start_embedded(job, script).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    running.stop(StopLevel::Abort);
    let done = finish(running, Duration::from_secs(4));
    // The request was in flight; its interruption by the abort is not an error of the system.
    let counts = done.tally.counts;
    assert_eq!((counts.sent, counts.unfinished, done.errors("canceled")), (1, 1, 0), "{counts:?}");
}

#[test]
fn scenario_uses_a_server_and_a_system_in_this_process() {
    let server = Lines::start(|_, _| Answer::Say("ok\n"));
    let network = acts(&[Act::Say("a", None)]);
    let here = taking(&[Act::Commit("b", None)], Duration::from_millis(2));
    let places = [PeerStep { peer: 0, step: 0 }, PeerStep { peer: 1, step: 0 }];
    let mix = || Mix::new(vec![Box::new(network.clone()), Box::new(InProcess(here.clone()))], &places);
    let mut job = closed(tcp(server.address), 3, count(60));
    job.peers.push(nowhere());
    job.scenarios = in_turn(vec![visit(0, 0), visit(1, 0)]);
    let done = crate::support::run(job.clone(), mix());
    done.assert_all_ok(60);
    assert_eq!(done.ends.len(), 3, "one thread for each connection");
    let counts: Vec<u64> = done.steps.iter().map(|tally| tally.counts.ok).collect();
    assert_eq!((counts[0] + counts[1], counts[0].abs_diff(counts[1]) <= 3), (60, true), "{counts:?}");
    let connections: Vec<u64> = done.steps.iter().map(|tally| tally.connections).collect();
    assert_eq!(connections, [3, 3]);
    assert!(done.steps[1].service.ok.min_ns().is_some_and(|min_ns| min_ns >= 2 * MS));
    // Arrivals of an open load use both peers as well.
    let load = Load::Open(Open {
        schedule: Schedule::Rate(Profile::constant(100.0), Spacing::EVEN),
        connections: 3,
        shed_after_ns: None,
    });
    let done = crate::support::run(Job { load, stop: lasting(300 * MS), ..job }, mix());
    done.assert_all_ok(60);
}
