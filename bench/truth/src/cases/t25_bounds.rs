//! T25: bounds of figures contain the truth while the client is stopped, throttled, or crowded. The target logs each hold time.

use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use harness::child::Child;
use harness::group::Group;
use harness::spread;
use target::Settings;

use crate::bench::Bench;
use crate::grade::{Finding, Grade};
use crate::server::hold;
use crate::tool::Output;

const TIMEOUT: Duration = Duration::from_secs(60);
/// Max delay that loopback and two programs add between the target's clock and an ideal client's.
const OFFSET_MAX_US: f64 = 300.0;
/// Rounding error of printed figures and of histogram bins, as a share.
const ROUNDING: f64 = 0.002;
const USERS: f64 = 8.0;
/// Duration of each load in seconds.
const SECONDS: f64 = 1.0;
const OPEN: [&str; 6] = ["--rate=400/s", "-c", "200", "-d", "1s", "--threads=1"];
const CLOSED: [&str; 5] = ["-c", "8", "-d", "1s", "--threads=1"];
/// CPU quota of a throttled client in cores, about as much as it needs.
const QUOTA: f64 = 0.1;
/// Number of busy loops that compete with a crowded client.
const SPINNERS: usize = 2;

/// Disturbance of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disturbance {
    Nothing,
    Stopped,
    Throttled,
    Crowded,
}

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    let tries = bench.profile.pick(2, 40);
    let mut grades = Vec::new();
    for disturbance in
        [Disturbance::Nothing, Disturbance::Stopped, Disturbance::Throttled, Disturbance::Crowded]
    {
        for (load, words) in [("open load", &OPEN[..]), ("closed load", &CLOSED[..])] {
            let planted = format!("{disturbance:?}, {load}").to_lowercase();
            let group = match disturbance {
                Disturbance::Throttled => match Group::make(QUOTA) {
                    Ok(group) => Some(group),
                    Err(why) => {
                        grades.push(Grade::skipped_case("T25", planted, why));
                        continue;
                    }
                },
                _ => None,
            };
            let widths = Mutex::new(Vec::new());
            let one =
                |number| bench.attempt(|| one(bench, number, disturbance, words, group.as_ref(), &widths));
            // 95 % of the attempts, rounded down.
            let needed = tries * 19 / 20;
            let grade = Grade::of("T25", planted, needed, (0..tries).map(one).collect());
            grades.push(Grade { found: median_widths(&widths), ..grade });
        }
    }
    grades
}

fn one(
    bench: &Bench,
    number: u32,
    disturbance: Disturbance,
    load: &[&str],
    group: Option<&Group>,
    widths: &Mutex<Vec<[Option<f64>; 3]>>,
) -> Result<Finding, String> {
    let settings = Settings { seed: bench.seed_of(25, number), log_service: true, ..Settings::default() };
    let server = target::start(settings).map_err(|error| error.to_string())?;
    let url = format!("http://{}/hold?dist=lognormal&median_us=5000&p99_us=50000", server.address());
    let mut command = group.map_or_else(|| Command::new(&bench.tenbin), |group| group.command(&bench.tenbin));
    command.arg(&url).args(load).args(["--seed", &bench.seed_of(25, number).to_string()]);
    let spinners: Vec<Child> = match disturbance {
        Disturbance::Crowded => (0..SPINNERS).map(|_| spinner()).collect::<Result<_, _>>()?,
        _ => Vec::new(),
    };
    let said = bench.run_while(&mut command, TIMEOUT, |client| {
        let begun = Instant::now();
        while disturbance == Disturbance::Stopped && client.ended()?.is_none() && begun.elapsed() < TIMEOUT {
            thread::sleep(Duration::from_millis(400));
            if let Some(pid) = client.pid() {
                hold(pid, Duration::from_millis(100));
            }
        }
        Ok(())
    })?;
    drop(spinners);
    let mut held_us = server.take_service_log();
    held_us.sort_unstable();
    if said.word("/validity/verdict") == "invalid" {
        return Ok(Finding::new(true, "invalid: no bound"));
    }
    let is_open = load.iter().any(|word| word.starts_with("--rate"));
    let of = ["p50_us", "p99_us", "throughput_per_s"].map(|name| width(&said, name));
    widths.lock().unwrap_or_else(PoisonError::into_inner).push(of);
    judged(&said, &held_us, is_open)
}

/// Width of an interval as a share of its upper end; ∞ without one. `None` if there are too few requests for the figure.
fn width(said: &Output, name: &str) -> Option<f64> {
    let of = |end: &str| said.at(&format!("/validity/bounds/{name}/{end}"));
    let low = of("low").ok()?;
    Some(of("high").map_or(f64::INFINITY, |high| (high - low) / high))
}

/// Median widths of the intervals over all attempts.
fn median_widths(widths: &Mutex<Vec<[Option<f64>; 3]>>) -> String {
    let widths = widths.lock().unwrap_or_else(PoisonError::into_inner);
    let median = |figure: usize| match spread::of(widths.iter().filter_map(|of| of[figure])) {
        None => "unknown".to_owned(),
        Some(width) if width.median.is_finite() => format!("{:.0} %", 100.0 * width.median),
        Some(_) => "open above".to_owned(),
    };
    format!("median widths: p50 {}, p99 {}, throughput {}", median(0), median(1), median(2))
}

fn spinner() -> Result<Child, String> {
    Child::start(Command::new("sh").args(["-c", "while :; do :; done"]))
}

/// Checks that every interval contains the truth. The finding lists those that do not.
fn judged(said: &Output, held_us: &[u64], is_open: bool) -> Result<Finding, String> {
    if held_us.is_empty() {
        return Err("the target held no request".to_owned());
    }
    let mut missed = Vec::new();
    let mean_us = held_us.iter().sum::<u64>() as f64 / held_us.len() as f64;
    let rank = |share: f64| ((share * held_us.len() as f64).ceil() as usize).clamp(1, held_us.len());
    let quantile_us = |share: f64| held_us[rank(share) - 1] as f64;
    // An ideal client measures the hold time plus the delays of the kernel and the target.
    let times =
        [("mean", mean_us), ("p50", quantile_us(0.5)), ("p90", quantile_us(0.9)), ("p99", quantile_us(0.99))];
    let mut truths: Vec<(String, f64, f64)> =
        times.iter().map(|(name, us)| (format!("{name}_us"), *us, us + OFFSET_MAX_US)).collect();
    if !is_open {
        let per_s = |us: f64| USERS * 1e6 / us;
        // The window cuts one request of each user, which may or may not count.
        let cut_per_s = USERS / SECONDS;
        let [low, high] = [per_s(mean_us + OFFSET_MAX_US) - cut_per_s, per_s(mean_us) + cut_per_s];
        truths.push(("throughput_per_s".to_owned(), low, high));
    }
    for (name, truth_low, truth_high) in &truths {
        let Ok(low) = said.at(&format!("/validity/bounds/{name}/low")) else { continue };
        let high = said.at(&format!("/validity/bounds/{name}/high")).unwrap_or(f64::INFINITY);
        if low > truth_high * (1.0 + ROUNDING) || high < truth_low * (1.0 - ROUNDING) {
            missed.push(format!("{name}: {truth_low:.0} to {truth_high:.0} is not in {low:.0} to {high:.0}"));
        }
    }
    Ok(match missed.is_empty() {
        true => Finding::new(true, "contained"),
        false => Finding::new(false, missed.join("; ")),
    })
}
