//! T9: a variant that is 5 % slower is reported with the right sign and size. One that is 0.5 % slower counts as equivalent if the
//! minimum effect is 3 %.

use std::time::Duration;

use crate::bench::Bench;
use crate::cases::t08_equal::pair;
use crate::grade::{Finding, Grade};
use crate::plan::{LONGER, Plan, system};

/// Tolerance of the ratio: four standard errors after eight blocks.
const NEAR: f64 = 0.03;

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    let (five, needed_five) = bench.profile.pick((3, 3), (20, 19));
    let (half, needed_half) = bench.profile.pick((2, 1), (20, 18));
    vec![
        Grade::of(
            "T9",
            "5 % slower",
            needed_five,
            bench.attempt_in_parallel(five, |number| is_found(bench, number)),
        ),
        Grade::of(
            "T9",
            "0.5 % slower",
            needed_half,
            bench.attempt_in_parallel(half, |number| is_equal(bench, number)),
        ),
    ]
}

fn is_found(bench: &Bench, number: u32) -> Result<Finding, String> {
    let DuelReport { verdict, ratio, first, .. } = duel(bench, "1.05", number)?;
    // Without think time, throughput is inversely proportional to the hold time. The better variant comes first.
    let is_right = verdict == "differs" && first == "1" && (ratio - 1.05).abs() <= NEAR;
    Ok(Finding::new(is_right, format!("{verdict} {ratio:.3}")))
}

fn is_equal(bench: &Bench, number: u32) -> Result<Finding, String> {
    let DuelReport { verdict, ratio, is_below, .. } = duel(bench, "1.005", 100 + number)?;
    // The difference is real, so it may be significant. It must then be reported as below the threshold.
    let is_right = verdict == "equivalent" || (verdict == "differs" && is_below);
    let below = if is_below { " below what matters" } else { "" };
    Ok(Finding::new(is_right, format!("{verdict}{below} {ratio:.3}")))
}

/// Reported comparison of the two variants of a study.
struct DuelReport {
    verdict: String,
    /// Whether the difference is below the minimum effect.
    is_below: bool,
    ratio: f64,
    /// Factor of the better variant.
    first: String,
}

fn duel(bench: &Bench, factor: &str, number: u32) -> Result<DuelReport, String> {
    let systems = system("target", &format!("{LONGER} {{factor}}"), &format!("{{ factor: [1, {factor}] }}"));
    let plan = Plan {
        question: "Is it found that one is slower?",
        path: "/hold?dist=lognormal&median_us=10000&sigma=0.2",
        load: "{ users: 2, warm-up: 100ms, for: 1s }",
        systems: &systems,
        compare: "{ by: throughput, matters: 3%, blocks: 24, pilot: 0 }",
        seed: bench.seed_of(9, number),
    };
    let file = plan.write(bench)?;
    let said = bench.tenbin(&["run", &file.display().to_string()], Duration::from_secs(300))?;
    let pair = pair(&said)?;
    let knob = &pair["a"]["knobs"]["factor"];
    Ok(DuelReport {
        verdict: pair["verdict"].as_str().unwrap_or_default().to_owned(),
        is_below: pair["below_matters"].as_bool().unwrap_or(false),
        ratio: pair["ratio"].as_f64().unwrap_or_default(),
        first: knob.as_str().map_or_else(|| knob.to_string(), str::to_owned),
    })
}
