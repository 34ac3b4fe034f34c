//! Closed loads from end to end: users, pauses, limits, counts, and warm-up, compared with the target's own count.

use std::time::Duration;

use crate::support::{Done, MS, SECOND, assert_no_warm_up, closed, count, get, lasting, run, tcp};
use engine::Job;
use load::{Closed, Load, Stop, ThinkTime};
use record::Percentile;
use target::{Running, Settings};
use wire::http1::Http1;

fn built_in() -> Running {
    target::start(Settings::default()).expect("a target")
}

fn shape(job: &mut Job, change: impl FnOnce(&mut Closed)) {
    let Load::Closed(closed) = &mut job.load else { panic!("the load is closed") };
    change(closed);
}

/// Runs on a new target, and asserts that it received exactly the requests that were sent.
fn run_counted(job: Job, script: Http1, target: Running) -> Done {
    let done = run(job, script);
    let sent = done.tally.counts.sent + done.warm_up.counts.sent;
    assert_eq!(target.counters().requests, sent, "{:?}", done.classes());
    done
}

#[test]
fn request_count_is_exact_with_any_number_of_threads() {
    for threads in 1..=3 {
        for requests in [3, 100, 1_001] {
            let target = built_in();
            let mut job = closed(tcp(target.address()), 7, count(requests));
            job.threads = threads;
            let done = run_counted(job, get("/status"), target);
            done.assert_all_ok(requests);
            assert_eq!(done.tally.counts.planned, requests);
            assert_eq!(done.ends.len(), threads as usize);
            let served: u64 =
                done.ends.iter().flat_map(|end| &end.connections).map(|totals| totals.requests).sum();
            assert_eq!(served, requests);
            assert_no_warm_up(&done);
        }
    }
}

#[test]
fn count_below_number_of_users_is_exact() {
    let target = built_in();
    let mut job = closed(tcp(target.address()), 50, count(5));
    job.threads = 2;
    run_counted(job, get("/status"), target).assert_all_ok(5);
}

#[test]
fn each_user_keeps_one_request_in_flight() {
    // Each of 10 users completes a 20 ms hold at most 50 times per second.
    let target = built_in();
    let done =
        run_counted(closed(tcp(target.address()), 10, lasting(SECOND)), get("/hold?mean_us=20000"), target);
    let sent = done.tally.counts.sent;
    assert!(sent <= 510, "{sent}");
    assert!(sent >= 200, "{sent}");
    done.assert_all_ok(sent);
    assert_eq!(done.tally.connections, 10);
}

#[test]
fn think_time_runs_from_reply_to_next_request() {
    let think_times =
        [ThinkTime::Constant { ns: 50 * MS }, ThinkTime::Uniform { min_ns: 50 * MS, max_ns: 60 * MS }];
    for think_time in think_times {
        let target = built_in();
        let mut job = closed(tcp(target.address()), 5, lasting(SECOND));
        shape(&mut job, |closed| closed.think_time = think_time);
        let done = run_counted(job, get("/status"), target);
        let sent = done.tally.counts.sent;
        // One request per 50 ms at most; the first is sent immediately.
        assert!((25..=100).contains(&sent), "{sent}");
        done.assert_all_ok(sent);
    }
}

#[test]
fn pacing_counts_from_start_to_start() {
    // The hold is shorter than the pace, so it does not lengthen it.
    let target = built_in();
    let mut job = closed(tcp(target.address()), 4, lasting(SECOND));
    shape(&mut job, |closed| closed.pacing_ns = 100 * MS);
    job.log_per_second = 1_000;
    let done = run_counted(job, get("/hold?mean_us=30000"), target);
    let sent = done.tally.counts.sent;
    assert!((20..=40).contains(&sent), "{sent}");
    for user in 0..4 {
        let starts = done.sampled.iter().filter(|request| request.connection == user);
        let starts: Vec<u64> = starts.map(|request| request.finish.intended_ns).collect();
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= 100 * MS), "{starts:?}");
    }
}

#[test]
fn users_start_over_the_ramp_up() {
    let target = built_in();
    let mut job = closed(tcp(target.address()), 10, lasting(SECOND));
    shape(&mut job, |closed| {
        closed.ramp_up_ns = SECOND;
        closed.pacing_ns = 5 * SECOND;
    });
    (job.log_per_second, job.threads) = (1_000, 3);
    let done = run_counted(job, get("/status"), target);
    done.assert_all_ok(10);
    let starts: Vec<u64> = done.sampled.iter().map(|request| request.finish.intended_ns).collect();
    assert_eq!(starts, (0..10).map(|user| user * 100 * MS).collect::<Vec<_>>());
}

#[test]
fn throughput_limit_holds_over_all_threads() {
    for threads in 1..=3 {
        let target = built_in();
        let mut job = closed(tcp(target.address()), 9, lasting(SECOND));
        shape(&mut job, |closed| closed.throughput_per_s = Some(90.0));
        job.threads = threads;
        let done = run_counted(job, get("/status"), target);
        let sent = done.tally.counts.sent;
        assert!(sent <= 91, "{sent}");
        assert!(sent >= 60, "{sent}");
    }
}

#[test]
fn warm_up_requests_are_sent_and_not_measured() {
    let target = built_in();
    let mut job = closed(tcp(target.address()), 4, lasting(800 * MS));
    (job.warm_up_ns, job.threads) = (400 * MS, 2);
    let done = run_counted(job, get("/hold?mean_us=5000"), target);
    let (warm_up, measured) = (done.warm_up.counts, done.tally.counts);
    assert!(warm_up.sent > 40 && measured.sent > 40, "{warm_up:?} {measured:?}");
    assert_eq!(done.warm_up.response.ok.count(), warm_up.ok);
    assert_eq!(done.tally.response.ok.count(), measured.ok);
    assert!(done.tally.first_sent_ns.expect("requests") >= 400 * MS);
    let served: u64 = done.ends.iter().flat_map(|end| &end.connections).map(|totals| totals.requests).sum();
    assert_eq!(served, measured.ok, "fairness is measured without the warm-up, too");
}

#[test]
fn request_count_excludes_warm_up() {
    let target = built_in();
    let mut job = closed(tcp(target.address()), 4, count(50));
    job.warm_up_ns = 200 * MS;
    let done = run_counted(job, get("/hold?mean_us=2000"), target);
    assert_eq!(done.tally.counts.sent, 50);
    assert!(done.warm_up.counts.sent > 50, "{:?}", done.warm_up.counts);
}

#[test]
fn load_ends_at_time_or_count_whichever_comes_first() {
    for (stop, is_counted) in [
        (Stop { at_ns: Some(20 * SECOND), requests: Some(40) }, true),
        (Stop { at_ns: Some(300 * MS), requests: Some(1_000_000) }, false),
    ] {
        let target = built_in();
        let done = run_counted(closed(tcp(target.address()), 4, stop), get("/hold?mean_us=5000"), target);
        assert_eq!(done.tally.counts.sent == 40, is_counted, "{:?}", done.tally.counts);
        assert!(done.took < Duration::from_secs(3), "{:?}", done.took);
    }
}

#[test]
fn load_ends_at_count_while_users_pause() {
    // The last request has ended; the load must not wait for users who may not start another.
    for change in [
        (|closed: &mut Closed| closed.ramp_up_ns = 40 * SECOND) as fn(&mut Closed),
        |closed| closed.think_time = ThinkTime::Constant { ns: 20 * SECOND },
        |closed| closed.pacing_ns = 20 * SECOND,
    ] {
        let target = built_in();
        let mut job = closed(tcp(target.address()), 4, count(1));
        shape(&mut job, change);
        let done = run_counted(job, get("/status"), target);
        done.assert_all_ok(1);
        assert!(done.took < Duration::from_secs(2), "{:?}", done.took);
    }
}

#[test]
fn service_and_response_time_agree_without_send_delay() {
    let target = built_in();
    let done =
        run_counted(closed(tcp(target.address()), 2, lasting(500 * MS)), get("/hold?mean_us=10000"), target);
    let (response, service) = (&done.tally.response.ok, &done.tally.service.ok);
    assert_eq!(response.count(), service.count());
    assert!(response.min_ns().expect("samples") >= 10 * MS, "no reply before the hold is over");
    let median = |histogram: &record::Histogram| histogram.value_at(Percentile::P50).expect("samples");
    assert!(median(response).abs_diff(median(service)) < 5 * MS);
}
