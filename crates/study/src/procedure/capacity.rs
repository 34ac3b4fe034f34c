//! Search for the capacity of each variant. A round has one level of each variant, and the search continues until each variant has
//! its answer.

mod words;

use std::cell::RefCell;
use std::collections::BTreeMap;

use evidence::{CapacityRules, EvidenceError, Procedure, Run, RunId, Study, StudyPlace, stage};
use judge::{Condition, ConditionError, LevelResult, Setting};
use load::chance::Chance;
use plan::{Amount, At, Study as Plan};
use stats::{Level, Search, SearchEnd, SearchStep};
use store::StoreError;

use super::{EndReason, StudyProcedure, Turn, setting};
use crate::run_maker::Journal;
use crate::study_error::StudyError;

pub use words::level_words;

/// Stream offsets that separate draws of variant orders and of arrivals from other draws of the study's seed.
const ORDER_STREAM: u64 = 0x6361_7061_6f00;
const ARRIVALS_STREAM: u64 = 0x6361_7061_6100;
/// Response time limit if no condition sets one, as a multiple of the response time of a single user.
const SINGLE_USER_MULTIPLE: f64 = 4.0;
/// Min response time limit that is derived from a single user, in nanoseconds.
const RESPONSE_MIN_NS: u64 = 250_000_000;
/// Minimum time for a system to recover from an overload, in nanoseconds. The overload's own duration applies if it is longer.
pub(crate) const GRACE_MIN_NS: u64 = 10_000_000_000;

/// Capacity searches, one per variant, that run concurrently.
pub(crate) struct Capacity<'a> {
    plan: &'a Plan,
    journal: &'a dyn Journal,
    rules: CapacityRules,
    slos: Vec<Condition>,
    /// Results of runs that were already judged, so that their per-second data is read only once.
    level_result: RefCell<BTreeMap<RunId, LevelResult>>,
    /// State of each search when it was last reported.
    reported_bounds: RefCell<BTreeMap<Setting, String>>,
}

/// Parses the conditions in one or more texts.
pub fn slos(texts: &[String]) -> Result<Vec<Condition>, ConditionError> {
    let mut slos = Vec::new();
    for text in texts {
        slos.extend(Condition::parse_list(text)?);
    }
    Ok(slos)
}

impl<'a> Capacity<'a> {
    /// Creates the searches. `None` if the study has another procedure.
    pub(crate) fn of(plan: &'a Plan, journal: &'a dyn Journal, kept: &Study) -> Option<Self> {
        let Procedure::Capacity(rules) = &kept.new.compare.procedure else { return None };
        let slos = rules.slos.iter().filter_map(|slo| Condition::parse_list(slo).ok()).flatten().collect();
        Some(Self {
            plan,
            journal,
            rules: rules.clone(),
            slos,
            level_result: RefCell::default(),
            reported_bounds: RefCell::default(),
        })
    }

    fn settings(&self) -> impl Iterator<Item = (usize, Setting)> {
        (0..self.plan.variants.len()).map(|variant| (variant, setting(self.plan, variant)))
    }

    /// Returns the state of the search of a variant.
    fn search(&self, kept: &Study, setting: &Setting) -> Result<Search, StoreError> {
        let judged = &mut |run: &Run, level: &Level| Ok(self.level_result(run, level)?.judged);
        let search = judge::search_by(kept, &self.plan.loads[0].name, setting, judged)?;
        // `of` checked that the procedure of the study is a search.
        search.ok_or(StoreError::Unstorable { what: "a search without rules" })
    }

    fn level_result(&self, run: &Run, level: &Level) -> Result<LevelResult, EvidenceError> {
        if let Some(level_result) = self.level_result.borrow().get(&run.id) {
            return Ok(level_result.clone());
        }
        let level_result = judge::judge_level(&self.journal.run(&run.id)?, level, &self.slos)?;
        self.level_result.borrow_mut().insert(run.id.clone(), level_result.clone());
        Ok(level_result)
    }

    fn place(&self, block: u32, variant: usize, setting: Setting, level: &Level) -> StudyPlace {
        let (users, rate_per_s) = match level.at {
            stats::At::Users(users) => (Some(users), None),
            stats::At::PerS(per_s) => (None, Some(per_s)),
        };
        StudyPlace {
            block,
            position: 0,
            system: setting.system,
            variant: setting.variant,
            knobs: self.plan.variants[variant].knobs.clone(),
            load: self.plan.loads[0].name.clone(),
            stage: judge::stage_name(level.stage).to_owned(),
            users,
            rate_per_s,
            intervention: None,
        }
    }

    /// Returns the longest response time under normal load, in nanoseconds, which determines the number of connections.
    fn response_ns(&self, search: &Search) -> u64 {
        self.slos.iter().filter_map(Condition::limit_ns).max().unwrap_or_else(|| {
            let alone_s = search.finding().base_response_s.unwrap_or(0.0);
            RESPONSE_MIN_NS.max((alone_s * SINGLE_USER_MULTIPLE * 1e9) as u64)
        })
    }
}

impl StudyProcedure for Capacity<'_> {
    fn next(&self, kept: &Study) -> Result<Turn, StudyError> {
        let block = kept.new.planned.last().map_or(0, |place| place.block.saturating_add(1));
        let (mut places, mut ends, mut news) = (Vec::new(), Vec::new(), Vec::new());
        for (variant, setting) in self.settings() {
            let search = self.search(kept, &setting)?;
            let last = kept
                .new
                .planned
                .iter()
                .rfind(|place| place.block.saturating_add(1) == block && setting.is_of(place));
            if let Some(run) = last.and_then(|place| kept.run(place.position)) {
                news.extend(self.news(run, &search)?);
            }
            match search.next() {
                SearchStep::Run(level) => places.push(self.place(block, variant, setting, &level)),
                SearchStep::Over => ends.extend(search.finding().end),
            }
        }
        let chance = Chance::stream(self.plan.seed, ORDER_STREAM + u64::from(block));
        Ok(Turn::shuffled(places, chance, end_reason(&ends), news))
    }

    fn max_later_runs(&self, kept: &Study) -> Option<usize> {
        let left = |(_, setting): (usize, Setting)| {
            let made = kept.new.planned.iter().filter(|place| setting.is_of(place)).count();
            (self.rules.runs_max as usize).saturating_sub(made)
        };
        Some(self.settings().map(left).sum())
    }

    fn amount(&self, kept: &Study, place: &StudyPlace) -> Result<Option<Amount>, StudyError> {
        let search = self.search(kept, &Setting::of(place))?;
        let response_ns = self.response_ns(&search);
        let mut measured_ns = self.plan.measured_ns(0).unwrap_or_default();
        if let (stage::SOAK, Some(soak_s)) = (place.stage.as_str(), self.rules.soak_s) {
            measured_ns = (soak_s * 1e9) as u64;
        }
        let over_per_s = search.overload_per_s().filter(|_| place.stage == stage::OVERLOAD);
        let at = match (place.users, place.rate_per_s, over_per_s) {
            (Some(users), ..) => At::Users(users),
            (None, Some(per_s), Some(over_per_s)) => At::AfterOverload {
                over_per_s,
                over_ns: measured_ns,
                grace_ns: measured_ns.max(GRACE_MIN_NS),
                per_s,
                shed_after_ns: response_ns,
            },
            (None, Some(per_s), None) => At::PerS(per_s),
            (None, None, _) => return Ok(None),
        };
        let connections =
            at.peak_per_s().map_or(1, |per_s| self.plan.connections_for(0, per_s, response_ns).0);
        let seed = arrivals_seed(self.plan.seed, place.block);
        let warm_up_ns = self.plan.loads[0].warm_up_ns;
        Ok(Some(Amount { at, warm_up_ns, measured_ns, connections, seed }))
    }
}

/// Returns the seed of the arrivals of a round, shared by all variants but different for each round.
fn arrivals_seed(seed: u64, block: u32) -> u64 {
    let mut chance = Chance::stream(seed, ARRIVALS_STREAM + u64::from(block));
    // Whole numbers below 2^53 are exact in a double.
    (chance.unit() * (1u64 << 53) as f64) as u64
}

/// Combines the reasons why the searches of all variants ended.
fn end_reason(ends: &[SearchEnd]) -> EndReason {
    let is_answer =
        |end: &SearchEnd| matches!(end, SearchEnd::Found | SearchEnd::NothingHolds | SearchEnd::NothingFails);
    if ends.iter().all(is_answer) {
        EndReason::Decided
    } else if ends.contains(&SearchEnd::NotFit) {
        EndReason::NotFit
    } else {
        EndReason::Blocks
    }
}
