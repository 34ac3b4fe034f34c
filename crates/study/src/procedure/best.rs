//! Search for the best of several variants. Eliminates variants that are clearly behind, and confirms the winner. Each
//! load has its own search; all of them run concurrently.

mod outlook;
mod words;

use evidence::{SliceRules, Study, StudyPlace, stage};
use judge::{ComparedBy, Setting};
use load::chance::Chance;
use plan::Study as Plan;
use stats::{RACE_MAX, Tournament, TournamentEnd, TournamentStage, TournamentStep};

use super::study_results::StudyResults;
use super::{EndReason, StudyProcedure, Turn, setting};
use crate::schedule::{ORDER_STREAM, place, shuffle};
use crate::study_error::StudyError;

/// Searches for the best variant in a study, one per load.
pub(crate) struct Best<'a> {
    plan: &'a Plan,
    /// Variants sorted by name, whose order gives them the numbers used by readers of the store, and their numbers in
    /// the plan.
    settings: Vec<Setting>,
    variants: Vec<usize>,
    results: StudyResults,
}

impl<'a> Best<'a> {
    /// Creates the searches over all variants of a plan. `None` if the metric of the study is unknown.
    pub(crate) fn of(plan: &'a Plan, kept: &Study) -> Option<Self> {
        let by = ComparedBy::named(&kept.new.compare.by)?;
        let mut numbered: Vec<(Setting, usize)> =
            (0..plan.variants.len()).map(|variant| (setting(plan, variant), variant)).collect();
        numbered.sort();
        let (settings, variants) = numbered.into_iter().unzip();
        Some(Self { plan, settings, variants, results: StudyResults::of(by) })
    }

    /// Returns the state of the search under a load.
    fn tournament(&self, kept: &Study, load: usize) -> Result<Option<Tournament>, StudyError> {
        let name = &self.plan.loads[load].name;
        Ok(judge::tournament_by(kept, name, &self.settings, &mut |run| self.results.said(run))?)
    }

    fn places(&self, load: usize, step: TournamentStep, slices: Option<&SliceRules>) -> Vec<StudyPlace> {
        let TournamentStep::Block { block, stage, of } = step else { return Vec::new() };
        let stage = match (stage, slices) {
            (TournamentStage::Halving(_), _) => stage::HALVING,
            (TournamentStage::Search, None) => stage::SEARCH,
            (TournamentStage::Search, Some(_)) => stage::SEARCH_SLICE,
            (TournamentStage::Confirm, None) => stage::CONFIRM,
            (TournamentStage::Confirm, Some(_)) => stage::CONFIRM_SLICE,
        };
        // The store counts blocks from 0, a tournament from 1.
        let block = block.saturating_sub(1);
        let of = match slices {
            Some(rules) => self.slice_order(of, block, rules),
            None => of,
        };
        of.iter().map(|setting| place(self.plan, self.variants[*setting], load, stage, block)).collect()
    }

    /// Returns the variants of the slices of a block: all in random order, then in reverse order, and so on. A linear
    /// drift over time affects all variants equally.
    fn slice_order(&self, mut of: Vec<usize>, block: u32, rules: &SliceRules) -> Vec<usize> {
        let mut chance = Chance::stream(self.plan.seed, ORDER_STREAM + u64::from(block));
        let mirrored = |_| {
            shuffle(&mut of, &mut chance);
            [of.clone(), of.iter().rev().copied().collect()].concat()
        };
        (0..rules.pairs_most / 2).flat_map(mirrored).collect()
    }
}

impl StudyProcedure for Best<'_> {
    fn next(&self, kept: &Study) -> Result<Turn, StudyError> {
        let (mut places, mut ends, mut news) = (Vec::new(), Vec::new(), Vec::new());
        let slices = kept.new.compare.procedure.slices();
        for load in 0..self.plan.loads.len() {
            let Some(tournament) = self.tournament(kept, load)? else { continue };
            let step = tournament.next();
            let found = tournament.finding();
            news.extend(words::after_turn(self, kept, load, &step, &found));
            news.extend(outlook::line(self, kept, load, &tournament));
            if step == TournamentStep::Over {
                ends.extend(found.end);
            }
            places.extend(self.places(load, step, slices));
        }
        if slices.is_some() && !places.is_empty() {
            // The slices of a block are already in order.
            return Ok(Turn::Runs { places, news });
        }
        let turn = kept.new.planned.len() as u64;
        let chance = Chance::stream(self.plan.seed, ORDER_STREAM + turn);
        Ok(Turn::shuffled(places, chance, end_reason(&ends), news))
    }

    fn max_later_runs(&self, kept: &Study) -> Option<usize> {
        // The length of successive halving is not known in advance.
        if self.settings.len() > RACE_MAX {
            return None;
        }
        let blocks_max = kept.new.compare.blocks as usize;
        let each = kept.new.compare.procedure.slices().map_or(1, |rules| rules.pairs_most) as usize;
        let mut runs = 0;
        for load in 0..self.plan.loads.len() {
            let tournament = self.tournament(kept, load).ok()??;
            let name = &self.plan.loads[load].name;
            let open = kept.missing().filter(|place| place.load == *name).count();
            runs += match tournament.next() {
                TournamentStep::Over => 0,
                TournamentStep::Block { stage: TournamentStage::Confirm, .. } => {
                    let begun =
                        |place: &&StudyPlace| place.load == *name && stage::is_confirming(&place.stage);
                    let made = kept.new.planned.iter().filter(begun).count();
                    (2 * each * blocks_max).saturating_sub(made)
                }
                TournamentStep::Block { .. } => {
                    let found = tournament.finding();
                    let field = self.settings.len().saturating_sub(found.left.len());
                    let blocks = blocks_max.saturating_sub(found.blocks as usize);
                    (each * (field * blocks + 2 * blocks_max)).saturating_sub(open)
                }
            };
        }
        Some(runs)
    }
}

/// Combines the reasons why the searches under all loads ended.
fn end_reason(ends: &[TournamentEnd]) -> EndReason {
    if ends.iter().any(|end| matches!(end, TournamentEnd::NotFit | TournamentEnd::Unmeasured)) {
        EndReason::NotFit
    } else if ends.contains(&TournamentEnd::OutOfBlocks) {
        EndReason::Blocks
    } else {
        EndReason::Decided
    }
}
