//! How a person ends a run early: once to let it drain, twice to end it now.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

pub use engine::StopLevel;

/// A handle that signal handlers and the run share.
#[derive(Clone, Debug, Default)]
pub struct Stopper(Arc<AtomicU8>);

impl Stopper {
    /// Asks to stop: the first time gently, then at once.
    pub fn ask(&self) {
        let _ =
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |asked| Some(asked.saturating_add(1)));
    }

    /// How much was asked so far.
    pub fn level(&self) -> StopLevel {
        match self.0.load(Ordering::Relaxed) {
            0 => StopLevel::Go,
            1 => StopLevel::Drain,
            _ => StopLevel::Abort,
        }
    }
}
