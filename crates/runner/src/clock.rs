//! Clock of a run: the machine's, or one that a test advances.

use std::fmt::Debug;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use crate::watchdog::Watchdog;

/// Source of time, and of delays.
pub trait Clock: Debug {
    /// Current time.
    fn now(&self) -> Instant;

    /// Sleeps.
    fn sleep(&self, time: Duration);

    /// Arms a watchdog that ends the process unless it is dropped within `limit`. Without a limit it is not armed yet.
    ///
    /// # Errors
    /// Its thread could not be started.
    fn watchdog(&self, limit: Option<Duration>) -> io::Result<Watchdog>;
}

/// Clock of this machine.
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
