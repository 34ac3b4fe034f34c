//! What a search has found.

use alloc::vec::Vec;

/// What is known of a capacity.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    /// The highest rate at which the conditions held.
    pub held_per_s: Option<f64>,
    /// The lowest rate above it at which they did not.
    pub failed_per_s: Option<f64>,
    /// Whether fresh runs at both ends bore them out.
    pub is_confirmed: bool,
    /// From the lowest to the highest rate at which runs now passed, now failed, so that more of them would not have told.
    pub noise_band: Option<(f64, f64)>,
    /// Whether a little less holds again after more than it can take; `None`: not tried, or invalid.
    pub recovers: Option<bool>,
    /// Whether it holds a little less for long; `None`: not tried, or invalid.
    pub soaked: Option<bool>,
    /// The most that users without pauses got, per second.
    pub ceiling_per_s: Option<f64>,
    /// How many users got it, the fewest of several.
    pub ceiling_users: Option<u32>,
    /// The mean response time with one user, in seconds.
    pub base_response_s: Option<f64>,
    /// The lowest rate at which the generator was no use three times in a row: there may be more than was found.
    pub unmeasurable_per_s: Option<f64>,
    /// The rates that were run, lowest first; without the runs of the stages after the confirmation.
    pub tallies: Vec<Tally>,
    /// Runs made, invalid ones too.
    pub runs: u32,
    /// Why it is over; `None` while it goes on.
    pub end: Option<SearchEnd>,
}

/// The runs at a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tally {
    /// The rate.
    pub per_s: f64,
    /// Runs in which the conditions held.
    pub passed: u32,
    /// Runs in which one did not.
    pub failed: u32,
    /// Runs that say nothing.
    pub invalid: u32,
}

/// Why a search is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchEnd {
    /// The capacity lies between what held and what failed.
    Found,
    /// Not even the lowest rate held.
    NothingHolds,
    /// The highest rate that was allowed holds.
    NothingFails,
    /// The runs were used up; what was found so far is not confirmed.
    OutOfRuns,
    /// The generator's runs were invalid three times in a row; what held is a lower bound.
    NotFit,
}
