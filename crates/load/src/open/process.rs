//! List of arrival processes. A new process needs one file and one line here.

use alloc::boxed::Box;
use core::fmt;

use super::even::EVEN;
use super::poisson::POISSON;

/// All arrival processes.
pub const PROCESSES: &[&Process] = &[&EVEN, &POISSON];

/// Arrival process: the spacing of send times at a given rate.
pub struct Process {
    /// Name in flags and plans.
    pub name: &'static str,
    /// Name in descriptions of loads.
    pub title: &'static str,
    /// Description of the send times, which continues the sentence *Requests arrive …*.
    pub sentence: &'static str,
    /// Creates the places of send times from a seed. Equal seeds give equal places.
    pub places: fn(seed: u64) -> Places,
}

/// Places of send times, in order. Each call returns the number of requests that an even flow of equal rate would have started by
/// the next send time.
pub type Places = Box<dyn FnMut() -> f64 + Send>;

impl PartialEq for Process {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
