//! The search for a capacity: which load to run next, and between which rates the capacity lies.
//!
//! The procedure, its sources and its measured error rates are in `docs/search.md`.

mod capacity;
mod level;

pub use capacity::{Capacity, SearchEnd, Tally};
pub use level::{At, Level, SearchStage};

/// What a search may do, fixed before its first run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchRules {
    /// How far apart what held and what failed may be at the end, as a share: 0.03.
    pub resolution: f64,
    /// The lowest rate that is of interest; the search begins with it, without sizing.
    pub from_per_s: Option<f64>,
    /// The highest rate that is of interest.
    pub to_per_s: Option<f64>,
    /// Fresh runs at each of the two ends; 0: what was found is not confirmed.
    pub confirm_runs: u32,
    /// Whether it is tried if the system recovers from more than it can take.
    pub has_overload: bool,
    /// Whether a little less than what held is run for long.
    pub has_soak: bool,
    /// At most so many runs, invalid ones counted.
    pub runs_max: u32,
    /// Of the random order of the confirmation.
    pub seed: u64,
}

/// What one run of a level says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Judged {
    /// Of users: what they got.
    Sized {
        /// Replies per second.
        per_s: f64,
        /// Their mean response time.
        mean_response_s: f64,
    },
    /// All conditions held.
    Passed,
    /// One did not.
    Failed,
    /// The generator's numbers cannot be believed, or there are none.
    Invalid,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchStep {
    /// Run this, on a freshly started system.
    Run(Level),
    /// Nothing more.
    Over,
}

/// A search in progress. The same rules and the same notes give the same steps, so noting again what was kept resumes it.
#[derive(Clone, Debug)]
pub struct Search {
    rules: SearchRules,
}

impl Search {
    /// Before the first run.
    pub fn new(rules: SearchRules) -> Self {
        Self { rules }
    }

    /// What to run next; the same until it is noted.
    pub fn next(&self) -> SearchStep {
        SearchStep::Over
    }

    /// What a run says. A level other than that of [`next`](Self::next) counts as a run and says nothing.
    pub fn note(&mut self, _level: Level, _judged: Judged) {}

    /// The rate that goes before the level of the stage [`SearchStage::Overload`]: more than the system can take.
    pub fn overload_per_s(&self) -> Option<f64> {
        let _ = self.rules;
        None
    }

    /// What is known so far.
    pub fn finding(&self) -> Capacity {
        Capacity {
            held_per_s: None,
            failed_per_s: None,
            is_confirmed: false,
            noise_band: None,
            recovers: None,
            soaked: None,
            ceiling_per_s: None,
            ceiling_users: None,
            base_response_s: None,
            unmeasurable_per_s: None,
            tallies: alloc::vec::Vec::new(),
            runs: 0,
            end: None,
        }
    }
}
