//! Open loads from end to end: every planned request is sent or counted as not sent, and send delays are part of response times.

use crate::support::{Done, MS, SECOND, get, open, run, tcp};
use engine::Job;
use load::open::{Profile, Stage};
use load::{Load, Open, Schedule, Share, Spacing, Stop};
use record::Percentile;
use target::{Running, Settings};

fn built_in() -> Running {
    target::start(Settings::default()).expect("a target")
}

fn shape(job: &mut Job, change: impl FnOnce(&mut Open)) {
    let Load::Open(open) = &mut job.load else { panic!("the load is open") };
    change(open);
}

/// Returns the send times of all workers, computed without a load.
fn send_times(job: &Job) -> Vec<u64> {
    let Load::Open(open) = &job.load else { panic!("the load is open") };
    open.arrivals(Share::WHOLE)
        .take_while(|at_ns| job.stop.at_ns.is_none_or(|end_ns| *at_ns < end_ns))
        .collect()
}

fn intended(done: &Done) -> Vec<u64> {
    done.sampled.iter().map(|request| request.finish.intended_ns).collect()
}

#[test]
fn constant_rate_sends_every_planned_request() {
    for threads in 1..=3 {
        let target = built_in();
        let mut job = open(tcp(target.address()), 400.0, SECOND, 12);
        (job.threads, job.log_per_second) = (threads, 10_000);
        let expected = send_times(&job);
        let done = run(job, get("/status"));
        done.assert_all_ok(400);
        assert_eq!((done.tally.counts.planned, done.tally.counts.not_sent), (400, 0));
        assert_eq!(target.counters().requests, 400);
        assert_eq!(intended(&done), expected);
    }
}

#[test]
fn poisson_arrivals_depend_on_the_seed_only() {
    let target = built_in();
    let run_with = |seed, threads| {
        let mut job = open(tcp(target.address()), 300.0, SECOND, 9);
        shape(&mut job, |open| {
            open.schedule = Schedule::Rate(Profile::constant(300.0), Spacing::poisson(seed))
        });
        (job.threads, job.log_per_second) = (threads, 10_000);
        let expected = send_times(&job);
        let done = run(job, get("/status"));
        done.assert_all_ok(expected.len() as u64);
        assert_eq!(intended(&done), expected);
        expected
    };
    let first = run_with(7, 1);
    assert_eq!(run_with(7, 3), first);
    assert_ne!(run_with(8, 2), first);
}

#[test]
fn ramps_and_stages_send_the_integral_of_the_rate() {
    let stage = |to_per_s, for_ns| Stage { to_per_s, for_ns };
    let stages = Profile::stages(0.0, &[stage(100.0, 500 * MS), stage(300.0, 0), stage(300.0, 500 * MS)]);
    // (0 + 200) / 2 × 1 s, and 100 / 2 × 0.5 s + 300 × 0.5 s.
    for (profile, planned) in [(Profile::ramp(0.0, 200.0, SECOND), 100), (stages, 175)] {
        for threads in [1, 2] {
            let target = built_in();
            let mut job = open(tcp(target.address()), 1.0, SECOND, 8);
            shape(&mut job, |open| open.schedule = Schedule::Rate(profile.clone(), Spacing::EVEN));
            job.threads = threads;
            let done = run(job, get("/status"));
            done.assert_all_ok(planned);
            assert_eq!(done.tally.counts.planned, planned);
            assert_eq!(target.counters().requests, planned);
        }
    }
}

#[test]
fn request_count_ends_open_load_exactly() {
    for threads in 1..=3 {
        let target = built_in();
        let mut job = open(tcp(target.address()), 1_000.0, SECOND, 6);
        (job.stop, job.threads) = (Stop { at_ns: None, requests: Some(250) }, threads);
        run(job, get("/status")).assert_all_ok(250);
        assert_eq!(target.counters().requests, 250);
    }
}

#[test]
fn planned_requests_exclude_warm_up() {
    let target = built_in();
    let mut job = open(tcp(target.address()), 200.0, 1_500 * MS, 8);
    (job.warm_up_ns, job.threads) = (500 * MS, 2);
    let done = run(job, get("/status"));
    done.assert_all_ok(200);
    assert_eq!(done.tally.counts.planned, 200);
    assert_eq!((done.warm_up.counts.planned, done.warm_up.counts.ok), (100, 100));
    assert_eq!(target.counters().requests, 300);
}

/// Starts a target that handles one request at a time, in 100 ms each: 10 per second, while 100 are requested.
fn overloaded() -> Running {
    target::start(Settings { threads: 1, ..Settings::default() }).expect("a target")
}

#[test]
fn late_arrivals_are_shed_and_counted_as_not_sent() {
    let target = overloaded();
    let mut job = open(tcp(target.address()), 100.0, SECOND, 2);
    shape(&mut job, |open| open.shed_after_ns = Some(50 * MS));
    let done = run(job, get("/hold?mean_us=100000"));
    let counts = done.tally.counts;
    assert_eq!(counts.planned, 100);
    assert!(counts.not_sent >= 50, "{counts:?}");
    assert!(counts.sent >= 5, "{counts:?}");
    assert_eq!(counts.planned, counts.sent + counts.not_sent);
    assert_eq!(target.counters().requests, counts.sent);
    let latest_ns = done.tally.lateness.all().max_ns().expect("samples");
    assert!(latest_ns < 300 * MS, "what is sent is not much later than the limit: {latest_ns}");
}

#[test]
fn sheds_nothing_if_target_keeps_up() {
    for threads in [1, 2] {
        let target = built_in();
        let mut job = open(tcp(target.address()), 100.0, SECOND, 10);
        shape(&mut job, |open| open.shed_after_ns = Some(500 * MS));
        job.threads = threads;
        let done = run(job, get("/status"));
        assert_eq!(done.tally.counts.not_sent, 0, "{:?}", done.tally.counts);
        done.assert_all_ok(100);
    }
}

#[test]
fn late_requests_without_shedding_count_from_intended_time() {
    // Two connections with a hold of 50 ms carry 40 requests per second; 60 are requested, for one second.
    let target = built_in();
    let done = run(open(tcp(target.address()), 60.0, SECOND, 2), get("/hold?mean_us=50000"));
    done.assert_all_ok(60);
    let max_ns = |histogram: record::Histogram| histogram.max_ns().expect("samples");
    let (response_ns, service_ns) = (max_ns(done.tally.response.all()), max_ns(done.tally.service.all()));
    assert!(response_ns > 400 * MS, "{response_ns}");
    let median_ns = done.tally.service.all().value_at(Percentile::P50).expect("samples");
    assert!(median_ns < response_ns / 3, "{median_ns} of {service_ns}, against {response_ns}");
    assert!(max_ns(done.tally.lateness.all()) > 350 * MS);
}

#[test]
fn requests_due_long_after_the_end_count_as_not_sent() {
    let target = overloaded();
    let mut job = open(tcp(target.address()), 200.0, SECOND, 2);
    job.timeout_ns = 2 * SECOND;
    let done = run(job, get("/hold?mean_us=100000"));
    let counts = done.tally.counts;
    assert_eq!(counts.planned, 200);
    assert!(counts.not_sent > 100, "{counts:?}");
    assert_eq!(counts.planned, counts.sent + counts.not_sent);
    assert_eq!(target.counters().requests, counts.sent);
}
