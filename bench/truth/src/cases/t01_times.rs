//! T1: reported service times match the hold times that the target logs.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::time::Duration;

use harness::program::arguments;
use target::Settings;

use crate::bench::Bench;
use crate::grade::{Finding, Grade};
use crate::tool::{Output, check_counts, run_unstarved};

/// Max delay that loopback and two programs add between the target's clock and the client's.
const OFFSET_MAX_US: f64 = 300.0;
/// Tolerance of percentiles after the offset is removed, as a share. The larger of this and [`DIFFERENCE_MAX_US`] applies.
const SHARE_MAX: f64 = 0.02;
const DIFFERENCE_MAX_US: f64 = 200.0;

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    let tries = bench.profile.pick(1, 5);
    let tries: Vec<_> = (0..tries).map(|number| bench.attempt(|| one(bench, number))).collect();
    let needed = bench.profile.pick(1, 4);
    vec![Grade::of("T1", "lognormal holds, median 5 ms, p99 50 ms", needed, tries)]
}

fn one(bench: &Bench, number: u32) -> Result<Finding, String> {
    let held_us = RefCell::new(Vec::new());
    let said = run_unstarved(|| {
        let settings = Settings { seed: bench.seed_of(1, number), log_service: true, ..Settings::default() };
        let server = target::start(settings).map_err(|error| error.to_string())?;
        let said = load(bench, number, server.address())?;
        *held_us.borrow_mut() = server.take_service_log();
        Ok(said)
    })?;
    check_counts(&said.json)?;
    let mut held_us = held_us.into_inner();
    held_us.sort_unstable();
    if held_us.len() < 1_000 {
        return Err(format!("the target held only {} requests", held_us.len()));
    }
    compare(&said, &held_us)
}

fn load(bench: &Bench, number: u32, target: SocketAddr) -> Result<Output, String> {
    let seconds = bench.profile.pick(10, 50);
    let url = format!("http://{}/hold?dist=lognormal&median_us=5000&p99_us=50000", target);
    let words = arguments([
        &url,
        &"--rate=2000/s",
        &"--arrivals=poisson",
        &"-c",
        &500,
        &"-d",
        &format!("{seconds}s"),
        &"--seed",
        &bench.seed_of(1, number),
    ]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    bench.tenbin(&words, Duration::from_secs(seconds + 60))
}

/// Compares the reported percentiles with those of the logged hold times, which are sorted.
fn compare(said: &Output, held_us: &[u64]) -> Result<Finding, String> {
    let offset_us = said.at("/service_time_us/p50")? - quantile_us(held_us, 0.5);
    let mut worst_us = 0.0f64;
    let mut is_right = (-5.0..=OFFSET_MAX_US).contains(&offset_us);
    for (name, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99_9", 0.999)] {
        let truth_us = quantile_us(held_us, share);
        let apart_us = said.at(&format!("/service_time_us/{name}"))? - offset_us - truth_us;
        is_right &= apart_us.abs() <= (SHARE_MAX * truth_us).max(DIFFERENCE_MAX_US);
        worst_us = worst_us.max(apart_us.abs());
    }
    Ok(Finding::new(is_right, format!("{offset_us:.0} µs later, then within {worst_us:.0} µs")))
}

fn quantile_us(sorted: &[u64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1] as f64
}
