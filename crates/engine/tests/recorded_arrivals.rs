//! Recorded arrivals, of a whole load and of each user, are replayed exactly.

use crate::support::acts::{Act, acts};
use crate::support::{Done, MS, SECOND, closed, finish, get, lasting, limit, open, run, tcp};
use engine::{Endpoint, Job, Peer};
use load::{Arrival, Load, Recording, Schedule, Stop};
use target::{Running, Settings};

const NO_END: Stop = Stop { at_ns: None, requests: None };

fn built_in() -> Running {
    target::start(Settings::default()).expect("a target")
}

fn recording(send_times: impl IntoIterator<Item = (u64, Option<u32>)>) -> Schedule {
    let arrivals = send_times.into_iter().map(|(at_ns, session)| Arrival { at_ns, session });
    Schedule::Recorded(Recording::new(arrivals.collect()))
}

/// Returns uneven arrivals of four sessions: bursts, pauses, and equal times.
fn uneven() -> Vec<(u64, Option<u32>)> {
    (0..120).map(|at: u64| (at / 3 * 5 * MS + at % 3 * at % 7 * 10_001, Some(at as u32 % 4))).collect()
}

fn intended(done: &Done) -> Vec<u64> {
    done.sampled.iter().map(|request| request.finish.intended_ns).collect()
}

fn sorted(send_times: &[(u64, Option<u32>)]) -> Vec<u64> {
    let mut sorted: Vec<u64> = send_times.iter().map(|(at_ns, _)| *at_ns).collect();
    sorted.sort_unstable();
    sorted
}

fn played_open(send_times: &[(u64, Option<u32>)], stop: Stop, threads: u32) -> Job {
    let target = tcp(std::net::SocketAddr::from(([127, 0, 0, 1], 1)));
    let mut job = Job { threads, stop, log_per_second: 10_000, ..open(target, 1.0, SECOND, 16) };
    if let Load::Open(open) = &mut job.load {
        open.schedule = recording(send_times.iter().copied());
    }
    job
}

fn played_by_users(peer: Peer, send_times: &[(u64, Option<u32>)], users: u32, stop: Stop) -> Job {
    let mut job = Job { log_per_second: 10_000, ..closed(peer, users, stop) };
    if let Load::Closed(closed) = &mut job.load {
        closed.schedule = Some(recording(send_times.iter().copied()));
    }
    job
}

#[test]
fn recorded_arrivals_are_exact_with_any_number_of_workers() {
    let send_times = uneven();
    for threads in [1, 2, 3] {
        let target = built_in();
        let job = Job { peers: vec![tcp(target.address())], ..played_open(&send_times, NO_END, threads) };
        let done = run(job, get("/status"));
        done.assert_all_ok(120);
        assert_eq!((done.tally.counts.planned, done.tally.counts.not_sent), (120, 0));
        assert_eq!(intended(&done), sorted(&send_times), "{threads}");
    }
}

#[test]
fn stop_cuts_recording_at_time_or_count() {
    let send_times = uneven();
    let target = built_in();
    let play = |stop| {
        let job = Job { peers: vec![tcp(target.address())], ..played_open(&send_times, stop, 2) };
        intended(&run(job, get("/status")))
    };
    let all = sorted(&send_times);
    let before = all.iter().filter(|at_ns| **at_ns < 100 * MS).count();
    assert_eq!(play(lasting(100 * MS)), all[..before]);
    assert_eq!(play(Stop { at_ns: None, requests: Some(50) }), all[..50]);
}

#[test]
fn in_process_threads_share_one_recording() {
    let send_times = uneven();
    let job = Job {
        peers: vec![Peer::of(Endpoint::Unix("/nowhere".into()), None)],
        ..played_open(&send_times, NO_END, 1)
    };
    let limit = limit(&job);
    let running = engine::start_embedded(job, acts(&[Act::Say("a", None)])).expect("threads");
    let done = finish(running, limit);
    assert_eq!(intended(&done), sorted(&send_times));
}

/// Returns the intended time and user of each request, in order.
fn by_connection(done: &Done) -> Vec<(u64, Option<u32>)> {
    let sampled = done.sampled.iter();
    let mut pairs: Vec<_> =
        sampled.map(|request| (request.finish.intended_ns, Some(request.connection))).collect();
    pairs.sort_unstable();
    pairs
}

#[test]
fn each_user_replays_its_own_session_exactly() {
    let mut send_times = uneven();
    for threads in [1, 2] {
        let target = built_in();
        let job = Job { threads, ..played_by_users(tcp(target.address()), &send_times, 4, NO_END) };
        let done = run(job, get("/status"));
        done.assert_all_ok(120);
        assert_eq!(done.tally.counts.planned, 120);
        send_times.sort_unstable();
        assert_eq!(by_connection(&done), send_times, "{threads}");
        assert!(done.sampled.iter().all(|request| request.finish.sent_ns >= request.finish.intended_ns));
    }
}

#[test]
fn slow_user_has_send_delay_from_recorded_times() {
    let target = built_in();
    let send_times: Vec<(u64, Option<u32>)> = (0..10).map(|at| (at * 10 * MS, Some(0))).collect();
    let done =
        run(played_by_users(tcp(target.address()), &send_times, 1, NO_END), get("/hold?mean_us=30000"));
    done.assert_all_ok(10);
    assert_eq!(intended(&done), sorted(&send_times));
    // Each hold takes longer than the mean interval of arrivals, and the next request waits for the reply.
    for pair in done.sampled.windows(2) {
        assert!(pair[1].finish.sent_ns >= pair[0].finish.finished_ns);
    }
    let [response, service, lateness] =
        [&done.tally.response, &done.tally.service, &done.tally.lateness].map(|split| split.ok.sum_ns());
    assert_eq!(response, service + lateness);
    assert!(lateness > 0);
}

#[test]
fn recorded_requests_never_reached_are_planned_and_not_sent() {
    let target = built_in();
    let send_times: Vec<(u64, Option<u32>)> =
        (0..2_000).map(|at| (at * MS / 10, Some(at as u32 % 2))).collect();
    let job = played_by_users(tcp(target.address()), &send_times, 2, lasting(100 * MS));
    let done = run(job, get("/hold?mean_us=50000"));
    let counts = done.tally.counts;
    assert_eq!(counts.planned, 1_000, "those before the end: {counts:?}");
    assert!(counts.not_sent > 500, "{counts:?}");
    assert_eq!(counts.planned, counts.sent + counts.not_sent, "{counts:?}");
}

#[test]
fn request_recorded_just_before_the_end_is_sent() {
    let target = built_in();
    let send_times = [(0, Some(0)), (50 * MS - 1, Some(1))];
    let job = played_by_users(tcp(target.address()), &send_times, 2, lasting(50 * MS));
    let done = run(job, get("/status"));
    done.assert_all_ok(2);
    assert_eq!(intended(&done), sorted(&send_times));
}

#[test]
fn pool_users_replay_sessions_and_wait_for_connections() {
    let target = built_in();
    let mut send_times = uneven();
    let job = Job { pool: Some(2), ..played_by_users(tcp(target.address()), &send_times, 4, NO_END) };
    let done = run(job, get("/status"));
    done.assert_all_ok(120);
    send_times.sort_unstable();
    assert_eq!(intended(&done), sorted(&send_times));
    assert_eq!((done.tally.connections, done.tally.counts.planned), (2, 120));
}
