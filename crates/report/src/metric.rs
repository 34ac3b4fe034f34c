//! What variants are compared by, read from what reports show.

pub(crate) use judge::Metric;

use crate::figures::Figures;
use crate::view::View;

/// The figure of one run; `None` where there is nothing to say, or too little to say it.
pub(crate) fn read(metric: &Metric, view: &View<'_>) -> Option<f64> {
    metric.figure(&view.measured)
}

/// What a run says in a block.
pub(crate) fn seen(metric: &Metric, view: &View<'_>) -> stats::Seen {
    judge::seen(view.run, &view.measured, metric)
}

/// Planned requests that the system did not serve, as a share.
pub(crate) fn error_share(figures: &Figures) -> Option<f64> {
    judge::rates::error_share(&figures.counts)
}
