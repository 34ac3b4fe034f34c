//! The search for a capacity, many times.

use stats::{Capacity, Judged, Level, Search, SearchEnd, SearchRules, SearchStep};

use super::seeds;

/// What every search is about.
#[derive(Clone, Copy, Debug)]
pub struct SearchTrial {
    /// What is laid down; the seed is that of each search.
    pub rules: SearchRules,
    /// The true capacity.
    pub capacity_per_s: f64,
    /// How near to the truth is near enough, as a share.
    pub near: f64,
    /// How wide the interval may be, as a share.
    pub wide: f64,
}

/// How often what was found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Searches {
    /// Searches that came to an end.
    pub ended: u32,
    /// The interval has a rate in it that is near enough to the truth.
    pub contained: u32,
    /// It is no wider than it may be.
    pub narrow: u32,
    /// Both.
    pub right: u32,
    /// What is said to have held is more than the truth and what is near to it.
    pub too_high: u32,
    /// An overload is said to have been recovered from.
    pub recovered: u32,
    /// It is said not to have been.
    pub stuck: u32,
    /// Runs, over all searches.
    pub runs: u32,
}

/// Makes so many searches. `system` makes the runs of one search from its seed: of a level; the rate next to it is that of the
/// overload that goes before it, if one does.
pub fn searches<Run: FnMut(Level, Option<f64>) -> Judged>(
    trial: &SearchTrial,
    seed: u64,
    count: u32,
    mut system: impl FnMut(u64) -> Run,
) -> Searches {
    let mut found = Searches::default();
    for seed in seeds(seed, count) {
        let capacity = search(SearchRules { seed, ..trial.rules }, system(seed));
        found.note(&capacity, trial);
    }
    found
}

fn search(rules: SearchRules, mut run: impl FnMut(Level, Option<f64>) -> Judged) -> Capacity {
    let mut search = Search::new(rules);
    // Searches bound themselves by their rules; that they do is among what is looked at.
    for _ in 0..=rules.runs_max {
        let SearchStep::Run(level) = search.next() else { break };
        let judged = run(level, search.overload_per_s());
        search.note(level, judged);
    }
    search.finding()
}

impl Searches {
    fn note(&mut self, capacity: &Capacity, trial: &SearchTrial) {
        self.ended += u32::from(capacity.end == Some(SearchEnd::Found));
        self.runs += capacity.runs;
        self.recovered += u32::from(capacity.recovers == Some(true));
        self.stuck += u32::from(capacity.recovers == Some(false));
        let truth = trial.capacity_per_s;
        let too_high = capacity.held_per_s.is_some_and(|held| held > truth * (1.0 + trial.near));
        self.too_high += u32::from(too_high);
        let (Some(held), Some(failed)) = (capacity.held_per_s, capacity.failed_per_s) else { return };
        let contains = held <= truth * (1.0 + trial.near) && failed >= truth * (1.0 - trial.near);
        let is_narrow = failed / held <= 1.0 + trial.wide;
        self.contained += u32::from(contains);
        self.narrow += u32::from(is_narrow);
        self.right += u32::from(contains && is_narrow);
    }
}
