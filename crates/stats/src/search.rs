//! Search for the maximum sustainable load: which load to run next, and between which rates the capacity lies.
//!
//! `docs/search.md` describes the procedure, its sources, and its measured error rates.

mod capacity;
mod confirm;
mod level;
mod level_runs;
mod phases;
mod rate_verdicts;
mod sizing;

pub use capacity::{Capacity, SearchEnd, Tally};
pub use level::{At, Level, SearchStage};

use alloc::vec::Vec;

use confirm::{Confirmation, Side};
use level::rounded;
use level_runs::{LevelRuns, LevelVerdict};
use rate_verdicts::RateVerdicts;
use sizing::Sizing;

use crate::chance::Chance;

/// Rules of a search, fixed before its first run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchRules {
    /// Largest gap between the highest passing and the lowest failing rate at the end, as a share, such as 0.03.
    pub resolution: f64,
    /// Lowest rate of interest. The search begins with it and skips sizing. `None` if there is no lower bound.
    pub from_per_s: Option<f64>,
    /// Highest rate of interest. `None` if there is no upper bound.
    pub to_per_s: Option<f64>,
    /// Number of confirmation runs at each of the two ends, doubled if one of five contradicts the end. 0 for no confirmation.
    pub confirm_runs: u32,
    /// Lead by which confirmation runs overrule the verdict of an end. With a smaller lead the end is undecided: see
    /// [`OVERRULE_LEAD`].
    pub overruled_by: u32,
    /// True to test recovery from overload.
    pub has_overload: bool,
    /// True to run a load slightly below the highest passing rate for a long time (soak test).
    pub has_soak: bool,
    /// Maximum number of runs, including invalid ones.
    pub runs_max: u32,
    /// Seed of the random order of confirmation runs.
    pub seed: u64,
}

impl Default for SearchRules {
    /// Creates rules with a resolution of 3 %, no bounds, and five confirmation runs per end.
    fn default() -> Self {
        Self {
            resolution: 0.03,
            from_per_s: None,
            to_per_s: None,
            confirm_runs: 5,
            overruled_by: OVERRULE_LEAD,
            has_overload: false,
            has_soak: false,
            runs_max: 200,
            seed: 1,
        }
    }
}

/// Result of one run of a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LevelRunResult {
    /// Result of a closed load in the sizing stage.
    Sized {
        /// Replies per second.
        per_s: f64,
        /// Mean response time, in seconds.
        mean_response_s: f64,
    },
    /// All conditions passed.
    Passed,
    /// A condition failed.
    Failed,
    /// The load generator's numbers are not valid, or there are none.
    Invalid,
}

/// Next step of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchStep {
    /// Run this level on a freshly started system.
    Run(Level),
    /// The search is over.
    Over,
}

/// Search in progress. Equal rules and equal notes give equal steps, so noting stored results again resumes it.
#[derive(Clone, Debug)]
pub struct Search {
    rules: SearchRules,
    chance: Chance,
    sizing: Sizing,
    ends: RateVerdicts,
    tallies: Vec<Tally>,
    recovers: Option<bool>,
    soaked: Option<bool>,
    runs: u32,
    /// Number of invalid runs since the last valid one.
    invalid_in_a_row: u32,
    phase: Phase,
}

/// Current phase of a search.
#[derive(Clone, Debug)]
enum Phase {
    Sizing { users: u32 },
    Rate { per_s: f64, stage: SearchStage, lead: LevelRuns },
    Confirm(Confirmation),
    Overload { per_s: f64, lead: LevelRuns },
    Soak { per_s: f64 },
    Over(SearchEnd),
}

/// Number of consecutive invalid runs after which a level is given up.
const INVALID_MAX: u32 = 3;
/// Upper bound of the number of runs, regardless of the rules.
const RUNS_MAX: u32 = 1_000;
/// First rate, as a share of the throughput of closed users.
const START_SHARE: f64 = 0.25;
/// Overload rate relative to the lowest failing rate.
const OVERLOAD_FACTOR: f64 = 1.3;
/// Rate after an overload and of a soak test, relative to the highest passing rate: low enough that runs rarely fail by chance.
const RECOVERY_SHARE: f64 = 0.95;
/// Ratio of the ends below which the search is near the capacity. There a level needs a lead of three runs; farther away, of two.
const NEAR_RATIO_MAX: f64 = 1.1;
/// Lead that decides a level near the capacity. A smaller lead of confirmation runs does not overrule such a decision.
pub const OVERRULE_LEAD: u32 = 3;
/// Maximum number of runs of a level. A level without a lead by then is undecided.
const LEVEL_RUNS_MAX: u32 = 9;
/// Maximum number of runs of a level while rates are doubled, and of an overload.
const ROUGH_LEVEL_RUNS_MAX: u32 = 5;

impl Search {
    /// Creates a search before its first run. Out-of-range rules are clamped.
    pub fn new(rules: SearchRules) -> Self {
        let is_rate = |per_s: &f64| per_s.is_finite() && *per_s > 0.0;
        let to_per_s = rules.to_per_s.filter(is_rate);
        let from_per_s =
            rules.from_per_s.filter(is_rate).map(|from| to_per_s.map_or(from, |to| from.min(to)));
        let resolution = if rules.resolution.is_finite() { rules.resolution.clamp(0.002, 0.5) } else { 0.03 };
        let (runs_max, confirm_runs) = (rules.runs_max.min(RUNS_MAX), rules.confirm_runs.min(RUNS_MAX));
        let rules = SearchRules { resolution, from_per_s, to_per_s, runs_max, confirm_runs, ..rules };
        let mut search = Self {
            rules,
            chance: Chance::of(rules.seed),
            sizing: Sizing::default(),
            ends: RateVerdicts::new(rules),
            tallies: Vec::new(),
            recovers: None,
            soaked: None,
            runs: 0,
            invalid_in_a_row: 0,
            phase: Phase::Sizing { users: 1 },
        };
        if rules.from_per_s.is_some() {
            search.advance();
        }
        search.stop_at_run_limit();
        search
    }

    /// Returns the next step. It stays the same until a result is noted.
    pub fn next(&self) -> SearchStep {
        let (stage, at) = match &self.phase {
            Phase::Sizing { users } => (SearchStage::Sizing, At::Users(*users)),
            Phase::Rate { per_s, stage, .. } => (*stage, At::PerS(*per_s)),
            Phase::Confirm(confirmation) => {
                let end = match confirmation.next() {
                    Some(Side::Low) => self.ends.low,
                    Some(Side::High) => self.ends.high,
                    None => None,
                };
                let Some(end) = end else { return SearchStep::Over };
                (SearchStage::Confirm, At::PerS(end.per_s))
            }
            Phase::Overload { per_s, .. } => (SearchStage::Overload, At::PerS(*per_s)),
            Phase::Soak { per_s } => (SearchStage::Soak, At::PerS(*per_s)),
            Phase::Over(_) => return SearchStep::Over,
        };
        SearchStep::Run(Level { stage, at })
    }

    /// Notes the result of a run. A level other than that of [`next`](Self::next) counts as a run but has no effect. After the end,
    /// nothing counts.
    pub fn note(&mut self, level: Level, judged: LevelRunResult) {
        let SearchStep::Run(asked) = self.next() else { return };
        self.runs += 1;
        if asked == level {
            if self.apply(level, judged) {
                self.invalid_in_a_row = 0;
            } else {
                self.invalid_in_a_row += 1;
                if self.invalid_in_a_row >= INVALID_MAX {
                    self.invalid_in_a_row = 0;
                    self.give_up();
                }
            }
        }
        self.stop_at_run_limit();
    }

    /// Returns the overload rate to apply before a run of the stage [`SearchStage::Overload`]: more than the system can sustain. `None`
    /// while no rate has failed.
    pub fn overload_per_s(&self) -> Option<f64> {
        self.ends.high.map(|high| rounded(high.per_s * OVERLOAD_FACTOR, self.rules.resolution))
    }

    /// Returns the result so far.
    pub fn finding(&self) -> Capacity {
        let RateVerdicts { low, high, .. } = self.ends;
        Capacity {
            held_per_s: low.map(|end| end.per_s),
            failed_per_s: high.map(|end| end.per_s),
            is_confirmed: low.is_some() && [low, high].iter().flatten().all(|end| end.is_confirmed),
            noise_band: self.ends.noise_band(),
            recovers: self.recovers,
            soaked: self.soaked,
            ceiling_per_s: self.sizing.ceiling_per_s(),
            ceiling_users: self.sizing.ceiling_users(),
            base_response_s: self.sizing.base_response_s(),
            unmeasurable_per_s: self.ends.unmeasurable_per_s,
            tallies: self.tallies.clone(),
            runs: self.runs,
            end: match self.phase {
                Phase::Over(end) => Some(end),
                _ => None,
            },
        }
    }

    /// Applies the result of a run of the requested level. Returns true if the result was usable.
    fn apply(&mut self, level: Level, judged: LevelRunResult) -> bool {
        let has_passed = match judged {
            LevelRunResult::Passed => Some(true),
            LevelRunResult::Failed => Some(false),
            LevelRunResult::Sized { .. } | LevelRunResult::Invalid => None,
        };
        self.tally(level, has_passed);
        match (&mut self.phase, has_passed) {
            (Phase::Sizing { users }, _) => {
                let LevelRunResult::Sized { per_s, mean_response_s } = judged else { return false };
                let says = self.sizing.note(*users, per_s, mean_response_s);
                if says {
                    self.after_sizing();
                }
                return says;
            }
            (_, None) => return false,
            (Phase::Rate { per_s, stage, lead }, Some(has_passed)) => {
                lead.note(has_passed);
                let (per_s, stage, lead) = (*per_s, *stage, *lead);
                if let Some(told) = self.told(stage, lead) {
                    self.ends.note_verdict(per_s, told, stage);
                    self.advance();
                }
            }
            (Phase::Confirm(confirmation), Some(has_passed)) => {
                confirmation.note(has_passed, &mut self.chance);
                if confirmation.next().is_none() {
                    self.ends.confirm(confirmation.low(), confirmation.high());
                    self.advance();
                }
            }
            (Phase::Overload { lead, .. }, Some(has_passed)) => {
                lead.note(has_passed);
                if let Some(told) = lead.told(2, ROUGH_LEVEL_RUNS_MAX) {
                    self.recovers = Some(told == LevelVerdict::Holds);
                    self.after_overload();
                }
            }
            (Phase::Soak { .. }, Some(has_passed)) => {
                self.soaked = Some(has_passed);
                self.end();
            }
            (Phase::Over(_), _) => {}
        }
        true
    }
}
