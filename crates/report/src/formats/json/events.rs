//! What was done to the system under load. Times are in seconds since the load began, warm-up included.

use serde::Serialize;
use store::Event;

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
}

impl<'a> EventObject<'a> {
    pub(super) fn of(event: &'a Event) -> Self {
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
        }
    }
}
