//! Think time is not an outage: a gap is only time in which a user waited for a reply and got none.

use std::time::Duration;

use engine::Job;
use harness::quiet::assert_measured;
use load::{Load, ThinkTime};
use record::{ConnectionTotals, Gap, Gaps, Spread, Waits};
use target::scripted::{Script, Step};
use target::{Settings, Stall};

use crate::support::{Done, MS, closed, get, lasting, reply, run, tcp};

fn thinking(mut job: Job, think_ns: u64) -> Job {
    if let Load::Closed(closed) = &mut job.load {
        closed.think_time = ThinkTime::Constant { ns: think_ns };
    }
    job
}

fn gaps(done: &Done, window_ns: u64) -> Vec<Gap> {
    let mut gaps = Gaps::new(0);
    done.pulses.iter().for_each(|(_, pulse)| gaps.note(pulse));
    gaps.end(window_ns)
}

/// Returns the total time, in milliseconds, of waits without an answer that lasted longer than 250 ms.
fn waited_ms(done: &Done) -> u64 {
    let mut waits = Waits::default();
    done.ends.iter().for_each(|end| waits.merge(&end.health.waits));
    (waits.failed_ns(0) + waits.unanswered_ns(0, 0)) / MS
}

#[test]
fn close_during_think_time_is_not_a_gap() {
    // The second request of a connection is read and not answered, as if the server had just closed the connection.
    let steps = vec![Step::ReadRequest, Step::Send(reply(200, "ok")), Step::ReadRequest];
    let server = target::scripted::start(move |_| Script(steps.clone())).expect("a server");
    let done = run(thinking(closed(tcp(server.address()), 2, lasting(6_000 * MS)), 2_000 * MS), get("/"));
    assert!(done.errors("closed_before_reply") >= 2, "{:?}", done.classes());
    assert!(done.tally.counts.ok >= 2, "{:?}", done.tally.counts);
    assert_eq!((gaps(&done, 6_000 * MS), waited_ms(&done)), (Vec::new(), 0));
}

#[test]
fn rejecting_server_is_a_gap_between_back_offs_without_think_time() {
    assert_measured(|| {
        let port = target::scripted::closed_port().expect("a port");
        let done = run(closed(tcp(port.address()), 2, lasting(2_000 * MS)), get("/"));
        let gaps = gaps(&done, 2_000 * MS);
        assert_eq!(gaps.len(), 1, "{gaps:?}");
        assert!(gaps[0].is_open && gaps[0].lasting_ns > 1_900 * MS, "{gaps:?}");
        assert!(waited_ms(&done) > 2 * 1_900, "{}", waited_ms(&done));
    });
}

#[test]
fn outage_lasts_as_long_as_users_waited() {
    assert_measured(|| {
        let second = Duration::from_secs(1);
        let stall = Stall { first: second, lasting: second, every: None };
        let target = target::start(Settings { stall: Some(stall), ..Settings::default() }).expect("a target");
        let mut job = thinking(closed(tcp(target.address()), 4, lasting(4_000 * MS)), 600 * MS);
        job.log_per_second = 1_000;
        if let Load::Closed(closed) = &mut job.load {
            // Users send one after the other.
            closed.ramp_up_ns = 600 * MS;
        }
        let done = run(job, get("/"));
        let waits = done.sampled.iter().map(|request| request.finish);
        let waits: Vec<_> =
            waits.filter(|finish| finish.finished_ns - finish.intended_ns > 100 * MS).collect();
        let first_ns = waits.iter().map(|finish| finish.intended_ns).min().expect("a user who waited");
        let last_ns = waits.iter().map(|finish| finish.finished_ns).max().expect("a user who waited");
        let gaps = gaps(&done, 4_000 * MS);
        assert_eq!(gaps.len(), 1, "{gaps:?}");
        assert!(
            gaps[0].lasting_ns.abs_diff(last_ns - first_ns) < 20 * MS,
            "{gaps:?}, {first_ns} to {last_ns}"
        );
        assert!((800..=1_020).contains(&(gaps[0].lasting_ns / MS)), "{gaps:?}");
        let seen_ms: u64 = waits
            .iter()
            .map(|finish| (finish.finished_ns - finish.intended_ns) / MS)
            .filter(|wait_ms| *wait_ms >= 250)
            .sum();
        assert!(waited_ms(&done).abs_diff(seen_ms) < 20, "{} and {seen_ms} ms", waited_ms(&done));
    });
}

/// Returns the number of connections that had requests and got no reply.
fn unserved(done: &Done) -> Option<u64> {
    let connections: Vec<ConnectionTotals> =
        done.ends.iter().flat_map(|end| &end.connections).copied().collect();
    Spread::over(&connections)?.unserved
}

#[test]
fn users_who_think_for_the_whole_measured_time_are_served() {
    let server = target::start(Settings::default()).expect("a server");
    let job = thinking(closed(tcp(server.address()), 4, lasting(300 * MS)), 60_000 * MS);
    let done = run(Job { warm_up_ns: 300 * MS, ..job }, get("/"));
    assert_eq!(done.warm_up.counts.ok + done.tally.counts.ok, 4);
    assert_eq!(unserved(&done), Some(0), "{:?}", done.tally.counts);
    // A server that reads requests and answers none.
    let silent =
        target::scripted::start(|_| Script(vec![Step::ReadRequest, Step::HoldOpen])).expect("a server");
    let job = closed(tcp(silent.address()), 4, lasting(300 * MS));
    let done = run(Job { timeout_ns: 200 * MS, ..job }, get("/"));
    assert_eq!(unserved(&done), Some(4), "{:?}", done.tally.counts);
}
