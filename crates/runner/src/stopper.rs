//! Early end of a run by the user: the first request drains, the second one aborts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

pub use engine::StopLevel;

/// Handle shared by signal handlers and the run.
#[derive(Clone, Debug, Default)]
pub struct Stopper(Arc<AtomicU8>);

impl Stopper {
    /// Requests a stop: the first call drains, the second one aborts.
    pub fn ask(&self) {
        let _ =
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |asked| Some(asked.saturating_add(1)));
    }

    /// Highest level requested so far.
    pub fn level(&self) -> StopLevel {
        match self.0.load(Ordering::Relaxed) {
            0 => StopLevel::Go,
            1 => StopLevel::Drain,
            _ => StopLevel::Abort,
        }
    }
}
