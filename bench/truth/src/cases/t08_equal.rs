//! T8: two equal systems are not reported to differ more often than the error rate allows.

use std::time::Duration;

use serde_json::Value;

use crate::bench::Bench;
use crate::grade::{Finding, Grade};
use crate::plan::{Plan, system};
use crate::tool::Output;

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    // At most 4.25 % of equal pairs are reported to differ. The chance of more than 4 of 8 is 7e-6, of more than 7 of 60 it is 0.4 %.
    let (duels, needed) = bench.profile.pick((8, 4), (60, 53));
    let tries = bench.attempt_in_parallel(duels, |number| one(bench, number));
    let mut grades = vec![Grade::of("T8", "the same target twice", needed, tries.clone())];
    if let Some(first) = grades.first_mut() {
        // The error rate allows some reported differences.
        first.remarks.retain(|remark| !remark.starts_with("wrong"));
    }
    grades
}

fn one(bench: &Bench, number: u32) -> Result<Finding, String> {
    let systems = system("one", "", "") + &system("other", "", "");
    let plan = Plan {
        question: "Are two equal targets called equal?",
        path: "/hold?dist=lognormal&median_us=10000&sigma=0.7",
        load: "{ users: 2, warm-up: 100ms, for: 700ms }",
        systems: &systems,
        compare: "{ by: throughput, matters: 3%, blocks: 24, pilot: 0 }",
        seed: bench.seed_of(8, number),
    };
    let file = plan.write(bench)?;
    let said = bench.tenbin(&["run", &file.display().to_string()], Duration::from_secs(300))?;
    let pair = pair(&said)?;
    let verdict = pair["verdict"].as_str().unwrap_or_default();
    let ratio = pair["ratio"].as_f64().unwrap_or(1.0);
    let is_right = matches!(verdict, "equivalent" | "inconclusive");
    Ok(Finding::new(is_right, format!("{verdict} {ratio:.3}")))
}

/// Returns the comparison of the two systems or variants of a study.
pub(super) fn pair(said: &Output) -> Result<&Value, String> {
    said.list("/comparison/pairs").first().ok_or_else(|| {
        let failures = said.list("/failures").len();
        format!("no comparison, {failures} failures")
    })
}
