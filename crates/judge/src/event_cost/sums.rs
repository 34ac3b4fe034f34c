//! Total cost of a run's events, and the worst cost among the occurrences of one event.

use evidence::{Cost, Outage, Recovery, Run};
use record::Counts;

use super::begin_together;

use crate::durations::Durations;
use crate::measured::Measured;

/// Combined cost of several events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventSums {
    /// Number of lost requests.
    pub lost: u64,
    /// Longest outage, in nanoseconds.
    pub outage_ns: u64,
    /// Longest time until the system had recovered, in nanoseconds; `None` if it did not recover from one of the events.
    pub recovery_ns: Option<u64>,
}

impl EventSums {
    /// Returns the combined cost of all events of a run; `None` if there were none, or if the cost of one is unknown.
    pub fn of(run: &Run) -> Option<Self> {
        let costs: Vec<&Cost> = run
            .events()
            .iter()
            .map(|event| cost_of(run, &event.name, event.occurrence))
            .collect::<Option<_>>()?;
        let sums = Self::over(&costs, u64::saturating_add)?;
        Some(Self { lost: lost_once(costs), ..sums })
    }

    /// Returns the combined cost of all occurrences of an event; `None` if there were none, or if the cost of one is
    /// unknown.
    pub(crate) fn of_event(event: &str, run: &Run) -> Option<Self> {
        Self::over(&costs_of(run, event)?, u64::saturating_add)
    }

    fn over(costs: &[&Cost], lost: fn(u64, u64) -> u64) -> Option<Self> {
        let recovered_ns = |cost: &&Cost| match cost.recovery {
            Recovery::After(ns) => Some(ns),
            Recovery::NotWithin(_) | Recovery::Unconfirmed(_) => None,
        };
        let recovery_ns: Option<Vec<u64>> = costs.iter().map(recovered_ns).collect();
        (!costs.is_empty()).then(|| Self {
            lost: costs.iter().map(|cost| cost.lost.total()).fold(0, lost),
            outage_ns: costs.iter().map(|cost| cost.outage_ns).max().unwrap_or(0),
            recovery_ns: recovery_ns.and_then(|all| all.into_iter().max()),
        })
    }
}

/// Returns the lost requests of all events. Events that begin together each have the losses of all of them, so each
/// group counts once.
fn lost_once(mut costs: Vec<&Cost>) -> u64 {
    costs.sort_by_key(|cost| cost.from_ns);
    let groups = costs.chunk_by(|one, next| begin_together(one.from_ns, next.from_ns));
    let lost = groups.map(|group| group.iter().map(|cost| cost.lost.total()).max().unwrap_or(0));
    lost.fold(0, u64::saturating_add)
}

/// Returns the figures of one event, with the worst value over its occurrences. `None` if there were none, or if the
/// cost of one is unknown.
pub(crate) fn worst_of(event: &str, run: &Run) -> Option<Measured> {
    let costs = costs_of(run, event)?;
    let share = |cost: &&&Cost| cost.errors as f64 / cost.planned.max(1) as f64;
    let worst = costs.iter().max_by(|one, other| share(one).total_cmp(&share(other)))?;
    let planned = worst.planned.max(worst.errors);
    let counts = Counts {
        planned,
        sent: planned,
        failed: worst.errors,
        ok: planned - worst.errors,
        ..Counts::default()
    };
    let sums = EventSums::over(&costs, u64::max)?;
    let worst_ns = costs.iter().filter_map(|cost| cost.worst_response_ns).max();
    Some(Measured {
        counts,
        outage: Some(Outage { longest_s: sums.outage_ns as f64 / 1e9, ..Outage::default() }),
        response: Durations { max_ns: worst_ns.map(|ns| ns as f64), ..Durations::default() },
        events: Some(sums),
        ..Measured::default()
    })
}

/// Returns the costs of all occurrences of an event; `None` if one is unknown.
fn costs_of<'a>(run: &'a Run, event: &str) -> Option<Vec<&'a Cost>> {
    let of_name = run.events().iter().filter(|of| of.name == event);
    of_name.map(|of| cost_of(run, event, of.occurrence)).collect()
}

fn cost_of<'a>(run: &'a Run, name: &str, occurrence: u32) -> Option<&'a Cost> {
    let mut costs = run.event_costs().iter();
    costs.find(|cost| cost.name == name && cost.occurrence == occurrence)?.cost()
}
