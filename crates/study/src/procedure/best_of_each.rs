//! Search for the best variant of each system. A sweep runs every variant under the first load. A final compares the
//! best variant of each system under all loads. Only blocks of the final decide, because the blocks that selected a
//! winner overstate it.

use std::collections::BTreeSet;

use evidence::{Procedure, Study, StudyPlace, stage};
use judge::words::{self, percent_up_to};
use judge::{ComparedBy, ERRORS_MAX, Setting};
use plan::Study as Plan;

use super::blocks::Blocks;
use super::study_results::StudyResults;
use super::{EndReason, StudyProcedure, Turn, setting};
use crate::schedule::block_under;
use crate::study_error::StudyError;

/// Number of the load of the sweep.
const SWEEP_LOAD: usize = 0;

/// A sweep and a final.
pub(crate) struct BestOfEach<'a> {
    plan: &'a Plan,
    sweep_blocks: u32,
    results: StudyResults,
}

/// Returns the final of a study, with its variants. Has no variants before it is planned.
pub(crate) fn planned_final<'a>(plan: &'a Plan, kept: &Study) -> Blocks<'a> {
    let of_final = kept.new.planned.iter().filter(|place| place.stage == stage::BLOCK);
    let finalists: BTreeSet<Setting> = of_final.map(Setting::of).collect();
    Blocks { plan, variants: variant_indices(plan, &finalists) }
}

/// Returns the numbers of the finalists in the plan.
fn variant_indices(plan: &Plan, finalists: &BTreeSet<Setting>) -> Vec<usize> {
    (0..plan.variants.len()).filter(|variant| finalists.contains(&setting(plan, *variant))).collect()
}

impl<'a> BestOfEach<'a> {
    /// Creates the procedure. `None` if the study has another one, or if its metric is unknown.
    pub(crate) fn of(plan: &'a Plan, kept: &Study) -> Option<Self> {
        let Procedure::BestOfEach { sweep_blocks } = kept.new.compare.procedure else { return None };
        let by = ComparedBy::named(&kept.new.compare.by)?;
        Some(Self { plan, sweep_blocks, results: StudyResults::of(by) })
    }

    /// Plans the runs of the sweep: every variant in every block, in random order within each block.
    fn sweep(&self) -> Vec<StudyPlace> {
        let all = || 0..self.plan.variants.len();
        let of_block = |block| block_under(self.plan, all(), SWEEP_LOAD, stage::SWEEP, block);
        (0..self.sweep_blocks).flat_map(of_block).collect()
    }

    /// Plans the first turn of the final.
    fn begin_final(&self, kept: &Study) -> Result<Turn, StudyError> {
        let finalists = judge::finalists(kept, &mut |run| self.results.said(run))?;
        let mut news = self.omitted_systems(&finalists);
        let last = Blocks {
            plan: self.plan,
            variants: variant_indices(self.plan, &finalists.iter().cloned().collect()),
        };
        let places = last.blocks_under_all_loads(0, kept.blocks());
        if places.is_empty() {
            return Ok(Turn::Over { why: EndReason::Blocks, news });
        }
        let names: Vec<String> = finalists.iter().map(Setting::name).collect();
        let blocks = words::blocks(kept.blocks() as usize);
        news.push(format!("final: {blocks} of the best variant of each system: {}", names.join(", ")));
        Ok(Turn::Runs { places, news })
    }

    /// Returns one message for each system without a variant in the final.
    fn omitted_systems(&self, finalists: &[Setting]) -> Vec<String> {
        let is_left_out = |system: &&String| finalists.iter().all(|finalist| finalist.system != **system);
        let names = self.systems().into_iter().filter(is_left_out);
        let errors = percent_up_to(ERRORS_MAX, 0);
        names
            .map(|name| {
                format!("{name} is not in the final: none of its variants has valid runs with at most {errors} of errors")
            })
            .collect()
    }

    /// Returns the names of the systems that have variants.
    fn systems(&self) -> BTreeSet<&'a String> {
        self.plan.variants.iter().map(|variant| &self.plan.systems[variant.system].name).collect()
    }
}

impl StudyProcedure for BestOfEach<'_> {
    fn next(&self, kept: &Study) -> Result<Turn, StudyError> {
        if kept.new.planned.is_empty() {
            return Ok(Turn::Runs { places: self.sweep(), news: Vec::new() });
        }
        let last = planned_final(self.plan, kept);
        if last.variants.is_empty() { self.begin_final(kept) } else { last.next(kept) }
    }

    fn max_later_runs(&self, kept: &Study) -> Option<usize> {
        let last = planned_final(self.plan, kept);
        if !last.variants.is_empty() {
            return last.max_later_runs(kept);
        }
        Some(self.systems().len() * self.plan.loads.len() * kept.blocks() as usize)
    }

    fn needs_every_run(&self, kept: &Study) -> bool {
        // The sweep needs all of its runs to select finalists.
        planned_final(self.plan, kept).variants.is_empty()
    }
}
