//! The list of arrival processes: a new one is one file and one line here.

use alloc::boxed::Box;
use core::fmt;

use super::even::EVEN;
use super::poisson::POISSON;

/// Every arrival process.
pub const PROCESSES: &[&Process] = &[&EVEN, &POISSON];

/// How the send times of a rate are spaced.
pub struct Process {
    /// Its name in flags and plans.
    pub name: &'static str,
    /// Its name in descriptions of loads.
    pub title: &'static str,
    /// What its send times are like; it continues the sentence *Requests arrive …*.
    pub sentence: &'static str,
    /// From a seed to the places of its send times. The same seed gives the same places.
    pub places: fn(seed: u64) -> Places,
}

/// The places of send times, in order: at each call, how many requests an even flow of the same rate would have started when the next
/// one starts.
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
