//! Workers' measurements of themselves, checked against known values and against other counts of the same events.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use crate::support::acts::{Act, Acts, acts};
use crate::support::lines::{Answer, Lines};
use crate::support::scenario::{in_turn, visit, with_scenarios};
use crate::support::{Done, MS, SECOND, closed, count, finish, get, lasting, limit, open, run, tcp};
use engine::{Endpoint, Job, Peer};
use load::open::Profile;
use load::{Load, Schedule, Spacing, ThinkTime};
use record::{Pulse, Pulses, Tail};
use target::{Running, Settings};

fn built_in() -> Running {
    target::start(Settings::default()).expect("a target")
}

fn tail(done: &Done) -> Tail {
    done.ends.iter().fold(Tail::default(), |mut all, end| {
        all.merge(&end.health.tail);
        all
    })
}

fn sum(done: &Done, what: impl Fn(&Pulse) -> u64) -> u128 {
    done.pulses.iter().map(|(_, pulse)| u128::from(what(pulse))).sum()
}

/// Asserts Little's law: the mean number in flight is throughput × mean service time, each from a separate count.
#[track_caller]
fn assert_little(done: &Done) {
    let in_flight_ns: u64 = done.ends.iter().map(|end| end.health.in_flight_ns).sum();
    let span_s = done.tally.span_ns().expect("requests") as f64 / 1e9;
    let mean = in_flight_ns as f64 / 1e9 / span_s;
    let service = done.tally.service.all();
    let expected = service.count() as f64 / span_s * (service.mean_ns().expect("requests") / 1e9);
    assert!((mean / expected - 1.0).abs() < 0.02, "{mean} in flight, and {expected} by throughput");
    let both = service.sum_ns() + done.warm_up.service.all().sum_ns();
    let in_windows = sum(done, |pulse| pulse.in_flight_ns);
    let ratio = in_windows as f64 / both as f64;
    assert!((ratio - 1.0).abs() < 0.02, "{in_windows} in windows, and {both} by service times");
}

/// Asserts that windows come in order and without gaps from the start of the load, and add up to the tally.
#[track_caller]
fn assert_windows(done: &Done) {
    let mut by_worker: BTreeMap<u32, Vec<Pulse>> = BTreeMap::new();
    done.pulses.iter().for_each(|(worker, pulse)| by_worker.entry(*worker).or_default().push(*pulse));
    assert_eq!(by_worker.len(), done.ends.len());
    for windows in by_worker.values() {
        for (number, pulse) in (0..).zip(windows) {
            assert_eq!(pulse.at_ns, number * Pulse::WINDOW_NS);
            assert!(pulse.lasting_ns <= Pulse::WINDOW_NS);
        }
        let (last, whole) = windows.split_last().expect("a window");
        assert!(whole.iter().all(|pulse| pulse.lasting_ns == Pulse::WINDOW_NS), "{last:?}");
    }
    let ended = |tally: &record::Tally| tally.counts.ended() - tally.counts.unfinished;
    let response_ns = |tally: &record::Tally| tally.response.all().sum_ns();
    assert_eq!(sum(done, |pulse| pulse.ended), u128::from(ended(&done.tally) + ended(&done.warm_up)));
    let responses_ns = response_ns(&done.tally) + response_ns(&done.warm_up);
    assert_eq!(sum(done, |pulse| pulse.response_sum_ns), responses_ns);
    let cpu_ns: u64 = done.ends.iter().map(|end| end.health.cpu_ns).sum();
    assert!(sum(done, |pulse| pulse.cpu_ns) <= u128::from(cpu_ns));
    // Windows as [`record::Pulses`] collects them.
    let mut kept = Pulses::default();
    done.pulses.iter().for_each(|(_, pulse)| kept.note(pulse));
    assert_eq!(
        kept.windows().iter().map(|window| u128::from(window.ended)).sum::<u128>(),
        sum(done, |p| p.ended)
    );
    let tail = tail(done).all();
    assert_eq!((tail.count, u128::from(tail.response_ns)), (ended(&done.tally), response_ns(&done.tally)));
}

#[test]
fn time_in_flight_satisfies_littles_law() {
    let target = built_in();
    let mut thinking = closed(tcp(target.address()), 6, lasting(700 * MS));
    if let Load::Closed(closed) = &mut thinking.load {
        closed.think_time = ThinkTime::Constant { ns: 3 * MS };
    }
    let mut pooled = closed(tcp(target.address()), 9, lasting(600 * MS));
    pooled.pool = Some(3);
    let loads = [closed(tcp(target.address()), 5, lasting(600 * MS)), thinking, pooled];
    for mut job in loads {
        (job.threads, job.warm_up_ns) = (2, 150 * MS);
        let done = run(job, get("/hold?mean_us=2000"));
        done.assert_all_ok(done.tally.counts.planned);
        assert_little(&done);
        assert_windows(&done);
    }
    // Replies of a dense open load are read late; those of a sparse one on arrival.
    for (per_s, target_of) in [(4_000.0, "/status"), (100.0, "/hold?mean_us=20000")] {
        let mut job = open(tcp(target.address()), per_s, 800 * MS, 60);
        if let Load::Open(open) = &mut job.load {
            open.schedule = Schedule::Rate(Profile::constant(per_s), Spacing::poisson(5));
        }
        (job.threads, job.warm_up_ns) = (2, 300 * MS);
        let done = run(job, get(target_of));
        done.assert_all_ok(done.tally.counts.planned);
        assert_little(&done);
        assert_windows(&done);
    }
}

#[test]
fn request_waiting_for_connection_is_in_flight_from_sending() {
    let target = built_in();
    for is_open in [false, true] {
        let peer = tcp(target.address());
        let mut job = if is_open { open(peer, 200.0, 500 * MS, 20) } else { closed(peer, 3, count(100)) };
        job.peers[0].keep_alive = false;
        let done = run(job, get("/hold?mean_us=1000"));
        done.assert_all_ok(100);
        assert_little(&done);
        assert_windows(&done);
    }
}

#[test]
fn abandoned_and_timed_out_requests_count_as_in_flight() {
    let server = Lines::start(|_, _| Answer::Silence);
    let job = Job { timeout_ns: 120 * MS, ..closed(tcp(server.address), 2, lasting(300 * MS)) };
    let done = run(job, acts(&[Act::Say("a", None)]));
    assert!(done.tally.counts.timed_out >= 2, "{:?}", done.tally.counts);
    assert_little(&done);
    assert_windows(&done);
    let job = Job { timeout_ns: 5 * SECOND, ..closed(tcp(server.address), 2, lasting(SECOND)) };
    let limit = limit(&job);
    let running = engine::start(job, acts(&[Act::Say("a", None)])).expect("threads");
    std::thread::sleep(Duration::from_millis(300));
    running.stop(engine::StopLevel::Abort);
    let done = finish(running, limit);
    assert_eq!(done.tally.counts.unfinished, 2);
    assert_windows(&done);
    let in_flight_ns: u64 = done.ends.iter().map(|end| end.health.in_flight_ns).sum();
    assert!(in_flight_ns > 2 * 50 * MS, "{in_flight_ns}");
}

/// Returns a server that answers immediately, and a script that stops the client once, before its twentieth request.
fn stopping(lasting: Duration) -> (Lines, Acts) {
    let server = Lines::start(|_, _| Answer::Say("ok\n"));
    let stops = Some((Arc::new(AtomicU64::new(0)), 20, lasting));
    (server, Acts { stops, ..acts(&[Act::Say("a", None)]) })
}

#[test]
fn stopped_generator_counts_its_own_lag() {
    let (server, script) = stopping(Duration::from_millis(300));
    let done = run(open(tcp(server.address), 100.0, SECOND, 100), script);
    done.assert_all_ok(100);
    assert_windows(&done);
    // 30 requests fell due meanwhile.
    let slowest = tail(&done).slowest(record::Percentile::P90);
    assert!(slowest.count >= 10 && slowest.response_ns > 10 * 150 * MS, "{slowest:?}");
    // The request that was about to be sent may count as sent.
    assert!(slowest.lag_share().is_some_and(|share| share > 0.8), "{slowest:?}");
    assert!(done.ends[0].health.heartbeat_max_ns > 280 * MS, "{:?}", done.ends[0].health.heartbeat_max_ns);
}

#[test]
fn waiting_replies_count_as_lag_of_stopped_generator() {
    let server = Lines::start(|_, _| Answer::Later(Duration::from_millis(30), "ok\n"));
    let stops = Some((Arc::new(AtomicU64::new(0)), 20, Duration::from_millis(300)));
    let script = Acts { stops, ..acts(&[Act::Say("a", None)]) };
    let done = run(closed(tcp(server.address), 8, count(60)), script);
    done.assert_all_ok(60);
    // All eight replies waited, and the request that was about to be sent counts as sent.
    let slowest = tail(&done).slowest(record::Percentile::from_ppm(870_000).expect("a share"));
    assert!(slowest.count >= 8 && slowest.response_ns > slowest.count * 200 * MS, "{slowest:?}");
    assert!(slowest.lag_share().is_some_and(|share| share > 0.6), "{slowest:?}");
}

#[test]
fn wait_for_connection_is_not_generator_lag() {
    let server = Lines::start(|_, _| Answer::Later(Duration::from_millis(40), "ok\n"));
    let pooled = Job { pool: Some(1), ..closed(tcp(server.address), 6, lasting(600 * MS)) };
    let mut steps =
        with_scenarios(open(tcp(server.address), 30.0, 600 * MS, 1), in_turn(vec![visit(0, 0), visit(1, 0)]));
    steps.stop.at_ns = Some(600 * MS);
    let two = Acts { steps: vec![vec![Act::Say("a", None)], vec![Act::Say("b", None)]], ..Acts::default() };
    let loads = [
        (open(tcp(server.address), 60.0, 600 * MS, 1), acts(&[Act::Say("a", None)])),
        (pooled, acts(&[Act::Say("a", None)])),
        (steps, two),
    ];
    for (job, script) in loads {
        let done = run(job, script);
        assert_eq!(done.tally.counts.ok, done.tally.counts.sent);
        let late_ns = done.tally.lateness.all().sum_ns();
        let tail = tail(&done).all();
        assert!(late_ns > u128::from(tail.response_ns) / 3, "they waited: {late_ns} of {tail:?}");
        assert!(tail.lag_share().is_some_and(|share| share < 0.2), "{tail:?}");
    }
}

#[test]
fn in_process_calls_are_not_generator_stalls() {
    let script = Acts { call: Duration::from_millis(400), ..acts(&[Act::Say("a", None)]) };
    let job = closed(Peer::of(Endpoint::Unix("/nowhere".into()), None), 1, count(3));
    let limit = limit(&job);
    let done = finish(engine::start_embedded(job, script).expect("threads"), limit);
    done.assert_all_ok(3);
    assert!(done.ends[0].health.heartbeat_max_ns < 400 * MS, "{}", done.ends[0].health.heartbeat_max_ns);
    assert!(tail(&done).all().lag_share().is_some_and(|share| share < 0.3), "{:?}", tail(&done).all());
    assert_little(&done);
    assert_windows(&done);
}

#[test]
fn reply_bytes_equal_bytes_on_sockets() {
    let target = built_in();
    let mut job = closed(tcp(target.address()), 4, lasting(400 * MS));
    (job.threads, job.warm_up_ns) = (2, 100 * MS);
    let done = run(job, get("/bytes?n=700"));
    let counted: u64 = done.ends.iter().map(|end| end.health.reply_bytes).sum();
    assert!(counted > 0);
    assert_eq!(counted, done.tally.received_bytes);
}
