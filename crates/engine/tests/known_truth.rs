//! Targets with known behavior, against which the measured values are checked.
//!
//! The tests run one at a time. Other programs on the same cores can disturb times only, so a test that fails on times measures
//! again.

mod support;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use harness::quiet::{MachineObserver, assert_measured, raise_priority};
use record::{Histogram, Percentile};
use support::{MS, SECOND, closed, count, get, lasting, open, run, tcp};
use target::{Running, Settings, Stall};

static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    raise_priority();
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn at(histogram: &Histogram, percentile: Percentile) -> u64 {
    histogram.value_at(percentile).expect("samples")
}

/// Starts a target that stops answering once, for 300 ms, after one second.
fn stalling() -> Running {
    let stall = Stall { first: Duration::from_secs(1), lasting: Duration::from_millis(300), every: None };
    target::start(Settings { stall: Some(stall), ..Settings::default() }).expect("a target")
}

#[test]
fn open_load_shows_the_full_stall() {
    let _turn = turn();
    assert_measured(|| {
        let target = stalling();
        let done = run(open(tcp(target.address()), 200.0, 3 * SECOND, 100), get("/status"));
        done.assert_all_ok(600);
        let response = done.tally.response.all();
        let max_ns = response.max_ns().expect("samples");
        assert!((280 * MS..450 * MS).contains(&max_ns), "the longest is the stall: {max_ns}");
        // A share of (S − x) / T of the requests waits longer than x, for a stall S in a load of length T. For 1 %, x = S − T / 100
        // = 270 ms.
        let p99_ns = at(&response, Percentile::P99);
        assert!((200 * MS..310 * MS).contains(&p99_ns), "1 % waits longer than 270 ms: {p99_ns}");
        let p50_ns = at(&response, Percentile::P50);
        assert!(p50_ns < 50 * MS, "half of them wait for nothing: {p50_ns}");
    });
}

#[test]
fn closed_load_hides_the_stall() {
    let _turn = turn();
    assert_measured(|| {
        let target = stalling();
        let done = run(closed(tcp(target.address()), 1, lasting(3 * SECOND)), get("/hold?mean_us=2000"));
        let response = done.tally.response.all();
        let p99_ns = at(&response, Percentile::P99);
        assert!(p99_ns < 50 * MS, "99 % see nothing of it: {p99_ns}");
        let max_ns = response.max_ns().expect("samples");
        assert!((280 * MS..450 * MS).contains(&max_ns), "one request sees all of it: {max_ns}");
    });
}

#[test]
fn measures_a_known_distribution() {
    let _turn = turn();
    assert_measured(|| {
        let settings = Settings { log_service: true, ..Settings::default() };
        let target = target::start(settings).expect("a target");
        let hold_times = "/hold?dist=lognormal&median_us=5000&sigma=0.5";
        let job = closed(tcp(target.address()), 8, count(4_000));
        let witness = MachineObserver::begin();
        let done = run(job, get(hold_times));
        let waited_ns = witness.end().waited.as_nanos() as u64;
        done.assert_all_ok(4_000);
        let mut served_us = target.take_service_log();
        served_us.sort_unstable();
        assert_eq!(served_us.len(), 4_000, "every hold is logged");
        for percentile in [Percentile::P50, Percentile::P90] {
            let rank = percentile.rank(4_000).expect("samples") as usize;
            let truth_ns = served_us[rank - 1] * 1_000;
            let measured_ns = at(&done.tally.response.ok, percentile);
            // On an idle machine this program adds 0.05 ms per request. The rest is caused by other programs, which add several
            // times the mean in the tail.
            let taken_ns = (waited_ns / 4_000).saturating_sub(50_000);
            let allowed_ns = (truth_ns / 50).max(300_000) + 5 * taken_ns;
            let is_so = measured_ns + 1_000 >= truth_ns && measured_ns <= truth_ns + allowed_ns;
            assert!(
                is_so,
                "{percentile:?}: served {truth_ns} ns, measured {measured_ns} ns, waited {waited_ns} ns"
            );
        }
    });
}
