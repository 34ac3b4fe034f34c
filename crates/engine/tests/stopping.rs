//! Loads that are asked to drain or abort, also while no peer answers.

use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Done, MS, SECOND, closed, finish, get, lasting, open, server, tcp};
use engine::{Job, StopLevel};
use load::{Load, ThinkTime};
use target::Settings;
use target::scripted::{Step, blackhole};

/// Runs for `after`, then asks to stop. Also returns the time that the end took after that.
fn stopped(job: Job, target: &str, after: Duration, levels: &[StopLevel]) -> (Done, Duration) {
    let running = engine::start(job, get(target)).expect("threads");
    thread::sleep(after);
    let asked = Instant::now();
    levels.iter().for_each(|level| running.stop(*level));
    let done = finish(running, Duration::from_secs(20));
    (done, asked.elapsed())
}

const LONG: u64 = 600 * SECOND;
const SOON: Duration = Duration::from_millis(300);

#[test]
fn drain_finishes_requests_in_flight_and_starts_none() {
    for is_open in [false, true] {
        let target = target::start(Settings::default()).expect("a target");
        let peer = tcp(target.address());
        let mut job = if is_open { open(peer, 100.0, LONG, 50) } else { closed(peer, 20, lasting(LONG)) };
        job.threads = 2;
        let (done, took) = stopped(job, "/hold?mean_us=200000", SOON, &[StopLevel::Drain]);
        let counts = done.tally.counts;
        assert!(counts.sent > 0, "{counts:?}");
        assert_eq!((counts.ok, counts.unfinished), (counts.sent, 0), "{:?}", done.classes());
        assert_eq!(target.counters().requests, counts.sent);
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
}

#[test]
fn abort_leaves_requests_in_flight_unfinished() {
    for is_open in [false, true] {
        let target = target::start(Settings::default()).expect("a target");
        let peer = tcp(target.address());
        let mut job = if is_open { open(peer, 100.0, LONG, 50) } else { closed(peer, 20, lasting(LONG)) };
        (job.threads, job.timeout_ns) = (2, 60 * SECOND);
        let levels = [StopLevel::Drain, StopLevel::Abort];
        let (done, took) = stopped(job, "/hold?mean_us=5000000", SOON, &levels);
        let counts = done.tally.counts;
        assert!(counts.unfinished > 0, "{counts:?}");
        assert_eq!((counts.ok, counts.failed, counts.timed_out), (0, 0, 0), "{:?}", done.classes());
        assert!(took < Duration::from_secs(1), "{took:?}");
    }
}

#[test]
fn unfinished_request_has_no_error() {
    let server = server(vec![Step::HoldOpen]);
    let mut job = closed(tcp(server.address()), 5, lasting(LONG));
    job.timeout_ns = 60 * SECOND;
    let (done, took) = stopped(job, "/", SOON, &[StopLevel::Abort]);
    assert_eq!((done.tally.counts.unfinished, done.tally.errors.total()), (5, 0));
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[test]
fn drain_with_silent_peer_ends_at_the_deadline() {
    for is_open in [false, true] {
        let server = server(vec![Step::HoldOpen]);
        let peer = tcp(server.address());
        let mut job = if is_open { open(peer, 50.0, LONG, 5) } else { closed(peer, 5, lasting(LONG)) };
        job.timeout_ns = SECOND;
        let (done, took) = stopped(job, "/", SOON, &[StopLevel::Drain]);
        let counts = done.tally.counts;
        assert_eq!((counts.timed_out, counts.sent), (5, 5), "{counts:?}");
        assert!(took < Duration::from_secs(2), "{took:?}");
        if is_open {
            assert_eq!(counts.planned, counts.sent + counts.not_sent);
            assert!(counts.not_sent > 0, "what was due and had no connection: {counts:?}");
        }
    }
}

#[test]
fn stop_before_the_load_begins_sends_nothing() {
    let hole = blackhole().expect("a full queue");
    for level in [StopLevel::Drain, StopLevel::Abort] {
        let mut job = closed(tcp(hole.address()), 5, lasting(LONG));
        (job.timeout_ns, job.connect_timeout_ns) = (60 * SECOND, 60 * SECOND);
        let (done, took) = stopped(job, "/", Duration::from_millis(100), &[level]);
        assert!(took < Duration::from_secs(1), "{took:?}");
        assert_eq!(done.tally.counts.sent, 0, "{:?}", done.tally.counts);
    }
}

#[test]
fn pausing_users_do_not_delay_a_stop() {
    let target = target::start(Settings::default()).expect("a target");
    let mut job = closed(tcp(target.address()), 5, lasting(LONG));
    let Load::Closed(load) = &mut job.load else { panic!("the load is closed") };
    load.think_time = ThinkTime::Constant { ns: LONG };
    let (done, took) = stopped(job, "/status", SOON, &[StopLevel::Drain]);
    done.assert_all_ok(5);
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[test]
fn stop_during_unanswered_connects_ends_at_connect_deadline() {
    let hole = blackhole().expect("a full queue");
    let mut job = closed(tcp(hole.address()), 3, lasting(LONG));
    (job.connect_timeout_ns, job.timeout_ns) = (400 * MS, 60 * SECOND);
    // The load begins when the opening of connections has timed out.
    let (done, took) = stopped(job, "/", Duration::from_millis(600), &[StopLevel::Drain]);
    let counts = done.tally.counts;
    assert_eq!((counts.sent, counts.timed_out), (3, 3), "{:?}", done.classes());
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[test]
fn repeated_stops_are_idempotent() {
    let target = target::start(Settings::default()).expect("a target");
    let levels: Vec<StopLevel> = [StopLevel::Drain, StopLevel::Go].repeat(500);
    let job = closed(tcp(target.address()), 5, lasting(LONG));
    let (done, took) = stopped(job, "/hold?mean_us=10000", SOON, &levels);
    assert_eq!(done.tally.counts.ok, done.tally.counts.sent);
    assert!(took < Duration::from_secs(1), "{took:?}");
}
