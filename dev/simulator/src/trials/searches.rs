//! Trials of capacity searches.

use stats::{Capacity, Level, LevelRunResult, Search, SearchEnd, SearchRules, SearchStep};

use super::seeds;

/// Setup of the searches.
#[derive(Clone, Copy, Debug)]
pub struct SearchTrial {
    /// Rules of each search. Each search replaces the seed with its own.
    pub rules: SearchRules,
    /// True capacity.
    pub capacity_per_s: f64,
    /// Tolerated error of the capacity, as a share.
    pub near: f64,
    /// Tolerated width of the interval, as a share.
    pub wide: f64,
}

/// Number of searches by result.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Searches {
    /// Searches that ended.
    pub ended: u32,
    /// Searches whose interval contains a rate within the tolerance of the truth.
    pub contained: u32,
    /// Searches whose interval is within the tolerated width.
    pub narrow: u32,
    /// Searches whose interval is both within the tolerated width and near the truth.
    pub right: u32,
    /// Searches whose highest passing rate exceeds the truth by more than the tolerance.
    pub too_high: u32,
    /// Searches that report recovery from an overload.
    pub recovered: u32,
    /// Searches that report no recovery.
    pub stuck: u32,
    /// Number of runs over all searches.
    pub runs: u32,
}

/// Runs `count` searches. `system` returns the run function of a search for its seed, which takes a level, and the rate of the
/// overload that precedes it, if there is one.
pub fn searches<Run: FnMut(Level, Option<f64>) -> LevelRunResult>(
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

fn search(rules: SearchRules, mut run: impl FnMut(Level, Option<f64>) -> LevelRunResult) -> Capacity {
    let mut search = Search::new(rules);
    // The loop is bounded, to check that searches end within the number of runs in their rules.
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
