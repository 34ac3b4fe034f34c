//! Observation of a run in its block.

use evidence::Run;
use stats::Seen;

use crate::compared_by::ComparedBy;
use crate::eligibility::{Eligibility, eligibility_by};
use crate::measured::Measured;

/// Observation of a run in its block by a metric, without a figure if the figure is in doubt. A run that was cut short counts as
/// missing, because it can be repeated.
pub fn seen(run: &Run, measured: &Measured, by: &ComparedBy) -> Seen {
    match eligibility_by(run, by.metric.distorted) {
        Eligibility::Valid => by.judgeable(run, measured).map_or(Seen::TooFew, |value| Seen::Figure {
            value,
            errors: measured.unserved(),
            planned: measured.counts.planned,
        }),
        Eligibility::Invalid => Seen::Invalid,
        Eligibility::Failed => Seen::Failed,
        Eligibility::CutShort => Seen::Missing,
    }
}
