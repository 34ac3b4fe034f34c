//! The feed of one run: each fact is kept in the store first, and published then.
//!
//! The store is written on the thread that publishes. So whatever a subscriber receives is kept already, the store loses nothing, and
//! an error of the store ends the run before the fact is shown.

use evidence::RunId;
use progress::{RunEvent, Stream};
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

    /// Publishes a fact that is kept.
    pub(crate) fn publish(&self, event: RunEvent) {
        self.stream.publish(Some(self.run), event);
    }
}
