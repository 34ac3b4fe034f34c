//! What a study does next, given everything that it has done so far.

mod best;
mod best_of_each;
mod blocks;
mod capacity;
mod duel;
mod experiment;
mod heard;
#[cfg(test)]
pub(crate) mod tests;

use evidence::{OUT_OF_TIME, Procedure, SliceRules, Study, StudyPlace};
use judge::Setting;
use judge::words::percent_up_to;
use load::chance::Chance;
use plan::{Amount, How, Slicing, Study as Plan};
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

pub(crate) use capacity::GRACE_MIN_NS;

pub use capacity::{level_words, slos};

/// What is to be done next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Turn {
    /// Runs that are made before anything more is decided.
    Runs {
        /// In the order in which they are made, at least one. The planner assigns their positions.
        places: Vec<StudyPlace>,
        /// What a person should hear before they begin, a line each.
        news: Vec<String>,
    },
    /// Nothing more.
    Over {
        /// Why.
        why: Why,
        /// What a person should hear of it, a line each.
        news: Vec<String>,
    },
}

impl Turn {
    /// These runs in an order of chance; without any the study is over.
    fn shuffled(mut places: Vec<StudyPlace>, mut chance: Chance, why: Why, news: Vec<String>) -> Self {
        if places.is_empty() {
            return Self::Over { why, news };
        }
        shuffle(&mut places, &mut chance);
        Self::Runs { places, news }
    }
}

/// Why a study goes on no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// Its question has an answer.
    Decided,
    /// Everything was made that was to be made, or may be.
    Blocks,
    /// The time that it may take is spent.
    Budget,
    /// So many runs were invalid that this is no place to measure.
    NotFit,
}

impl Why {
    /// The word in the store.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Decided => "decided",
            Self::Blocks => "blocks",
            Self::Budget => OUT_OF_TIME,
            Self::NotFit => "not fit",
        }
    }

    /// Whether the study did all that it could.
    pub(crate) const fn is_whole(self) -> bool {
        matches!(self, Self::Decided | Self::Blocks)
    }
}

/// A procedure on a study. It knows nothing but what is stored, and is asked again after every turn: so a study that was
/// interrupted goes on where it was.
pub(crate) trait StudyProcedure {
    /// What to do next. `kept` has everything so far.
    fn next(&self, kept: &Study) -> Result<Turn, StudyError>;

    /// How many runs may follow those that are planned, at most; `None`: unknown.
    fn later_at_most(&self, kept: &Study) -> Option<usize>;

    /// How much load a planned run has, if that is not what the plan says of its load.
    fn amount(&self, _kept: &Study, _place: &StudyPlace) -> Result<Option<Amount>, StudyError> {
        Ok(None)
    }

    /// The state of each comparison of two variants that has a block; empty if the procedure compares more, or none.
    fn verdicts(&self, _kept: &Study) -> Result<Vec<VerdictSoFar>, StudyError> {
        Ok(Vec::new())
    }

    /// Whether nothing can be decided as long as a planned run is missing.
    fn needs_every_run(&self, _kept: &Study) -> bool {
        true
    }
}

/// How the answer to a plan's question is found.
pub fn procedure(plan: &Plan) -> Procedure {
    match plan.how() {
        How::Blocks => Procedure::Blocks,
        How::Duel => {
            let slices = plan.slicing().map(slice_rules);
            let pilot_blocks = if slices.is_some() { 0 } else { plan.compare.pilot };
            Procedure::Duel { pilot_blocks, looks_early: true, slices }
        }
        How::Best => Procedure::Best { incumbent: plan.baseline(), slices: plan.slicing().map(slice_rules) },
        How::BestOfEach { sweep_blocks } => Procedure::BestOfEach { sweep_blocks },
    }
}

fn slice_rules(slicing: Slicing) -> SliceRules {
    let Slicing { slice_ns, settle_ns, warm_up_ns, pairs_most, pauses_idle, has_control } = slicing;
    let [slice_s, settle_s, warm_up_s] = [slice_ns, settle_ns, warm_up_ns].map(|ns| ns as f64 / 1e9);
    SliceRules { slice_s, settle_s, warm_up_s, pairs_most, pauses_idle, has_control }
}

/// What says the next runs of a study that was begun.
pub(crate) fn of<'a>(plan: &'a Plan, kept: &Study, journal: &'a dyn Journal) -> Box<dyn StudyProcedure + 'a> {
    let duels = || Duels::of(plan, kept).map(|duels| Box::new(duels) as Box<dyn StudyProcedure + 'a>);
    let best = || Best::of(plan, kept).map(|best| Box::new(best) as Box<dyn StudyProcedure + 'a>);
    let best_of_each =
        || BestOfEach::of(plan, kept).map(|best| Box::new(best) as Box<dyn StudyProcedure + 'a>);
    let capacity = || {
        Capacity::of(plan, journal, kept).map(|capacity| Box::new(capacity) as Box<dyn StudyProcedure + 'a>)
    };
    let procedure = match &kept.new.compare.procedure {
        Procedure::Duel { .. } => duels(),
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

/// The runs by which a finished study is extended to so many blocks. A duel plans its own, block by block.
pub(crate) fn further(plan: &Plan, kept: &Study, blocks: u32) -> Vec<StudyPlace> {
    match kept.new.compare.procedure {
        Procedure::Blocks => Blocks::of_all(plan).further(kept, blocks),
        Procedure::BestOfEach { .. } => best_of_each::in_final(plan, kept).further(kept, blocks),
        _ => Vec::new(),
    }
}

/// How many blocks a study has, and why a duel in it cannot be extended, if it cannot.
pub(crate) fn blocks_so_far(plan: &Plan, kept: &Study) -> Result<(u32, Option<DuelEnd>), StudyError> {
    let Some(duels) =
        Duels::of(plan, kept).filter(|_| matches!(kept.new.compare.procedure, Procedure::Duel { .. }))
    else {
        return Ok((kept.blocks(), None));
    };
    let (mut blocks, mut in_the_way) = (0, None);
    for load in 0..plan.loads.len() {
        let Some(duel) = duels.duel(kept, load)? else { continue };
        blocks = blocks.max(u32::try_from(duel.blocks().len()).unwrap_or(u32::MAX));
        if let DuelStep::Over(end @ (DuelEnd::Uneven | DuelEnd::NoRatio)) = duel.next() {
            in_the_way = Some(end);
        }
    }
    Ok((blocks, in_the_way))
}

/// A variant as the store names it.
pub(crate) fn setting(plan: &Plan, variant: usize) -> Setting {
    let variant = &plan.variants[variant];
    Setting { system: plan.systems[variant.system].name.clone(), variant: variant.name.clone() }
}

/// What a line about one of several loads begins with.
fn under(plan: &Plan, load: usize) -> String {
    if plan.loads.len() > 1 { format!("{}: ", plan.loads[load].name) } else { String::new() }
}

/// A share for people: `3 %`, `1.2 %`, `0.04 %`.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let digits = match percent.abs() {
        size if size >= 10.0 => 0,
        size if size >= 0.1 => 1,
        _ => 2,
    };
    percent_up_to(share, digits)
}
