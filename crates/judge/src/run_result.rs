//! Observation of a run in its block.

use evidence::{Run, stage};
use stats::{Bounded, RunResult, Scale};

use crate::compared_by::ComparedBy;
use crate::eligibility::{Eligibility, eligibility_by};
use crate::measured::Measured;

/// Returns the observation of a run in its block by a metric, with the bounds of its figure, or without a figure if it
/// has no bounds. A run that was cut short counts as missing, because it can be repeated.
pub fn run_result(run: &Run, measured: &Measured, by: &ComparedBy) -> RunResult {
    match eligibility_by(run, by.metric.distorted) {
        Eligibility::Valid => by.judgeable(run, measured).map_or(RunResult::TooFew, |value| {
            RunResult::Figure { value, errors: measured.unserved(), planned: measured.counts.planned }
        }),
        Eligibility::Invalid => RunResult::Invalid,
        Eligibility::Failed => RunResult::Failed,
        Eligibility::CutShort => RunResult::Missing,
    }
}

/// Returns study and block of a slice, which together with its variant identify its start. `None` for a whole run.
pub fn start_of_slice(run: &Run) -> Option<(&str, u32)> {
    let (study, place) = run.new.place.as_ref().filter(|(_, place)| stage::is_slice(&place.stage))?;
    Some((study.as_str(), place.block))
}

/// Combines the slices of a start, or its only run, into one observation: the geometric mean, or the arithmetic mean if
/// differences are judged.
pub fn combine_slices(runs: &[RunResult], scale: Scale) -> RunResult {
    let rounds: Vec<Vec<RunResult>> = runs.iter().map(|run| vec![*run]).collect();
    let figures = || runs.iter().filter_map(RunResult::bounded);
    let count = figures().count();
    let mean = |end: fn(Bounded) -> f64| figures().map(end).sum::<f64>() / count as f64;
    match stats::combine_rounds(&rounds).first().copied().unwrap_or(RunResult::Missing) {
        RunResult::Figure { errors, planned, .. } if count == 1 || scale == Scale::Difference => {
            let bounds = [mean(|figure| figure.low), mean(|figure| figure.high)];
            RunResult::Figure { value: Bounded::within(mean(|figure| figure.value), bounds), errors, planned }
        }
        seen => seen,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_has_the_mean_of_its_slices_and_is_lost_with_a_failed_one() {
        let of = |value: f64| RunResult::Figure { value: value.into(), errors: 1, planned: 10 };
        let value = |runs: &[RunResult], scale| combine_slices(runs, scale).value();
        assert!((value(&[of(1.0), of(4.0)], Scale::Ratio).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(value(&[of(0.0), of(4.0)], Scale::Difference), Some(2.0));
        assert_eq!(value(&[of(0.0)], Scale::Ratio), Some(0.0), "a whole run");
        assert_eq!(value(&[of(3.0), RunResult::Invalid], Scale::Difference), Some(3.0));
        assert_eq!(combine_slices(&[of(3.0), RunResult::Failed], Scale::Ratio), RunResult::Failed);
        assert_eq!(combine_slices(&[], Scale::Ratio), RunResult::Missing);
    }
}
