//! The one word that ends every thread of a target.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Longest uninterrupted sleep; a stop is noticed within it.
const NAP: Duration = Duration::from_millis(20);

/// Set once, never taken back.
#[derive(Debug, Default)]
pub(crate) struct Stop(AtomicBool);

impl Stop {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Sleeps until `deadline`, or less when told to stop.
    pub(crate) fn sleep_until(&self, deadline: Instant) {
        while !self.is_set() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(NAP));
        }
    }
}
