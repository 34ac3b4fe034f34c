//! Rates: requests that ended within the measured window, divided by its length.

use evidence::{Model, Run, WindowLength};
use record::{Backlog, Phase, Tally, WindowCounts};

use crate::rates;

/// Requests that ended within the measured window of a run, or of one of its steps, including requests intended
/// earlier.
///
/// Throughput is answers ÷ length, for closed and open loads alike. The length is planned, or ends at the time at which
/// the load was stopped. It does not depend on the times at which requests were sent or answered, so throughput cannot
/// exceed the requests that were offered in the window or open at its start. Only in a load that ends by its number of
/// requests does the window end with the last counted answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Length in seconds, above 0.
    pub length_s: f64,
    /// Requests that ended in the window, by outcome.
    pub counts: WindowCounts,
    /// Requests planned in the window; `None` for a closed load, or if answers were counted by whole seconds.
    pub offered: Option<u64>,
    /// Due but unfinished requests at both ends of the window; `None` if answers were counted by whole seconds.
    pub backlog: Option<Backlog>,
}

impl Window {
    /// Determines the window of all steps of a run; `None` if its length is unknown.
    pub fn of(run: &Run) -> Option<Self> {
        Self::of_steps(run, 0..run.new.steps.len() as u16)
    }

    /// Determines the window of one step.
    pub fn of_step(run: &Run, step: u16) -> Option<Self> {
        Self::of_steps(run, step..=step)
    }

    fn of_steps(run: &Run, steps: impl Iterator<Item = u16> + Clone) -> Option<Self> {
        let WindowLength { ns, is_by_seconds } = run.window()?;
        let [warm_up, measured] = Phase::ALL.map(|phase| {
            let mut tally = Tally::default();
            for (counts, window) in steps.clone().map(|step| run.counted(step, phase)) {
                tally.counts.add(&counts);
                tally.window.add(&window);
            }
            tally
        });
        let mut counts = warm_up.window;
        counts.add(&measured.window);
        let is_of_tool = run.ending.as_ref().is_some_and(|ending| ending.generator.tool.is_some());
        let backlog = Backlog::of(&warm_up, &measured).ok().filter(|_| !is_by_seconds && !is_of_tool);
        let offered = (run.new.model == Model::Open && !is_by_seconds).then_some(measured.counts.planned);
        Some(Self { length_s: ns as f64 / 1e9, counts, offered, backlog })
    }

    /// Combines the windows of several runs: requests that ended in all windows, over the sum of their lengths. `None`
    /// if one is missing.
    pub fn together(windows: impl IntoIterator<Item = Option<Self>>) -> Option<Self> {
        let together = |sum: Self, next: Self| {
            let mut counts = sum.counts;
            counts.add(&next.counts);
            let offered = sum.offered.zip(next.offered).map(|(one, other)| one.saturating_add(other));
            Self { length_s: sum.length_s + next.length_s, counts, offered, backlog: None }
        };
        windows.into_iter().collect::<Option<Vec<_>>>()?.into_iter().reduce(together)
    }

    /// Returns the window of whole seconds.
    pub(crate) fn of_seconds(seconds: u64, counts: WindowCounts) -> Option<Self> {
        Self::of_ns(seconds.saturating_mul(1_000_000_000), counts)
    }

    /// Returns the window of a number of nanoseconds; `None` if it is 0.
    pub(crate) fn of_ns(ns: u64, counts: WindowCounts) -> Option<Self> {
        (ns > 0).then_some(Self { length_s: ns as f64 / 1e9, counts, offered: None, backlog: None })
    }

    /// Returns the answers per second, ok or rejected.
    pub fn answers_per_s(&self) -> f64 {
        self.per_s(self.counts.answers())
    }

    /// Returns the ok answers per second by which systems are compared. In an open load, no more answers count than
    /// requests were planned: a system that froze before the window answers its old backlog in it, which must not count
    /// as speed.
    pub fn ok_per_s(&self) -> f64 {
        self.per_s(self.offered.map_or(self.counts.ok, |offered| self.counts.ok.min(offered)))
    }

    /// Returns the requests that ended per second, with any outcome.
    pub fn ended_per_s(&self) -> f64 {
        self.per_s(self.counts.ended())
    }

    /// Converts a count to a rate per second of the window.
    pub fn per_s(&self, count: u64) -> f64 {
        rates::per_s(count, self.length_s)
    }
}
