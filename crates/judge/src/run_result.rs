//! Observation of a run in its block.

use evidence::Run;
use stats::RunResult;

use crate::compared_by::ComparedBy;
use crate::eligibility::{Eligibility, eligibility_by};
use crate::measured::Measured;

/// Observation of a run in its block by a metric, with the bounds of its figure, or without a figure if no bounds exist. A run that was cut short counts as
/// missing, because it can be repeated.
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
