//! Fixed number of blocks, each with one run of every variant under every load, independently of the results. Blocks
//! with an invalid run are replaced, within a limit. The blocks of a final have only its variants.

use std::collections::BTreeSet;

use evidence::{Study, StudyPlace, stage};
use plan::Study as Plan;

use super::{EndReason, StudyProcedure, Turn};
use crate::schedule::{block_under, schedule};
use crate::study_error::StudyError;

/// Divisor of the number of planned runs: at most half as many additional runs replace invalid ones.
const REPLACEMENT_DIVISOR: usize = 2;

/// Blocks of a study. All of them are planned when the study begins, except replacements.
pub(crate) struct Blocks<'a> {
    pub(crate) plan: &'a Plan,
    /// Numbers of the variants in the plan.
    pub(crate) variants: Vec<usize>,
}

impl<'a> Blocks<'a> {
    /// Creates blocks with every variant of a plan.
    pub(crate) fn of_all(plan: &'a Plan) -> Self {
        Self { plan, variants: (0..plan.variants.len()).collect() }
    }

    /// Plans runs that replace blocks with an invalid run. Runs of a failing system are not replaced: the failure is a
    /// result, and would recur.
    fn replacement_runs(&self, kept: &Study) -> Vec<StudyPlace> {
        let wanted = kept.blocks();
        // With too few blocks for a verdict, a replacement would only add figures.
        if self.plan.is_quick || wanted < stats::FIXED.blocks {
            return Vec::new();
        }
        let variants = self.variants.len();
        let of_blocks = || kept.new.planned.iter().filter(|place| place.stage == stage::BLOCK);
        let planned = wanted as usize * variants * self.plan.loads.len();
        let mut left = planned / REPLACEMENT_DIVISOR
            - of_blocks().count().saturating_sub(planned).min(planned / REPLACEMENT_DIVISOR);
        let mut places = Vec::new();
        for (load, name) in self.plan.loads.iter().map(|load| &load.name).enumerate() {
            let blocks = of_blocks().filter(|place| place.load == *name);
            let blocks: BTreeSet<u32> = blocks.map(|place| place.block).collect();
            let lost = kept.runs.iter().filter(|run| judge::is_invalid(run));
            let lost = lost.filter_map(|run| run.new.place.as_ref());
            let lost = lost.filter(|(_, place)| place.load == *name && place.stage == stage::BLOCK);
            let lost: BTreeSet<u32> = lost.map(|(_, place)| place.block).collect();
            let missing = (wanted as usize).saturating_sub(blocks.len().saturating_sub(lost.len()));
            // If most blocks are lost, replacements would probably be lost as well.
            if missing * variants > left || lost.len() * 2 > blocks.len() {
                continue;
            }
            left -= missing * variants;
            let first = blocks.last().map_or(0, |last| last.saturating_add(1));
            places.extend(self.blocks(load, first, missing));
        }
        places
    }

    /// Plans `count` blocks under a load, from block `first` on.
    fn blocks(&self, load: usize, first: u32, count: usize) -> impl Iterator<Item = StudyPlace> {
        let variants = || self.variants.iter().copied();
        (first..)
            .take(count)
            .flat_map(move |block| block_under(self.plan, variants(), load, stage::BLOCK, block))
    }

    /// Plans the runs that extend a finished study to `blocks` blocks. Replacements of invalid blocks follow in later
    /// turns.
    pub(crate) fn extension_runs(&self, kept: &Study, blocks: u32) -> Vec<StudyPlace> {
        let of_blocks = kept.new.planned.iter().filter(|place| place.stage == stage::BLOCK);
        let first = of_blocks.map(|place| place.block).max().map_or(0, |last| last.saturating_add(1));
        self.blocks_under_all_loads(first, blocks.saturating_sub(kept.blocks()))
    }

    /// Plans `count` blocks under every load, from block `first` on.
    pub(crate) fn blocks_under_all_loads(&self, first: u32, count: u32) -> Vec<StudyPlace> {
        // Loads alternate block by block, so that a drift over time affects all of them equally.
        (first..)
            .take(count as usize)
            .flat_map(|block| (0..self.plan.loads.len()).flat_map(move |load| self.blocks(load, block, 1)))
            .collect()
    }
}

impl StudyProcedure for Blocks<'_> {
    fn next(&self, kept: &Study) -> Result<Turn, StudyError> {
        if kept.new.planned.is_empty() {
            return Ok(Turn::Runs { places: schedule(self.plan), news: Vec::new() });
        }
        let places = self.replacement_runs(kept);
        if places.is_empty() {
            return Ok(Turn::Over { why: EndReason::Blocks, news: Vec::new() });
        }
        let news = vec![format!("{} more runs, in place of blocks with invalid runs", places.len())];
        Ok(Turn::Runs { places, news })
    }

    fn max_later_runs(&self, kept: &Study) -> Option<usize> {
        Some(self.replacement_runs(kept).len())
    }

    fn needs_every_run(&self, _kept: &Study) -> bool {
        false
    }
}
