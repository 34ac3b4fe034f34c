//! The search for a capacity: which load to run next, and between which rates the capacity lies.
//!
//! The procedure, its sources and its measured error rates are in `docs/search.md`.

mod capacity;
mod confirm;
mod ends;
mod lead;
mod level;
mod phases;
mod sizing;

pub use capacity::{Capacity, SearchEnd, Tally};
pub use level::{At, Level, SearchStage};

use alloc::vec::Vec;

use confirm::{Confirmation, Side};
use ends::Ends;
use lead::{Lead, LevelVerdict};
use level::rounded;
use sizing::Sizing;

use crate::chance::Chance;

/// What a search may do, fixed before its first run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchRules {
    /// How far apart what held and what failed may be at the end, as a share: 0.03.
    pub resolution: f64,
    /// The lowest rate that is of interest; the search begins with it, without sizing.
    pub from_per_s: Option<f64>,
    /// The highest rate that is of interest.
    pub to_per_s: Option<f64>,
    /// Fresh runs at each of the two ends, once more if one of five speaks against it; 0: what was found is not confirmed.
    pub confirm_runs: u32,
    /// Fresh runs that say the opposite of what told an end count only if they lead by so many, else the end is neither: see
    /// [`OVERRULED_BY`].
    pub overruled_by: u32,
    /// Whether it is tried if the system recovers from more than it can take.
    pub has_overload: bool,
    /// Whether a little less than what held is run for long.
    pub has_soak: bool,
    /// At most so many runs, invalid ones counted.
    pub runs_max: u32,
    /// Of the random order of the confirmation.
    pub seed: u64,
}

impl Default for SearchRules {
    /// To 3 %, between no bounds, with five runs to confirm each end.
    fn default() -> Self {
        Self {
            resolution: 0.03,
            from_per_s: None,
            to_per_s: None,
            confirm_runs: 5,
            overruled_by: OVERRULED_BY,
            has_overload: false,
            has_soak: false,
            runs_max: 200,
            seed: 1,
        }
    }
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
    chance: Chance,
    sizing: Sizing,
    ends: Ends,
    tallies: Vec<Tally>,
    recovers: Option<bool>,
    soaked: Option<bool>,
    runs: u32,
    /// Since the last run that says something.
    invalid_in_a_row: u32,
    phase: Phase,
}

/// What is going on.
#[derive(Clone, Debug)]
enum Phase {
    Sizing { users: u32 },
    Rate { per_s: f64, stage: SearchStage, lead: Lead },
    Confirm(Confirmation),
    Overload { per_s: f64, lead: Lead },
    Soak { per_s: f64 },
    Over(SearchEnd),
}

/// After so many invalid runs in a row a level is given up.
const INVALID_MAX: u32 = 3;
/// More runs than these are not made, whatever the rules say.
const RUNS_MAX: u32 = 1_000;
/// The share of what users get with which the doubling begins.
const START: f64 = 0.25;
/// How much more than what failed an overload is.
const OVERLOAD: f64 = 1.3;
/// How much of what held is run after an overload, and for long: so much less that hardly a run fails by chance.
const BELOW: f64 = 0.95;
/// Far from the capacity, where the ends are further apart than this, a lead of two tells, otherwise of three.
const NEAR: f64 = 1.1;
/// The lead that tells near the capacity. No smaller one of fresh runs overrules what was told there.
pub const OVERRULED_BY: u32 = 3;
/// So many runs without a lead tell that more would not tell.
const RUNS_OF_A_LEVEL: u32 = 9;
/// As long as the rates are doubled, and of an overload.
const ROUGH_RUNS_OF_A_LEVEL: u32 = 5;

impl Search {
    /// Before the first run. Rules out of their bounds are brought into them.
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
            ends: Ends::new(rules),
            tallies: Vec::new(),
            recovers: None,
            soaked: None,
            runs: 0,
            invalid_in_a_row: 0,
            phase: Phase::Sizing { users: 1 },
        };
        if rules.from_per_s.is_some() {
            search.go_on();
        }
        search.stop_in_time();
        search
    }

    /// What to run next; the same until it is noted.
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

    /// What a run says. A level other than that of [`next`](Self::next) counts as a run and says nothing; after the end
    /// nothing counts.
    pub fn note(&mut self, level: Level, judged: Judged) {
        let SearchStep::Run(asked) = self.next() else { return };
        self.runs += 1;
        if asked == level {
            if self.learn(level, judged) {
                self.invalid_in_a_row = 0;
            } else {
                self.invalid_in_a_row += 1;
                if self.invalid_in_a_row >= INVALID_MAX {
                    self.invalid_in_a_row = 0;
                    self.give_up();
                }
            }
        }
        self.stop_in_time();
    }

    /// The rate that goes before the level of the stage [`SearchStage::Overload`]: more than the system can take. `None`
    /// as long as nothing failed.
    pub fn overload_per_s(&self) -> Option<f64> {
        self.ends.high.map(|high| rounded(high.per_s * OVERLOAD, self.rules.resolution))
    }

    /// What is known so far.
    pub fn finding(&self) -> Capacity {
        let Ends { low, high, .. } = self.ends;
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

    /// Takes in what a run of the level that was asked for says; whether it says anything.
    fn learn(&mut self, level: Level, judged: Judged) -> bool {
        let has_passed = match judged {
            Judged::Passed => Some(true),
            Judged::Failed => Some(false),
            Judged::Sized { .. } | Judged::Invalid => None,
        };
        self.tally(level, has_passed);
        match (&mut self.phase, has_passed) {
            (Phase::Sizing { users }, _) => {
                let Judged::Sized { per_s, mean_response_s } = judged else { return false };
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
                    self.ends.tell(per_s, told, stage);
                    self.go_on();
                }
            }
            (Phase::Confirm(confirmation), Some(has_passed)) => {
                confirmation.note(has_passed, &mut self.chance);
                if confirmation.next().is_none() {
                    self.ends.confirm(confirmation.low(), confirmation.high());
                    self.go_on();
                }
            }
            (Phase::Overload { lead, .. }, Some(has_passed)) => {
                lead.note(has_passed);
                if let Some(told) = lead.told(2, ROUGH_RUNS_OF_A_LEVEL) {
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
