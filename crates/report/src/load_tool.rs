//! Loads from external load generators.

use evidence::{LoadTool, Run};

use crate::view::View;

/// Tool that generated the load of a run. `None` if it was Tenbin's engine.
pub(crate) fn of_run(run: &Run) -> Option<&LoadTool> {
    run.ending.as_ref()?.generator.tool.as_ref()
}

/// Tool that generated the load of a view, and the number of its requests. `None` if it was Tenbin's engine.
pub(crate) fn of_view<'a>(view: &View<'a>) -> Option<(&'a LoadTool, u64)> {
    Some((of_run(view.run)?, requests(&view.whole.counts)))
}

/// Number of requests that ended before the end of the run.
pub(crate) fn requests(counts: &record::Counts) -> u64 {
    counts.ended().saturating_sub(counts.unfinished)
}
