//! Rates: what ended within the measured window, over its length.

use evidence::{Model, Run, WindowLength};
use record::{Backlog, InWindow, Phase, Tally};

use crate::rates;

/// What ended within the measured window of a run, or of one step of it, whenever it was intended.
///
/// Throughput is answers ÷ length, for closed and open loads alike. The length is part of the plan, or the instant at which
/// the load was stopped, and never depends on when requests were sent or answered; so no more can be reported than was
/// offered in the window or open at its start. Only a load that its number of requests ended has a window that ends with the last
/// counted answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// In seconds, above 0.
    pub length_s: f64,
    /// What ended in it.
    pub counts: InWindow,
    /// Of an open load, how many requests were planned in it.
    pub offered: Option<u64>,
    /// Requests planned and not ended at its ends; `None` where answers were counted by whole seconds.
    pub backlog: Option<Backlog>,
}

impl Window {
    /// Of all steps of a run; `None` where nothing tells how long it was.
    pub fn of(run: &Run) -> Option<Self> {
        Self::of_steps(run, 0..run.new.steps.len() as u16)
    }

    /// Of one step, or of a part of one.
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

    /// Of several runs: what ended in all their windows, over the sum of their lengths. `None` if one has none.
    pub fn together(windows: impl IntoIterator<Item = Option<Self>>) -> Option<Self> {
        let together = |sum: Self, next: Self| {
            let mut counts = sum.counts;
            counts.add(&next.counts);
            let offered = sum.offered.zip(next.offered).map(|(one, other)| one.saturating_add(other));
            Self { length_s: sum.length_s + next.length_s, counts, offered, backlog: None }
        };
        windows.into_iter().collect::<Option<Vec<_>>>()?.into_iter().reduce(together)
    }

    /// Of whole seconds: what ended in so many of them.
    pub(crate) fn of_seconds(seconds: u64, counts: InWindow) -> Option<Self> {
        Self::of_ns(seconds.saturating_mul(1_000_000_000), counts)
    }

    /// What ended in so many nanoseconds.
    pub(crate) fn of_ns(ns: u64, counts: InWindow) -> Option<Self> {
        (ns > 0).then_some(Self { length_s: ns as f64 / 1e9, counts, offered: None, backlog: None })
    }

    /// Answers per second, ok or rejected.
    pub fn answers_per_s(&self) -> f64 {
        self.per_s(self.counts.answers())
    }

    /// Ok answers per second, by which systems are compared: of an open load no more than were planned. A system that froze
    /// before the window answers in it what was open at its start, and that is no merit.
    pub fn ok_per_s(&self) -> f64 {
        self.per_s(self.offered.map_or(self.counts.ok, |offered| self.counts.ok.min(offered)))
    }

    /// Requests that ended per second, in any way.
    pub fn ended_per_s(&self) -> f64 {
        self.per_s(self.counts.ended())
    }

    /// So many of something in a second of the window.
    pub fn per_s(&self, count: u64) -> f64 {
        rates::per_s(count, self.length_s)
    }
}
