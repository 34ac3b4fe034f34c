//! Figures of a second, over all steps.

use std::time::Duration;

use progress::Figures;
use record::{IdentityBroken, Interval, Percentile, Phase, Tally};

use crate::collect::Collected;

/// Planned end of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlannedEnd {
    /// Time from the start of the load until nothing more is sent. `None` if no time ends it.
    pub(crate) after: Option<Duration>,
    /// Number of requests. `None` if no number ends it.
    pub(crate) requests: Option<u64>,
}

/// Figures of the intervals of a second. `None` if there are none. `collected` already includes these intervals.
pub(crate) fn figures(
    intervals: &[&Interval],
    collected: &Collected,
    elapsed: Duration,
    planned: PlannedEnd,
) -> Result<Option<Figures>, IdentityBroken> {
    let Some(phase) = intervals.iter().map(|interval| interval.phase).max() else { return Ok(None) };
    let mut second = Tally::default();
    let of_phase = intervals.iter().filter(|interval| interval.phase == phase);
    of_phase.for_each(|part| second.merge(&part.tally));
    let (response, send_delay, counts) = (second.response.all(), second.lateness.all(), second.counts);
    let (warm_up, measured) = (collected.counts(Phase::WarmUp), collected.counts(Phase::Measured));
    Ok(Some(Figures {
        elapsed_ns: elapsed.as_nanos() as u64,
        planned_ns: planned.after.map(|after| after.as_nanos() as u64),
        planned_requests: planned.requests,
        is_warm_up: phase == Phase::WarmUp,
        ended: measured.ended(),
        answered: counts.ok + counts.rejected,
        p50_ns: response.printable_at(Percentile::P50),
        p99_ns: response.printable_at(Percentile::P99),
        send_delay_p99_ns: send_delay.printable_at(Percentile::P99),
        errors: counts.rejected + counts.failed + counts.timed_out,
        in_flight: measured.in_flight()? + warm_up.in_flight()?,
    }))
}
