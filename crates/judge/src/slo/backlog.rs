//! Backlog of due but unfinished requests, second by second, which shows whether the system keeps up.

use std::collections::BTreeMap;

use evidence::{EvidenceError, Run};
use record::Counts;

const SECOND_NS: u64 = 1_000_000_000;
/// Min number of measured seconds for which quarters are compared.
const SECONDS_MIN: usize = 8;
/// Max number of seconds that is processed. A damaged run that claims more must not allocate a list of them.
const SECONDS_MAX: u64 = 1 << 20;
/// Growth per second, as a share of the offered rate, above which it is not noise.
const GROWTH_SHARE: f64 = 0.01;
/// Min ratio of the backlogs in the last and in the second quarter that counts as growth.
const GROWTH_RATIO: f64 = 1.5;
/// Min share of planned requests that must end within the measured time.
const ENDED_MIN_SHARE: f64 = 0.99;
/// Tolerance in standard deviations of a random number of arrivals, which is the square root of that number.
const ARRIVAL_SIGMAS: f64 = 2.0;

/// Backlog of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Backlog {
    /// Requests planned in the whole seconds of the measured time.
    planned: f64,
    /// Requests that ended in these seconds, with any outcome.
    ended: f64,
    /// Open requests at the end of each of these seconds.
    open: Vec<f64>,
    /// Requests that ended after the measured time, by second.
    late: BTreeMap<u64, f64>,
    /// End of the measured time, in nanoseconds since the load began.
    end_ns: u64,
}

impl Backlog {
    /// Computes the backlog of a run with its per-second data; `None` if its measured time has no set end, no whole
    /// second, or too many.
    pub(super) fn of(run: &Run) -> Result<Option<Self>, EvidenceError> {
        let Some(duration_ns) = run.new.planned_duration_ns else { return Ok(None) };
        let end_ns = run.new.warm_up_ns.saturating_add(duration_ns);
        let (first, end) = (run.new.warm_up_ns.div_ceil(SECOND_NS), end_ns / SECOND_NS);
        if first >= end || end - first > SECONDS_MAX {
            return Ok(None);
        }
        let mut seconds: BTreeMap<u64, Counts> = BTreeMap::new();
        for second in run.packed_seconds()? {
            seconds.entry(second.second()).or_default().add(second.counts());
        }
        let mut backlog = Self { planned: 0.0, ended: 0.0, open: Vec::new(), late: BTreeMap::new(), end_ns };
        let (mut open, mut next) = (0.0, first);
        for (second, counts) in &seconds {
            // Seconds without events are not stored.
            let quiet = (*second).min(end).saturating_sub(next);
            backlog.open.extend((0..quiet).map(|_| open));
            let ended = counts.ended() as f64;
            open += counts.planned as f64 - counts.not_sent as f64 - ended;
            if (first..end).contains(second) {
                backlog.planned += counts.planned as f64;
                backlog.ended += ended;
                backlog.open.push(open);
            } else if *second >= end {
                backlog.late.insert(*second, ended);
            }
            next = next.max(second.saturating_add(1));
        }
        backlog.open.extend((next..end).map(|_| open));
        Ok(Some(backlog))
    }

    /// Returns the share of the planned requests that ended in the measured time, and the smallest sufficient share;
    /// `None` if nothing was planned.
    pub(super) fn kept(&self) -> Option<(f64, f64)> {
        let enough =
            self.planned - (self.planned * (1.0 - ENDED_MIN_SHARE)).max(ARRIVAL_SIGMAS * self.planned.sqrt());
        (self.planned > 0.0).then(|| (self.ended / self.planned, enough / self.planned))
    }

    /// Returns the growth of the backlog from the second to the last quarter; `None` if the system keeps up.
    pub(super) fn growth(&self) -> Option<f64> {
        let (seconds, quarter) = (self.open.len(), self.open.len() / 4);
        if seconds < SECONDS_MIN {
            return None;
        }
        let mean = |open: &[f64]| open.iter().sum::<f64>() / open.len() as f64;
        let (early, late) = (mean(&self.open[quarter..2 * quarter]), mean(&self.open[seconds - quarter..]));
        let offered_per_s = self.planned / seconds as f64;
        let grew = late - early;
        let is_steep = slope(&self.open) > GROWTH_SHARE * offered_per_s;
        let falls_behind =
            is_steep && late > GROWTH_RATIO * early && grew > ARRIVAL_SIGMAS * self.planned.sqrt();
        falls_behind.then_some(grew)
    }

    /// Returns the share of the planned requests that ended more than `grace_ns` after the measured time; `None` if
    /// nothing was planned.
    pub(super) fn ended_after(&self, grace_ns: u64) -> Option<f64> {
        let from = self.end_ns.saturating_add(grace_ns).div_ceil(SECOND_NS);
        let late: f64 = self.late.range(from..).map(|(_, ended)| ended).sum();
        (self.planned > 0.0).then(|| late / self.planned)
    }
}

/// Returns the slope per second of a line through values of consecutive seconds (least squares).
fn slope(values: &[f64]) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let (mut above, mut below) = (0.0, 0.0);
    for (second, value) in values.iter().enumerate() {
        let from_middle = second as f64 - middle;
        above += from_middle * value;
        below += from_middle * from_middle;
    }
    if below > 0.0 { above / below } else { 0.0 }
}
