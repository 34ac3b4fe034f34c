//! Scope of a condition: a run, one of its steps, an event, or a part of its time.

use evidence::{EvidenceError, Outage, Run};
use record::{Phase, Tally, WindowCounts};

use crate::condition::Condition;
use crate::durations::Durations;
use crate::event_cost;
use crate::measured::Measured;
use crate::own_figure::OwnFigure;
use crate::window::Window;

const SECOND_NS: u64 = 1_000_000_000;

/// Figures of the scope of a condition.
pub struct Scope {
    tally: Tally,
    measured: Measured,
}

impl Scope {
    /// Determines the scope of a condition; empty if the run lacks its step.
    pub(crate) fn of(condition: &Condition, run: &Run) -> Result<Self, EvidenceError> {
        if let Some(event) = &condition.event {
            return Ok(Self::of_event(event, run));
        }
        if let Some(own) = &condition.own {
            let own_figure = OwnFigure::of_run(run).into_iter().find(|figure| figure.name == *own);
            let own_figure = own_figure.and_then(|figure| figure.read(run));
            return Ok(Self {
                tally: Tally::default(),
                measured: Measured { own_figure, ..Measured::default() },
            });
        }
        let step = match &condition.step {
            None => None,
            Some(step) => match run.new.steps.iter().position(|known| known == step) {
                Some(place) => Some(place as u16),
                None => return Ok(Self::of_parts(Tally::default(), None, None)),
            },
        };
        match condition.part_ns {
            None => Self::whole(step, run),
            Some(part) => Self::seconds(step, run, part),
        }
    }

    /// Builds a scope from counts, requests that ended in the window, and outages.
    pub(crate) fn of_parts(tally: Tally, window: Option<Window>, outage: Option<Outage>) -> Self {
        let response = Durations::of(&tally.response.all());
        let measured = Measured { counts: tally.counts, window, outage, response, ..Measured::default() };
        Self { tally, measured }
    }

    /// Merges the slices of one start into the scope of a condition. `slices` must not be empty.
    pub(crate) fn from_slices(condition: &Condition, slices: &[&Run]) -> Result<Self, EvidenceError> {
        let Some(last) = slices.last().filter(|_| condition.own.is_none() && condition.event.is_none())
        else {
            return slices.last().map_or_else(
                || Ok(Self::of_parts(Tally::default(), None, None)),
                |last| Self::of(condition, last),
            );
        };
        let step = condition.step.as_ref().map(|step| last.new.steps.iter().position(|known| known == step));
        let (mut tally, mut windows) = (Tally::default(), Vec::new());
        for slice in slices {
            let (of_slice, window) = match step {
                None => (slice.whole(Phase::Measured)?, Window::of(slice)),
                Some(Some(step)) => {
                    (slice.total(step as u16, Phase::Measured)?, Window::of_step(slice, step as u16))
                }
                Some(None) => continue,
            };
            tally.merge(&of_slice);
            windows.push(window);
        }
        let outages: Vec<Outage> = slices.iter().filter_map(|slice| outage(slice)).collect();
        let longest_s = outages.iter().map(|outage| outage.longest_s).fold(0.0, f64::max);
        let gone_share = outages.iter().map(|outage| outage.gone_share).sum::<f64>() / slices.len() as f64;
        let outage = (!outages.is_empty()).then(|| Outage {
            longest_s,
            gone_share,
            times: Vec::new(),
            starvation: None,
        });
        Ok(Self::of_parts(tally, Window::together(windows), outage))
    }

    /// Determines the scope of an event, with the worst occurrence for each figure. Empty if an occurrence did not
    /// begin, or if its cost is unknown.
    fn of_event(event: &str, run: &Run) -> Self {
        let measured = event_cost::worst_of(event, run).unwrap_or_default();
        Self { tally: Tally::default(), measured }
    }

    /// Returns the figures of the scope.
    pub(crate) fn measured(&self) -> &Measured {
        &self.measured
    }

    /// Returns the tally of the scope; empty for an event.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Returns the scope of the whole measured window, as in reports.
    pub(crate) fn whole(step: Option<u16>, run: &Run) -> Result<Self, EvidenceError> {
        let Some(step) = step else {
            return Ok(Self { tally: run.whole(Phase::Measured)?, measured: Measured::of(run)? });
        };
        Ok(Self::of_parts(run.total(step, Phase::Measured)?, Window::of_step(run, step), outage(run)))
    }

    /// Determines the scope of the seconds that lie completely in a part of the measured window. It includes requests
    /// intended in the measured window, and all requests that ended in these seconds.
    fn seconds(step: Option<u16>, run: &Run, (from_ns, to_ns): (u64, u64)) -> Result<Self, EvidenceError> {
        let warm_up_ns = run.new.warm_up_ns;
        let first = warm_up_ns.saturating_add(from_ns).div_ceil(SECOND_NS);
        let end = warm_up_ns.saturating_add(to_ns) / SECOND_NS;
        let (mut tally, mut counts) = (Tally::default(), WindowCounts::default());
        for kept in run.seconds() {
            let (of_step, interval) = kept?;
            if step.is_none_or(|wanted| wanted == of_step) && (first..end).contains(&interval.second) {
                counts.add(&interval.tally.window);
                if interval.phase == Phase::Measured {
                    tally.merge(&interval.tally);
                }
            }
        }
        Ok(Self::of_parts(tally, Window::of_seconds(end.saturating_sub(first), counts), outage(run)))
    }
}

fn outage(run: &Run) -> Option<Outage> {
    run.ending.as_ref()?.outage.clone()
}
