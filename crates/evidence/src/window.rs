//! Measured window of a stored run: counted during the load, or by whole seconds.

use record::WindowCounts;

use crate::description::NewRun;
use crate::ending::Ending;
use crate::run::StoredSecond;

const SECOND_NS: u64 = 1_000_000_000;

/// Length of the measured window of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowLength {
    /// Nanoseconds, above 0.
    pub ns: u64,
    /// Whether the window consists of whole seconds, because its end was not stored: the run was cut short, or an earlier version
    /// stored it. Answers then belong to the second in which they were counted.
    pub is_by_seconds: bool,
}

/// Determines the window of a run. If it was not stored, the answers of `parts` are counted by whole seconds.
pub(crate) fn settle(
    new: &NewRun,
    ending: Option<&Ending>,
    parts: &mut [StoredSecond],
) -> Option<WindowLength> {
    let is_counted = parts.iter().all(|part| part.window.is_some());
    let noted = ending.and_then(|ending| ending.window_ns);
    if let (Some(ns), true) = (noted, is_counted) {
        return (ns > 0).then_some(WindowLength { ns, is_by_seconds: false });
    }
    // The last second may be incomplete.
    let last = parts.iter().map(|part| part.second).max()?;
    let planned_end = new.planned_duration_ns.map(|ns| new.warm_up_ns.saturating_add(ns) / SECOND_NS);
    let (from, to) = (new.warm_up_ns.div_ceil(SECOND_NS), planned_end.map_or(last, |end| end.min(last)));
    for part in parts.iter_mut() {
        let counts = &part.counts;
        let is_within = (from..to).contains(&part.second);
        let other = counts.failed.saturating_add(counts.timed_out);
        let within = WindowCounts { ok: counts.ok, rejected: counts.rejected, other, after: 0 };
        part.window = Some(if is_within { within } else { WindowCounts::default() });
    }
    let ns = to.saturating_sub(from).saturating_mul(SECOND_NS);
    (ns > 0).then_some(WindowLength { ns, is_by_seconds: true })
}
