//! Comparison of more than two variants in slices. All variants of a block are up, and the load goes to one at a time. Each pair is judged
//! as a duel; all pairs share one error rate. A variant leaves when all its pairs are decided.

use std::collections::BTreeSet;

use evidence::{SliceRules, Study, StudyPlace, stage};
use judge::{ComparedBy, Setting};
use load::chance::Chance;
use plan::Study as Plan;
use stats::{Duel, DuelEnd, DuelStep, LONE_STARTS};

use super::study_results::StudyResults;
use super::{EndReason, StudyProcedure, Turn, setting};
use crate::schedule::{ORDER_STREAM, place, shuffle};
use crate::study_error::StudyError;

/// Stream offset of the order of lone starts.
const LONE_STREAM: u64 = ORDER_STREAM + (2 << 32);

/// Two variants of a plan, and the state of their comparison.
struct PairDuel {
    variants: [usize; 2],
    duel: Duel,
}

/// All pairs of a plan that are compared.
pub(crate) struct RoundRobin<'a> {
    plan: &'a Plan,
    settings: Vec<Setting>,
    heard: StudyResults,
}

impl<'a> RoundRobin<'a> {
    /// Creates the pairs of a plan. `None` if the metric of the study is unknown.
    pub(crate) fn of(plan: &'a Plan, kept: &Study) -> Option<Self> {
        let by = ComparedBy::named(&kept.new.compare.by)?;
        let settings = (0..plan.variants.len()).map(|variant| setting(plan, variant)).collect();
        Some(Self { plan, settings, heard: StudyResults::of(by) })
    }

    /// Returns the duels of all pairs.
    pub(crate) fn duels(&self, kept: &Study) -> Result<Vec<Duel>, StudyError> {
        Ok(self.pairs(kept)?.into_iter().map(|pair| pair.duel).collect())
    }

    fn pairs(&self, kept: &Study) -> Result<Vec<PairDuel>, StudyError> {
        // A plan in slices has one load.
        let Some(load) = self.plan.loads.first() else { return Ok(Vec::new()) };
        let mut pairs = Vec::new();
        for variants in self.plan.compared_pairs() {
            let settings = variants.map(|variant| &self.settings[variant]);
            let said = &mut |run: &evidence::Run| self.heard.said(run);
            let duel = judge::duel_by(kept, &load.name, settings, self.heard.by(), said)?;
            pairs.extend(duel.map(|duel| PairDuel { variants, duel }));
        }
        Ok(pairs)
    }

    /// Plans the slices of a block: all variants in random order, then in reverse order, and so on. A linear drift affects all equally.
    fn block(&self, mut variants: Vec<usize>, rules: &SliceRules, number: u32) -> Vec<StudyPlace> {
        let mut chance = Chance::stream(self.plan.seed, ORDER_STREAM + u64::from(number));
        let mut order = Vec::new();
        for _ in 0..rules.pairs_most / 2 {
            shuffle(&mut variants, &mut chance);
            order.extend(variants.iter().chain(variants.iter().rev()).copied());
        }
        order.into_iter().map(|variant| place(self.plan, variant, 0, stage::SLICE, number)).collect()
    }

    /// Plans starts of each of these variants alone, each in a block of its own.
    fn lone_starts(&self, mut variants: Vec<usize>, first: u32) -> Vec<StudyPlace> {
        let mut chance = Chance::stream(self.plan.seed, LONE_STREAM);
        let mut order = Vec::new();
        for _ in 0..LONE_STARTS {
            shuffle(&mut variants, &mut chance);
            order.extend(&variants);
        }
        (first..)
            .zip(order)
            .map(|(number, variant)| place(self.plan, variant, 0, stage::CONFIRM_SLICE, number))
            .collect()
    }
}

/// Returns the pairs whose slices show a difference that starts alone can confirm.
fn withheld(pairs: &[PairDuel]) -> Vec<&PairDuel> {
    let duels: Vec<&Duel> = pairs.iter().map(|pair| &pair.duel).collect();
    let found = stats::judge_together(&duels);
    let withheld = pairs.iter().zip(found).filter(|(pair, found)| pair.duel.needs_lone_starts(found));
    withheld.map(|(pair, _)| pair).collect()
}

fn has_lone_starts(kept: &Study) -> bool {
    kept.new.planned.iter().any(|place| stage::is_confirming(&place.stage))
}

impl StudyProcedure for RoundRobin<'_> {
    fn next(&self, kept: &Study) -> Result<Turn, StudyError> {
        let pairs = self.pairs(kept)?;
        let Some(rules) = kept.new.compare.procedure.slices().filter(|_| !pairs.is_empty()) else {
            return Ok(Turn::Over { why: EndReason::NotFit, news: Vec::new() });
        };
        let number = kept.new.planned.iter().map(|place| place.block.saturating_add(1)).max().unwrap_or(0);
        let is_open = |pair: &&PairDuel| !matches!(pair.duel.next(), DuelStep::Over(_));
        let open: BTreeSet<usize> = pairs.iter().filter(is_open).flat_map(|pair| pair.variants).collect();
        let withheld = withheld(&pairs);
        if !withheld.is_empty() && !has_lone_starts(kept) {
            let variants: BTreeSet<usize> =
                open.iter().copied().chain(withheld.iter().flat_map(|pair| pair.variants)).collect();
            let noun = if withheld.len() == 1 { "pair" } else { "pairs" };
            let news = format!(
                "slices of {} {noun} differ; to see whether the load on one affects another, {} variants are started {LONE_STARTS} \
                 times each, alone",
                withheld.len(),
                variants.len()
            );
            return Ok(Turn::Runs {
                places: self.lone_starts(variants.into_iter().collect(), number),
                news: vec![news],
            });
        }
        if open.is_empty() {
            let ends = pairs.iter().filter_map(|pair| match pair.duel.next() {
                DuelStep::Over(end) => Some(end),
                _ => None,
            });
            return Ok(Turn::Over { why: why(ends), news: Vec::new() });
        }
        let places = self.block(open.into_iter().collect(), rules, number);
        Ok(Turn::Runs { places, news: Vec::new() })
    }

    fn max_later_runs(&self, kept: &Study) -> Option<usize> {
        let pairs = self.pairs(kept).ok()?;
        let each = kept.new.compare.procedure.slices()?.pairs_most as usize;
        let left = |pair: &PairDuel| match pair.duel.next() {
            DuelStep::Over(_) => 0,
            _ => (pair.duel.rules().blocks_max as usize).saturating_sub(pair.duel.blocks().len()),
        };
        let blocks = pairs.iter().map(left).max().unwrap_or(0);
        let lone = if has_lone_starts(kept) { 0 } else { LONE_STARTS as usize };
        let slices = (blocks * each).saturating_mul(self.settings.len());
        Some((slices + lone * self.settings.len()).saturating_sub(kept.missing().count()))
    }
}

/// Combines the reasons why the duels of all pairs ended. A pair that could not be measured leaves the verdicts of the others.
fn why(ends: impl Iterator<Item = DuelEnd>) -> EndReason {
    let ends: Vec<DuelEnd> = ends.collect();
    let has_verdict = |end: &DuelEnd| matches!(end, DuelEnd::Decided | DuelEnd::OutOfBlocks);
    if ends.iter().all(|end| *end == DuelEnd::Decided) {
        EndReason::Decided
    } else if ends.iter().any(has_verdict) {
        EndReason::Blocks
    } else {
        EndReason::NotFit
    }
}
