//! T11: a slow start is cut where it ends. A run with a drift or a step is not steady.

use std::time::Duration;

use crate::bench::Bench;
use crate::grade::{Finding, Grade};
use crate::server::Server;
use crate::tool::{Output, run_unstarved};

/// Length of two pulses of the time series, in seconds.
const WINDOWS_S: f64 = 0.5;

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    let tries = bench.profile.pick(2, 10);
    let needed = bench.profile.pick(1, 9);
    let side =
        |one: fn(&Bench) -> Result<Finding, String>| bench.attempt_in_parallel(tries, move |_| one(bench));
    vec![
        Grade::of("T11", "three times as slow for a third of the run", needed, side(slow_start)),
        Grade::of("T11", "drifting by 10 % over the run", bench.profile.pick(1, 10), side(drift)),
        Grade::of("T11", "a step of a fifth at 60 % of the run", needed, side(step)),
        Grade::of("T11", "nothing", needed, side(steady)),
    ]
}

fn seconds(bench: &Bench) -> f64 {
    bench.profile.pick(24.0, 60.0)
}

/// Checks that the cut comes after the slow start, by at most a fifth of its length.
fn slow_start(bench: &Bench) -> Result<Finding, String> {
    let slow_s = seconds(bench) / 3.0;
    let said = changing(bench, &["--slow-start".to_owned(), format!("{slow_s}s")])?;
    let cut_s = said.at("/steadiness/cut_s")?;
    // Cuts lie between batches of pulses, so a cut may be slightly early.
    let is_right = (slow_s - 1.0..=slow_s * 1.2).contains(&cut_s) && verdict(&said) != "steady";
    Ok(Finding::new(is_right, format!("{} cut at {cut_s:.1} of {slow_s:.1} s", verdict(&said))))
}

fn drift(bench: &Bench) -> Result<Finding, String> {
    let per_10_s = 0.10 * 10.0 / seconds(bench) * 100.0;
    let said = changing(bench, &["--drift".to_owned(), format!("{per_10_s}%")])?;
    Ok(Finding::new(verdict(&said) == "not_steady", verdict(&said)))
}

fn step(bench: &Bench) -> Result<Finding, String> {
    let at_s = seconds(bench) * 0.6;
    let flags = ["--step-after".to_owned(), format!("{at_s}s"), "--step-factor".to_owned(), "1.2".to_owned()];
    let said = changing(bench, &flags)?;
    let step_s = said.at("/steadiness/step_s").unwrap_or_default();
    let is_right =
        verdict(&said) == "not_steady" && (at_s - 2.0 * WINDOWS_S..=at_s + WINDOWS_S).contains(&step_s);
    Ok(Finding::new(is_right, format!("{} step at {step_s:.2} of {at_s:.2} s", verdict(&said))))
}

fn steady(bench: &Bench) -> Result<Finding, String> {
    let said = changing(bench, &[])?;
    Ok(Finding::new(verdict(&said) == "steady", verdict(&said)))
}

/// Returns the steadiness verdict with underscores for spaces, to accept both `not_steady` and `not steady`.
fn verdict(said: &Output) -> String {
    said.word("/steadiness/verdict").replace(' ', "_")
}

/// Runs users without think time on a target whose hold times change with its age.
fn changing(bench: &Bench, flags: &[String]) -> Result<Output, String> {
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let lasting = format!("{}s", seconds(bench));
    run_unstarved(|| {
        let server = Server::start(bench, &flags)?;
        let url = format!("{}/hold?dist=lognormal&median_us=20000&sigma=0.2", server.url);
        bench.tenbin(&[&url, "-c", "4", "-d", &lasting], Duration::from_secs(180))
    })
}
