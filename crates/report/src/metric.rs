//! What variants are compared by, read from what reports show.

pub(crate) use judge::{ComparedBy, Metric};

use crate::figures::Figures;
use crate::view::View;

/// The figure of one run; `None` where there is nothing to say, or too little to say it.
pub(crate) fn read(by: &ComparedBy, view: &View<'_>) -> Option<f64> {
    view.measured_run().figure(by)
}

/// What a run says in a block.
pub(crate) fn seen(by: &ComparedBy, view: &View<'_>) -> judge::results::Seen {
    view.measured_run().seen(by)
}

/// Planned requests that the system did not serve, as a share.
pub(crate) fn error_share(figures: &Figures) -> Option<f64> {
    judge::rates::error_share(&figures.counts)
}
