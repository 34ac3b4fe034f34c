//! What was done to the system under load. Times are in seconds since the load began, warm-up included.

use serde::Serialize;
use store::{Event, EventCost};

use super::event_costs::CostObject;
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
}

/// The events of a run, in the order in which they began.
pub(super) fn of_run<'a>(view: &View<'a>) -> Vec<EventObject<'a>> {
    let costs = view.run.event_costs();
    let cost = |event: &Event| {
        costs.iter().find(|cost| cost.name == event.name && cost.occurrence == event.occurrence)
    };
    view.run.events().iter().map(|event| EventObject::of(event, cost(event))).collect()
}

impl<'a> EventObject<'a> {
    fn of(event: &'a Event, cost: Option<&'a EventCost>) -> Self {
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
        }
    }
}
