//! Comparison of two variants in blocks, until the result is conclusive. Each load has its own duel; all of them run
//! concurrently.

mod outlook;
mod slices;
mod verdict_so_far;
mod words;

use evidence::{Study, StudyPlace, stage};
use judge::{ComparedBy, Setting};
use load::chance::Chance;
use plan::Study as Plan;
use progress::VerdictSoFar;
use stats::{Duel, DuelEnd, DuelStep};

use super::study_results::StudyResults;
use super::{EndReason, StudyProcedure, Turn, setting};
use crate::schedule::{ORDER_STREAM, place};
use crate::study_error::StudyError;

/// Duels of a study, one per load.
pub(crate) struct Duels<'a> {
    plan: &'a Plan,
    settings: [Setting; 2],
    results: StudyResults,
}

impl<'a> Duels<'a> {
    /// Creates the duels of a plan, whose first variant is A. `None` if it has not exactly two variants, or if its metric is
    /// unknown.
    pub(crate) fn of(plan: &'a Plan, kept: &Study) -> Option<Self> {
        let by = ComparedBy::named(&kept.new.compare.by)?;
        let [_, _] = plan.variants.as_slice() else { return None };
        Some(Self { plan, settings: [setting(plan, 0), setting(plan, 1)], results: StudyResults::of(by) })
    }

    /// Returns the state of the duel under a load.
    fn duel(&self, kept: &Study, load: usize) -> Result<Option<Duel>, StudyError> {
        let [a, b] = &self.settings;
        let name = &self.plan.loads[load].name;
        Ok(judge::duel_by(kept, name, [a, b], self.results.by(), &mut |run| self.results.said(run))?)
    }

    /// Returns the duels under all loads.
    pub(crate) fn all(&self, kept: &Study) -> Result<Vec<Duel>, StudyError> {
        let mut duels = Vec::new();
        for load in 0..self.plan.loads.len() {
            duels.extend(self.duel(kept, load)?);
        }
        Ok(duels)
    }

    /// Plans the runs of the next step.
    fn places(&self, kept: &Study, load: usize, duel: &Duel) -> Vec<StudyPlace> {
        let slices = kept.new.compare.procedure.slices();
        let (stage, block, variants) = match (duel.next(), slices) {
            (DuelStep::Pilot { block }, _) => (stage::PILOT, block, [0, 0]),
            (DuelStep::Block { block }, Some(rules)) => {
                return slices::block(self, kept, load, duel, rules, block.saturating_sub(1));
            }
            (DuelStep::Block { block }, None) => (stage::BLOCK, block, [0, 1]),
            (DuelStep::Over(_), _) => return Vec::new(),
        };
        // The store counts blocks from 0, a duel from 1.
        let block = block.saturating_sub(1);
        variants.iter().map(|variant| place(self.plan, *variant, load, stage, block)).collect()
    }
}

impl StudyProcedure for Duels<'_> {
    fn next(&self, kept: &Study) -> Result<Turn, StudyError> {
        let (mut places, mut ends, mut news) = (Vec::new(), Vec::new(), Vec::new());
        for load in 0..self.plan.loads.len() {
            let Some(duel) = self.duel(kept, load)? else { continue };
            news.extend(words::after_turn(self, kept, load, &duel));
            if let DuelStep::Over(end) = duel.next() {
                ends.push(end);
            }
            places.extend(self.places(kept, load, &duel));
        }
        if kept.new.compare.procedure.slices().is_some() && !places.is_empty() {
            // The slices of a block are already in order.
            return Ok(Turn::Runs { places, news });
        }
        let turn = kept.new.planned.len() as u64;
        let chance = Chance::stream(self.plan.seed, ORDER_STREAM + turn);
        Ok(Turn::shuffled(places, chance, end_reason(&ends), news))
    }

    fn verdicts(&self, kept: &Study) -> Result<Vec<VerdictSoFar>, StudyError> {
        let mut verdicts = Vec::new();
        for (number, load) in self.plan.loads.iter().enumerate() {
            let duel = self.duel(kept, number)?.filter(|duel| !duel.blocks().is_empty());
            verdicts.extend(duel.map(|duel| verdict_so_far::of(&load.name, &self.settings, &duel)));
        }
        Ok(verdicts)
    }

    fn max_later_runs(&self, kept: &Study) -> Option<usize> {
        let mut runs = 0;
        for load in 0..self.plan.loads.len() {
            let duel = self.duel(kept, load).ok()??;
            if matches!(duel.next(), DuelStep::Over(_)) {
                continue;
            }
            let name = &self.plan.loads[load].name;
            if let Some(rules) = kept.new.compare.procedure.slices() {
                let blocks = (duel.rules().blocks_max as usize).saturating_sub(duel.blocks().len());
                let most = rules.pairs_most as usize;
                let each = 2 * if rules.has_full_blocks { most / 2 * 2 } else { stats::PAIRS_MIN.min(most) };
                let open = kept.missing().count();
                runs += (each * blocks).saturating_sub(open);
                continue;
            }
            let planned_pilots =
                kept.new.planned.iter().filter(|place| place.load == *name && place.stage == stage::PILOT);
            let pilots = (duel.rules().pilot_blocks as usize * 2).saturating_sub(planned_pilots.count());
            let blocks = (duel.rules().blocks_max as usize).saturating_sub(duel.blocks().len());
            let open =
                kept.missing().filter(|place| place.load == *name && place.stage == stage::BLOCK).count();
            runs += pilots + (2 * blocks).saturating_sub(open);
        }
        Some(runs)
    }
}

/// Combines the reasons why the duels under all loads ended.
fn end_reason(ends: &[DuelEnd]) -> EndReason {
    let is_fit = |end: &DuelEnd| matches!(end, DuelEnd::Decided | DuelEnd::OutOfBlocks);
    if ends.iter().all(|end| *end == DuelEnd::Decided) {
        EndReason::Decided
    } else if ends.iter().all(is_fit) {
        EndReason::Blocks
    } else {
        EndReason::NotFit
    }
}
