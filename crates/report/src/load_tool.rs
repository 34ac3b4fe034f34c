//! Loads that another load generator made: their figures, and what must be known of them.

use evidence::{LoadTool, Run};

use crate::view::View;

/// The tool that made the load of a run, if it was not Tenbin's engine.
pub(crate) fn of_run(run: &Run) -> Option<&LoadTool> {
    run.ending.as_ref()?.generator.tool.as_ref()
}

/// The same of a view, with the number of its requests.
pub(crate) fn of_view<'a>(view: &View<'a>) -> Option<(&'a LoadTool, u64)> {
    Some((of_run(view.run)?, requests(&view.whole.counts)))
}

/// Requests that ended.
pub(crate) fn requests(counts: &record::Counts) -> u64 {
    counts.ended().saturating_sub(counts.unfinished)
}
