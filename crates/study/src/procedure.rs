//! Procedures, which decide the next runs of a study from its stored runs.

mod best;
mod best_of_each;
mod blocks;
mod capacity;
mod duel;
mod experiment;
mod round_robin;
mod study_results;
#[cfg(test)]
pub(crate) mod tests;

use evidence::{OUT_OF_TIME, Procedure, SliceRules, Study, StudyPlace};
use judge::Setting;
use judge::words::percent_up_to;
use load::chance::Chance;
use plan::{Amount, ComparisonMethod, Slicing, Study as Plan};
use progress::VerdictSoFar;
use stats::{DuelEnd, DuelStep};

use crate::run_maker::Journal;
use crate::schedule::shuffle;
use crate::study_error::StudyError;
use best::Best;
use best_of_each::BestOfEach;
use blocks::Blocks;
use capacity::Capacity;
use duel::Duels;
use experiment::Experiment;
use round_robin::RoundRobin;

pub(crate) use capacity::GRACE_MIN_NS;

pub use capacity::{level_words, slos};

/// Next step of a study.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Turn {
    /// Makes these runs before the procedure decides again.
    Runs {
        /// Runs in order of execution, at least one. The planner assigns their positions.
        places: Vec<StudyPlace>,
        /// Messages for the user before the runs begin, one per line.
        news: Vec<String>,
    },
    /// Ends the study.
    Over {
        /// Reason why the study ends.
        why: EndReason,
        /// Messages for the user, one per line.
        news: Vec<String>,
    },
}

impl Turn {
    /// Shuffles the runs. Ends the study if there are none.
    fn shuffled(mut places: Vec<StudyPlace>, mut chance: Chance, why: EndReason, news: Vec<String>) -> Self {
        if places.is_empty() {
            return Self::Over { why, news };
        }
        shuffle(&mut places, &mut chance);
        Self::Runs { places, news }
    }
}

/// Reason why a study ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndReason {
    /// The question of the study has an answer.
    Decided,
    /// All planned blocks were made, or the maximum number of blocks.
    Blocks,
    /// The time limit was reached.
    Budget,
    /// Too many runs were invalid or failed, or had no figure to compare.
    NotFit,
}

impl EndReason {
    /// Returns the name of the reason in the store.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Decided => "decided",
            Self::Blocks => "blocks",
            Self::Budget => OUT_OF_TIME,
            Self::NotFit => "not fit",
        }
    }

    /// Returns whether the study is complete, rather than cut short.
    pub(crate) const fn is_whole(self) -> bool {
        matches!(self, Self::Decided | Self::Blocks)
    }
}

/// Decides the runs of a study. Uses only stored data, and is evaluated after every turn, so an interrupted study
/// continues where it stopped.
pub(crate) trait StudyProcedure {
    /// Decides the next step. `kept` has all runs so far.
    fn next(&self, kept: &Study) -> Result<Turn, StudyError>;

    /// Decides the next step of a study that is out of time. Its question stays open.
    fn out_of_time(&self, _kept: &Study) -> Result<Turn, StudyError> {
        Ok(Turn::Over { why: EndReason::Budget, news: Vec::new() })
    }

    /// Returns the maximum number of runs that may follow the planned ones. `None` if unknown.
    fn max_later_runs(&self, kept: &Study) -> Option<usize>;

    /// Returns the amount of load of a planned run. `None` if the amount in the plan applies.
    fn amount(&self, _kept: &Study, _place: &StudyPlace) -> Result<Option<Amount>, StudyError> {
        Ok(None)
    }

    /// Returns the state of each comparison of two variants with at least one block. Empty if the procedure compares
    /// more variants, or none.
    fn verdicts(&self, _kept: &Study) -> Result<Vec<VerdictSoFar>, StudyError> {
        Ok(Vec::new())
    }

    /// Returns whether every planned run must have ended before the next decision.
    fn needs_every_run(&self, _kept: &Study) -> bool {
        true
    }
}

/// Returns the procedure that answers the question of a plan.
pub fn procedure(plan: &Plan) -> Procedure {
    match plan.how() {
        ComparisonMethod::Blocks => {
            plan.slicing().map_or(Procedure::Blocks, |slicing| Procedure::RoundRobin {
                pairs: u32::try_from(plan.compared_pairs().count()).unwrap_or(u32::MAX),
                slices: slice_rules(slicing),
            })
        }
        ComparisonMethod::Duel => {
            let slices = plan.slicing().map(slice_rules);
            let pilot_blocks = if slices.is_some() { 0 } else { plan.compare.pilot };
            Procedure::Duel { pilot_blocks, looks_early: true, slices }
        }
        ComparisonMethod::Best => {
            Procedure::Best { incumbent: plan.baseline(), slices: plan.slicing().map(slice_rules) }
        }
        ComparisonMethod::BestOfEach { sweep_blocks } => Procedure::BestOfEach { sweep_blocks },
    }
}

fn slice_rules(slicing: Slicing) -> SliceRules {
    let Slicing { slice_ns, settle_ns, warm_up_ns, pairs_most, pauses_idle, has_control, has_full_blocks } =
        slicing;
    let [slice_s, settle_s, warm_up_s] = [slice_ns, settle_ns, warm_up_ns].map(|ns| ns as f64 / 1e9);
    SliceRules { slice_s, settle_s, warm_up_s, pairs_most, pauses_idle, has_control, has_full_blocks }
}

/// Creates the procedure of a stored study, followed by an experiment if the plan asks for one.
pub(crate) fn of<'a>(plan: &'a Plan, kept: &Study, journal: &'a dyn Journal) -> Box<dyn StudyProcedure + 'a> {
    let duels = || Duels::of(plan, kept).map(|duels| Box::new(duels) as Box<dyn StudyProcedure + 'a>);
    let round_robin =
        || RoundRobin::of(plan, kept).map(|pairs| Box::new(pairs) as Box<dyn StudyProcedure + 'a>);
    let best = || Best::of(plan, kept).map(|best| Box::new(best) as Box<dyn StudyProcedure + 'a>);
    let best_of_each =
        || BestOfEach::of(plan, kept).map(|best| Box::new(best) as Box<dyn StudyProcedure + 'a>);
    let capacity = || {
        Capacity::of(plan, journal, kept).map(|capacity| Box::new(capacity) as Box<dyn StudyProcedure + 'a>)
    };
    let procedure = match &kept.new.compare.procedure {
        Procedure::Duel { .. } => duels(),
        Procedure::RoundRobin { .. } => round_robin(),
        Procedure::Best { .. } => best(),
        Procedure::BestOfEach { .. } => best_of_each(),
        Procedure::Capacity(_) => capacity(),
        Procedure::Blocks => None,
    };
    let procedure = procedure.unwrap_or_else(|| Box::new(Blocks::of_all(plan)));
    match plan.experiment.clone() {
        Some(asked) => Box::new(Experiment::after(procedure, plan, asked)),
        None => procedure,
    }
}

/// Returns the runs that extend a finished study to `blocks` blocks. Empty for a duel, which plans its own runs block
/// by block.
pub(crate) fn extension_runs(plan: &Plan, kept: &Study, blocks: u32) -> Vec<StudyPlace> {
    match kept.new.compare.procedure {
        Procedure::Blocks => Blocks::of_all(plan).extension_runs(kept, blocks),
        Procedure::BestOfEach { .. } => best_of_each::planned_final(plan, kept).extension_runs(kept, blocks),
        _ => Vec::new(),
    }
}

/// Returns the number of blocks of a study, and the reason why its duels cannot be extended. `None` if an extension is
/// possible. One of more than two variants in slices can be extended if any of its pairs can.
pub(crate) fn blocks_so_far(plan: &Plan, kept: &Study) -> Result<(u32, Option<DuelEnd>), StudyError> {
    let duels = match kept.new.compare.procedure {
        Procedure::Duel { .. } => Duels::of(plan, kept).map(|duels| duels.all(kept)),
        Procedure::RoundRobin { .. } => RoundRobin::of(plan, kept).map(|pairs| pairs.duels(kept)),
        _ => None,
    };
    let Some(duels) = duels else { return Ok((kept.blocks(), None)) };
    let duels = duels?;
    let counts = duels.iter().map(|duel| u32::try_from(duel.blocks().len()).unwrap_or(u32::MAX));
    let blocks = counts.max().unwrap_or(0);
    let final_end = |duel: &stats::Duel| match duel.next() {
        DuelStep::Over(end) if end.is_final() => Some(end),
        _ => None,
    };
    let ends: Vec<DuelEnd> = duels.iter().filter_map(final_end).collect();
    let is_round_robin = matches!(kept.new.compare.procedure, Procedure::RoundRobin { .. });
    let is_in_the_way = !is_round_robin || ends.len() == duels.len();
    Ok((blocks, ends.last().copied().filter(|_| is_in_the_way)))
}

/// Returns the name of a variant and its system, as in the store.
pub(crate) fn setting(plan: &Plan, variant: usize) -> Setting {
    let variant = &plan.variants[variant];
    Setting { system: plan.systems[variant.system].name.clone(), variant: variant.name.clone() }
}

/// Returns the prefix of a message about one load. Empty if the plan has only one load.
fn under(plan: &Plan, load: usize) -> String {
    if plan.loads.len() > 1 { format!("{}: ", plan.loads[load].name) } else { String::new() }
}

/// Formats a share: `3 %`, `1.2 %`, `0.04 %`.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let digits = match percent.abs() {
        size if size >= 10.0 => 0,
        size if size >= 0.1 => 1,
        _ => 2,
    };
    percent_up_to(share, digits)
}
