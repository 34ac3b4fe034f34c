//! Reads metrics from the views of reports.

pub(crate) use judge::{ComparedBy, Metric};

use crate::figures::Figures;
use crate::view::View;

/// Metric of one run. `None` if it is unknown, or has too few samples.
pub(crate) fn read(by: &ComparedBy, view: &View<'_>) -> Option<f64> {
    view.measured_run().figure(by)
}

/// Result of a run in a block.
pub(crate) fn run_result(by: &ComparedBy, view: &View<'_>) -> judge::results::RunResult {
    view.measured_run().result(by)
}

/// Share of planned requests that the system did not serve.
pub(crate) fn error_share(figures: &Figures) -> Option<f64> {
    judge::rates::error_share(&figures.counts)
}
