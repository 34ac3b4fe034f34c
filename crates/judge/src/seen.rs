//! What a run says in a block.

use stats::Seen;
use store::Run;

use crate::measured::Measured;
use crate::metric::Metric;
use crate::standing::{Standing, standing};

/// What a run says in a block, by a metric. A run that was cut short is as good as missing: it can be made again.
pub fn seen(run: &Run, measured: &Measured, metric: &Metric) -> Seen {
    match standing(run) {
        Standing::Valid => metric.judgeable(measured).map_or(Seen::TooFew, |value| Seen::Figure {
            value,
            errors: measured.unserved(),
            ended: measured.counts.planned,
        }),
        Standing::Invalid => Seen::Invalid,
        Standing::Failed => Seen::Failed,
        Standing::CutShort => Seen::Missing,
    }
}
