//! T3: one server, exponential service times, and Poisson arrivals (M/M/1). Response times are known from theory.

use std::time::Duration;

use harness::program::arguments;
use simulator::closed_forms::Mm1;

use crate::bench::Bench;
use crate::grade::{Finding, Grade};
use crate::server::Server;
use crate::tool::{check_counts, run_unstarved};

/// Tolerance of the mean over all queues, as a share.
const MEAN_NEAR: f64 = 0.10;
/// Tolerance of the 99th percentile, as a share. It is larger because the 99th percentile varies more.
const P99_NEAR: f64 = 0.15;
const SERVICE_US: f64 = 5_000.0;

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    let busy = bench.profile.pick(&[0.5][..], &[0.5, 0.8]);
    let fault = |grade: &Grade| (!grade.is_passed()).then(|| grade.found.clone());
    busy.iter().map(|busy| bench.repeat_if_disturbed(|| at(bench, *busy), fault)).collect()
}

/// Runs several queues in parallel, and averages their figures to reduce random variation.
fn at(bench: &Bench, busy: f64) -> Grade {
    let seconds: u64 = if busy < 0.7 { bench.profile.pick(35, 60) } else { 240 };
    let queues = 10;
    let figures = std::sync::Mutex::new(Vec::new());
    let tries = bench.attempt_in_parallel(queues, |number| {
        let (mean_ms, p99_ms) = one(bench, busy, seconds, number)?;
        figures.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((mean_ms, p99_ms));
        Ok(Finding::new(true, String::new()))
    });
    let planted = format!("M/M/1, {:.0} % busy", busy * 100.0);
    let failed: Vec<_> = tries.into_iter().filter_map(Result::err).map(Err).collect();
    if !failed.is_empty() {
        return Grade::of("T3", planted, 1, failed);
    }
    let figures = figures.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mean =
        |figure: fn(&(f64, f64)) -> f64| figures.iter().map(figure).sum::<f64>() / figures.len() as f64;
    let theory = Mm1 { arrivals_per_s: busy * 1e6 / SERVICE_US, services_per_s: 1e6 / SERVICE_US };
    let (mean_ms, p99_ms) = (mean(|figure| figure.0), mean(|figure| figure.1));
    let (known_mean_ms, known_p99_ms) =
        (theory.response_mean_s() * 1e3, theory.response_quantile_s(0.99) * 1e3);
    let is_near = |found: f64, known: f64, near: f64| (found / known - 1.0).abs() <= near;
    let words =
        format!("mean {mean_ms:.2} of {known_mean_ms:.2} ms, p99 {p99_ms:.1} of {known_p99_ms:.1} ms");
    let is_right = is_near(mean_ms, known_mean_ms, MEAN_NEAR) && is_near(p99_ms, known_p99_ms, P99_NEAR);
    Grade::of("T3", planted, 1, vec![Ok(Finding::new(is_right, words))])
}

fn one(bench: &Bench, busy: f64, seconds: u64, number: u32) -> Result<(f64, f64), String> {
    let seed = bench.seed_of(3, number);
    let server = Server::start(bench, &["--threads", "1", "--seed", &seed.to_string()])?;
    let url = format!("{}/hold?dist=exp&mean_us={SERVICE_US}", server.url);
    let rate = format!("--rate={}/s", busy * 1e6 / SERVICE_US);
    let words = arguments([
        &url,
        &rate,
        &"--arrivals=poisson",
        &"--warm-up=2s",
        &"-c",
        &200,
        &"-d",
        &format!("{seconds}s"),
        &"--seed",
        &seed,
    ]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let said = run_unstarved(|| bench.tenbin(&words, Duration::from_secs(seconds + 60)))?;
    check_counts(&said.json)?;
    let (verdict, codes) = said.validity();
    if verdict == "invalid" {
        return Err(format!("called invalid: {}", codes.join(", ")));
    }
    Ok((said.at("/response_time_us/mean")? / 1e3, said.at("/response_time_us/p99")? / 1e3))
}
