//! Shares of a load that run separately and add up to the whole load.

use std::time::Duration;

use crate::support::acts::{Act, acts};
use crate::support::lines::{Answer, Lines};
use crate::support::{
    Done, MS, SECOND, closed, count, finish, finish_with, get, lasting, limit, open, run, tcp,
};
use engine::{Endpoint, Job, Peer};
use load::open::Profile;
use load::{Load, Schedule, Share, Spacing};
use target::Settings;

/// Splits a job into `of` shares.
fn parts(job: &Job, of: u32) -> Vec<Job> {
    (0..of).map(|index| Job { share: Share { index, of }, ..job.clone() }).collect()
}

fn sum(done: &[Done], what: impl Fn(&Done) -> u64) -> u64 {
    done.iter().map(what).sum()
}

#[test]
fn shares_of_closed_load_divide_users_and_requests() {
    for (of, threads, pool) in [(2, 1, None), (2, 4, None), (3, 3, None), (2, 2, Some(5))] {
        let target = target::start(Settings::default()).expect("a target");
        let whole = Job { threads, pool, ..closed(tcp(target.address()), 7, count(1_001)) };
        let whole = Job { log_per_second: 10_000, ..whole };
        let done: Vec<Done> = parts(&whole, of).into_iter().map(|job| run(job, get("/status"))).collect();
        assert_eq!(sum(&done, |done| done.tally.counts.ok), 1_001, "{of} {threads} {pool:?}");
        assert_eq!(target.counters().requests, 1_001);
        assert_eq!(sum(&done, |done| done.tally.connections), u64::from(pool.unwrap_or(7)));
        // Connections are numbered over all shares.
        let of_each = |done: &Done| {
            let mut numbers: Vec<u32> = done.sampled.iter().map(|request| request.connection).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        let mut numbers: Vec<u32> = done.iter().flat_map(of_each).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..pool.unwrap_or(7)).collect::<Vec<_>>(), "{of} {threads}");
    }
}

#[test]
fn shares_of_open_load_divide_arrivals() {
    for (spacing, requests) in
        [(Spacing::EVEN, None), (Spacing::poisson(7), None), (Spacing::EVEN, Some(101))]
    {
        let target = target::start(Settings::default()).expect("a target");
        let mut whole = open(tcp(target.address()), 300.0, SECOND, 9);
        let Load::Open(shape) = &mut whole.load else { panic!("the load is open") };
        shape.schedule = Schedule::Rate(Profile::constant(300.0), spacing);
        (whole.log_per_second, whole.threads, whole.stop.requests) = (10_000, 2, requests);
        let intended = |done: &[Done]| {
            let all = done.iter().flat_map(|done| &done.sampled).map(|request| request.finish.intended_ns);
            let mut all: Vec<u64> = all.collect();
            all.sort_unstable();
            all
        };
        let parted: Vec<Done> = parts(&whole, 2).into_iter().map(|job| run(job, get("/status"))).collect();
        let expected = intended(&[run(whole, get("/status"))]);
        assert_eq!(intended(&parted), expected, "{spacing:?}");
        assert!(parted.iter().all(|part| part.tally.counts.ok > 40), "both do their part");
    }
}

#[test]
fn shares_of_in_process_load_add_up() {
    let nowhere = Peer::of(Endpoint::Unix("/nowhere".into()), None);
    let arrivals = Job {
        load: open(nowhere.clone(), 200.0, SECOND, 3).load,
        ..closed(nowhere.clone(), 3, lasting(SECOND))
    };
    for (whole, requests) in [(closed(nowhere, 3, count(31)), 31), (arrivals, 200)] {
        let run = |job: Job| {
            let limit = limit(&job);
            finish(engine::start_embedded(job, acts(&[Act::Say("a", None)])).expect("threads"), limit)
        };
        let done: Vec<Done> = parts(&whole, 2).into_iter().map(run).collect();
        assert_eq!(sum(&done, |done| done.tally.counts.ok), requests);
        assert_eq!(sum(&done, |done| done.tally.connections), 3);
    }
}

#[test]
fn rejects_fewer_connections_than_shares() {
    let nowhere = Peer::of(Endpoint::Unix("/nowhere".into()), None);
    for job in parts(&closed(nowhere, 2, count(10)), 3) {
        let refused = engine::start(job.clone(), get("/status")).expect_err("a part would have none");
        assert_eq!(refused.to_string(), "2 connections cannot be divided among 3 generators");
        assert!(engine::start_embedded(job, acts(&[])).is_err());
    }
}

/// The last user of a share ends it, regardless of the other shares.
#[test]
fn share_ends_with_its_last_user() {
    let server = Lines::start(|_, _| Answer::Say("quit\n"));
    let whole = Job { threads: 2, ..closed(tcp(server.address), 8, lasting(20 * SECOND)) };
    for job in parts(&whole, 2) {
        let limit = limit(&job);
        let running = engine::start(job, acts(&[Act::Say("a", None)])).expect("threads");
        let (done, broke) = finish_with(running, limit);
        assert_eq!(broke, ["no, for reason 7"]);
        assert_eq!(done.tally.counts.rejected, 4);
        assert!(done.took < Duration::from_nanos(10_000 * MS));
    }
}
