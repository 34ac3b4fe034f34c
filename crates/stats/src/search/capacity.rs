//! Result of a search.

use alloc::vec::Vec;

/// State of knowledge about a capacity.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    /// Highest rate at which the conditions passed. `None` if there is none.
    pub held_per_s: Option<f64>,
    /// Lowest rate above it at which a condition failed. `None` if there is none.
    pub failed_per_s: Option<f64>,
    /// True if confirmation runs at both ends agreed.
    pub is_confirmed: bool,
    /// Lowest and highest rate of the range in which runs both pass and fail, so that more runs would not be conclusive.
    pub noise_band: Option<(f64, f64)>,
    /// True if a slightly lower rate passes again after an overload. `None` if it was not tried, or if its runs were invalid.
    pub recovers: Option<bool>,
    /// True if the soak test passed. `None` if it was not tried, or if its runs were invalid.
    pub soaked: Option<bool>,
    /// Highest throughput of closed users without think time, per second.
    pub ceiling_per_s: Option<f64>,
    /// Smallest number of users that reached it.
    pub ceiling_users: Option<u32>,
    /// Mean response time with one user, in seconds.
    pub base_response_s: Option<f64>,
    /// Lowest rate at which the load generator was invalid three times in a row: the capacity may be higher than was found.
    pub unmeasurable_per_s: Option<f64>,
    /// Runs by rate, in ascending order, without the stages after confirmation.
    pub tallies: Vec<Tally>,
    /// Number of runs, including invalid ones.
    pub runs: u32,
    /// Reason why the search ended. `None` while it is in progress.
    pub end: Option<SearchEnd>,
}

/// Number of runs at a rate, by result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tally {
    /// Rate, in arrivals per second.
    pub per_s: f64,
    /// Runs in which all conditions passed.
    pub passed: u32,
    /// Runs in which a condition failed.
    pub failed: u32,
    /// Invalid runs.
    pub invalid: u32,
}

/// Reason why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchEnd {
    /// The capacity lies between the highest passing and the lowest failing rate.
    Found,
    /// Not even the lowest rate passed.
    NothingHolds,
    /// The highest allowed rate passed.
    NothingFails,
    /// The maximum number of runs was reached; the result is not confirmed.
    OutOfRuns,
    /// Runs were invalid three times in a row. The highest passing rate is a lower bound.
    NotFit,
}
