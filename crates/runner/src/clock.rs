//! The time of a run: the machine's, or one that a test moves on.

use std::fmt::Debug;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use crate::watchdog::Watchdog;

/// Tells the time, and lets it pass.
pub trait Clock: Debug {
    /// The instant that it is.
    fn now(&self) -> Instant;

    /// Waits.
    fn sleep(&self, time: Duration);

    /// Arms what ends the process unless it is dropped within `limit`; without a limit it does nothing yet.
    ///
    /// # Errors
    /// No thread could be started for it.
    fn watchdog(&self, limit: Option<Duration>) -> io::Result<Watchdog>;
}

/// The clock of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct WallClock;

impl Clock for WallClock {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep(&self, time: Duration) {
        thread::sleep(time);
    }

    fn watchdog(&self, limit: Option<Duration>) -> io::Result<Watchdog> {
        Watchdog::arm(limit)
    }
}
