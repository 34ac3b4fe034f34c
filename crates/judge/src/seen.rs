//! What a run says in a block.

use evidence::Run;
use stats::Seen;

use crate::compared_by::ComparedBy;
use crate::eligibility::{Eligibility, eligibility_by};
use crate::measured::Measured;

/// What a run says in a block: nothing where the figure in question is in doubt. A run that was cut short is as good as missing: it can
/// be made again.
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
