//! T4: four servers of 10 ms handle at most 400 requests per second. The highest rate that meets the SLO is known from theory.

use std::time::Duration;

use harness::program::arguments;
use simulator::closed_forms::capacity_per_s;

use crate::bench::Bench;
use crate::grade::{Finding, Grade};
use crate::plan::{Plan, system};

/// SLO: 90 % of responses within 50 ms.
const QUANTILE: f64 = 0.90;
const LIMIT_S: f64 = 0.050;
const SLO: &str = "p90<50ms";

/// Parameters of a search, and tolerances of its result: `near` for its error, `wide` for its width, both as shares.
struct Search {
    resolution: &'static str,
    measured: &'static str,
    confirm: u32,
    near: f64,
    wide: f64,
    time_limit: Duration,
}

const SHORT: Search = Search {
    resolution: "8%",
    measured: "6s",
    confirm: 3,
    near: 0.06,
    wide: 0.17,
    time_limit: Duration::from_secs(600),
};
const FULL: Search = Search {
    resolution: "3%",
    measured: "20s",
    confirm: 5,
    near: 0.03,
    wide: 0.06,
    time_limit: Duration::from_secs(3_600),
};

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    let (searches, needed) = bench.profile.pick((2, 1), (20, 18));
    let search = bench.profile.pick(&SHORT, &FULL);
    let tries = bench.attempt_in_parallel(searches, |number| one(bench, search, number));
    vec![Grade::of("T4", format!("M/D/4 of 400/s, {SLO}"), needed, tries)]
}

fn one(bench: &Bench, search: &Search, number: u32) -> Result<Finding, String> {
    let truth = capacity_per_s(4, 0.010, QUANTILE, LIMIT_S).ok_or("theory knows no capacity")?;
    let plan = Plan {
        question: "How much do four threads of 10 ms hold?",
        path: "/hold?mean_us=10000",
        load: "{ rate: 100/s, arrivals: poisson, warm-up: 1s, for: 5s }",
        systems: &system("target", "--threads 4", ""),
        compare: "{ by: throughput, blocks: 1 }",
        seed: bench.seed_of(4, number),
    };
    let file = plan.write(bench)?;
    let words = arguments([
        &"capacity",
        &file.display(),
        &"--slo",
        &SLO,
        &"--from=250/s",
        &"--for",
        &search.measured,
        &"--resolution",
        &search.resolution,
        &"--confirm",
        &search.confirm,
        &"--no-overload",
    ]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let said = bench.tenbin(&words, search.time_limit)?;
    let (held, failed) = (said.at("/capacity/0/held_per_s")?, said.at("/capacity/0/failed_per_s")?);
    let contains = held <= truth * (1.0 + search.near) && failed >= truth * (1.0 - search.near);
    let is_narrow = failed / held <= 1.0 + search.wide;
    Ok(Finding::new(contains && is_narrow, format!("{held:.0} to {failed:.0} of {truth:.0}/s")))
}
