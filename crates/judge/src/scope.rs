//! What a condition looks at: a run, a step of it, or a part of its time.

use record::{InWindow, Phase, Tally};
use store::{Run, StoreError};

use crate::condition::Condition;
use crate::slo::Observed;
use crate::window::Window;

const SECOND_NS: u64 = 1_000_000_000;

/// What a condition looks at.
pub(crate) struct Scope {
    tally: Tally,
    window: Option<Window>,
}

impl Scope {
    /// Of a condition; nothing if the run has no such step.
    pub(crate) fn of(condition: &Condition, run: &Run) -> Result<Self, StoreError> {
        let step = match &condition.step {
            None => None,
            Some(step) => match run.new.steps.iter().position(|known| known == step) {
                Some(place) => Some(place as u16),
                None => return Ok(Self { tally: Tally::default(), window: None }),
            },
        };
        match condition.part_ns {
            None => Self::whole(step, run),
            Some(part) => Self::seconds(step, run, part),
        }
    }

    /// What figures are read from.
    pub(crate) fn observed<'a>(&'a self, run: &'a Run) -> Observed<'a> {
        let outage = run.ending.as_ref().and_then(|ending| ending.outage.as_ref());
        Observed { tally: &self.tally, window: self.window, outage }
    }

    /// The whole measured window: the same as in reports.
    fn whole(step: Option<u16>, run: &Run) -> Result<Self, StoreError> {
        Ok(match step {
            Some(step) => {
                Self { tally: run.total(step, Phase::Measured)?, window: Window::of_step(run, step) }
            }
            None => Self { tally: run.whole(Phase::Measured)?, window: Window::of(run) },
        })
    }

    /// The seconds that lie wholly in a part of the measured window: requests that were intended in the window, and what ended in
    /// them.
    fn seconds(step: Option<u16>, run: &Run, (from_ns, to_ns): (u64, u64)) -> Result<Self, StoreError> {
        let warm_up_ns = run.new.warm_up_ns;
        let first = warm_up_ns.saturating_add(from_ns).div_ceil(SECOND_NS);
        let end = warm_up_ns.saturating_add(to_ns) / SECOND_NS;
        let (mut tally, mut counts) = (Tally::default(), InWindow::default());
        for kept in run.seconds() {
            let (of_step, interval) = kept?;
            if step.is_none_or(|wanted| wanted == of_step) && (first..end).contains(&interval.second) {
                counts.add(&interval.tally.window);
                if interval.phase == Phase::Measured {
                    tally.merge(&interval.tally);
                }
            }
        }
        Ok(Self { tally, window: Window::of_seconds(end.saturating_sub(first), counts) })
    }
}
