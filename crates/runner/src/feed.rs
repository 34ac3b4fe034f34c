//! The feed of one run: each fact is kept in the store first, and published then.
//!
//! The store is written on the thread that publishes. So whatever a subscriber receives is kept already, the store loses nothing, and
//! an error of the store ends the run before the fact is shown.

use evidence::{Event, RunId};
use progress::{Ended, Finding, Readings, RunEvent, Stream};
use record::Interval;
use store::{Store, StoreError};

/// Where the facts of a run go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Feed<'a> {
    pub(crate) store: &'a Store,
    /// The name of the run in the store.
    pub(crate) run: &'a RunId,
    pub(crate) stream: &'a Stream,
}

impl Feed<'_> {
    /// Keeps the intervals of a step, or of a part of one. Their second is published when all its steps are kept.
    pub(crate) fn keep_step(&self, step: u16, intervals: &[Interval]) -> Result<(), StoreError> {
        self.store.keep_second(self.run, step, intervals)
    }

    /// Readings of all probes at one time.
    pub(crate) fn readings(&self, readings: Readings) -> Result<(), StoreError> {
        self.store.keep_readings(self.run, readings.second, &readings.readings)?;
        self.publish(RunEvent::Reading(readings));
        Ok(())
    }

    /// Events of the plan that ended, or could not begin.
    pub(crate) fn events(&self, events: Vec<Event>) -> Result<(), StoreError> {
        self.store.keep_events(self.run, &events)?;
        events.into_iter().for_each(|event| self.publish(RunEvent::Event(Box::new(event))));
        Ok(())
    }

    /// A run whose ending and results are kept.
    pub(crate) fn ended(&self, ended: Ended) {
        let doubts = ended.ending.validity.causes.iter().cloned();
        doubts.for_each(|cause| self.publish(RunEvent::Finding(Finding::Doubt(cause))));
        self.publish(RunEvent::Ended(Box::new(ended)));
    }

    /// Publishes a fact that is kept.
    pub(crate) fn publish(&self, event: RunEvent) {
        self.stream.publish(Some(self.run), event);
    }
}
