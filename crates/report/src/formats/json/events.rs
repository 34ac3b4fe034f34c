//! Events of a run in JSON. Times are in seconds since the load began, warm-up included.

use evidence::EventCost;
use serde::Serialize;

use super::event_costs::{CausesObject, CostObject};
use crate::event_causes;
use crate::event_costs::{self, CostedEvent};
use crate::view::View;

#[derive(Serialize)]
pub(super) struct EventObject<'a> {
    name: &'a str,
    occurrence: u32,
    action: &'a str,
    outcome: &'static str,
    planned_s: Option<f64>,
    begun_s: Option<f64>,
    ended_s: Option<f64>,
    exit: Option<i32>,
    signal: Option<i32>,
    failure: Option<&'a str>,
    may_fail: bool,
    cost: Option<CostObject>,
    cost_unknown: Option<&'a str>,
    /// Start in seconds after the end of the warm-up, as in plans and in reports for people.
    at_s: Option<f64>,
    #[serde(flatten)]
    why: CausesObject,
}

/// Events of a run, in the order in which they began.
pub(super) fn of_run<'a>(view: &View<'a>) -> Vec<EventObject<'a>> {
    event_costs::of_run(view).iter().map(|of| EventObject::of(view, of)).collect()
}

impl<'a> EventObject<'a> {
    fn of(view: &View<'a>, happened: &CostedEvent<'a>) -> Self {
        let CostedEvent { event, cost, .. } = happened;
        let seconds = |time_ns: Option<u64>| time_ns.map(|ns| ns as f64 / 1e9);
        Self {
            name: &event.name,
            occurrence: event.occurrence,
            action: &event.action,
            outcome: event.outcome().name(),
            planned_s: seconds(event.planned_ns),
            begun_s: seconds(event.begun_ns),
            ended_s: seconds(event.ended_ns),
            exit: event.exit,
            signal: event.signal,
            failure: event.failure.as_deref(),
            may_fail: event.may_fail,
            cost: cost.and_then(EventCost::cost).map(CostObject::of),
            cost_unknown: cost.and_then(EventCost::why_unknown),
            at_s: happened.at_s(),
            why: CausesObject::of(event_causes::of_occurrence(view, happened)),
        }
    }
}
