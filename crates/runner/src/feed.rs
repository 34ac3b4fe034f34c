//! Feed of one run: each fact is stored first, and published then.
//!
//! The thread that publishes also writes to the store. So subscribers receive only facts that are stored, and the store loses
//! nothing. An error of the store ends the run before the fact is shown.

use evidence::{Event, RunId};
use progress::{Ended, Finding, Readings, RunEvent, Stream};
use record::Interval;
use store::{Store, StoreError};

/// Destinations of the facts of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Feed<'a> {
    pub(crate) store: &'a Store,
    /// Name of the run in the store.
    pub(crate) run: &'a RunId,
    pub(crate) stream: &'a Stream,
}

impl Feed<'_> {
    /// Stores the intervals of a step, or of a part of a step. Their second is published once all its steps are stored.
    pub(crate) fn store_step(&self, step: u16, intervals: &[Interval]) -> Result<(), StoreError> {
        self.store.keep_second(self.run, step, intervals)
    }

    /// Stores and publishes the readings of all probes at one time.
    pub(crate) fn readings(&self, readings: Readings) -> Result<(), StoreError> {
        self.store.keep_readings(self.run, readings.second, &readings.readings)?;
        self.publish(RunEvent::Reading(readings));
        Ok(())
    }

    /// Stores and publishes events of the plan that ended, or could not start.
    pub(crate) fn events(&self, events: Vec<Event>) -> Result<(), StoreError> {
        self.store.keep_events(self.run, &events)?;
        events.into_iter().for_each(|event| self.publish(RunEvent::Event(Box::new(event))));
        Ok(())
    }

    /// Publishes the end of a run after its ending and results were stored.
    pub(crate) fn ended(&self, ended: Ended) {
        let doubts = ended.ending.validity.causes.iter().cloned();
        doubts.for_each(|cause| self.publish(RunEvent::Finding(Finding::Doubt(cause))));
        self.publish(RunEvent::Ended(Box::new(ended)));
    }

    /// Publishes a fact that is already stored.
    pub(crate) fn publish(&self, event: RunEvent) {
        self.stream.publish(Some(self.run), event);
    }
}
