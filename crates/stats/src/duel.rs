//! A/B comparison, block by block: what to run next, when it is decided, and the result.

use alloc::vec::Vec;

use libm::exp;

use crate::bounded::Bounded;
use crate::carry_over::{BlockCarryOver, CarryOver};
use crate::compare::{Comparison, DISCARD_DIFFERENCE_MIN, Discards, NoVerdict, Verdict, compare_in_family};
use crate::control::Control;
use crate::errors::ErrorGap;
use crate::first_slices::{FirstSlice, FirstSlices};
use crate::forecast::{Forecast, Outlook};
use crate::look::{EARLY, Look, allows_early_look, look_at, look_extended, looks};
use crate::run_result::RunResult;
use crate::scale::{MinEffect, Scale, log_ratio};
use crate::slices::{Pair, Slice, VarianceComponents, counting, of_slices};

/// Rules of a duel, fixed before its first run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DuelRules {
    /// Scale of the comparison and the smallest difference that matters.
    pub matters: MinEffect,
    /// True if a larger figure is better.
    pub higher_is_better: bool,
    /// Maximum number of counted blocks. Below 8 there is only one look.
    pub blocks_max: u32,
    /// Number of A/A blocks before the first counted block, from which the cost of the duel is forecast. They never count.
    pub pilot_blocks: u32,
    /// Number of comparisons that share the error rate; 1 for a single comparison.
    pub family: u32,
    /// True if the duel has the look [`EARLY`] before the first of [`LOOKS`](crate::LOOKS). One of a family has none, nor has a duel that
    /// can never reach that first look.
    pub looks_early: bool,
    /// True if CPU time taken by other processes is used as a control variate for slices: see [`Control`].
    pub has_control: bool,
}

impl DuelRules {
    /// Returns whether a duel with these rules has the look [`EARLY`].
    pub(crate) fn has_early_look(&self) -> bool {
        self.looks_early && allows_early_look(self.blocks_max, self.family)
    }
}

/// Next step of a duel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuelStep {
    /// Run A twice. Pilot blocks have their own numbers, from 1.
    Pilot {
        /// Number of the pilot block.
        block: u32,
    },
    /// Run A and B in random order.
    Block {
        /// Number of the block, from 1. A repeated block gets a new number.
        block: u32,
    },
    /// The duel is over.
    Over(DuelEnd),
}

/// Reason why a duel ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuelEnd {
    /// There is a verdict.
    Decided,
    /// The last look that the blocks allow gave no verdict.
    OutOfBlocks,
    /// Four blocks in a row were lost, the last one because a run was invalid: the machine is not fit for measurement.
    NotFit,
    /// Four blocks in a row were lost, the last one because a run failed or is missing.
    Failing,
    /// Four blocks in a row were lost, the last one because a run had too few samples for the metric.
    TooFewSamples,
    /// One side lost at least three more runs than the other, so the remaining runs are a biased sample.
    Uneven,
    /// A figure is zero or negative, but figures are compared by ratio.
    NoRatio,
}

impl DuelEnd {
    /// Returns whether further blocks cannot lead to a verdict.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Uneven | Self::NoRatio)
    }
}

/// Maximum number of lost blocks in a row that are repeated. One more ends the duel.
const REPEATS_MAX: u32 = 3;

/// State machine of an A/B comparison. The caller asks for the next step, makes the runs, and notes their results. Replaying stored
/// results in the same order restores the same state.
#[derive(Clone, Debug)]
pub struct Duel {
    rules: DuelRules,
    pilots: u32,
    pilot: Vec<[f64; 2]>,
    noted: u32,
    blocks: Vec<[RunResult; 2]>,
    /// Counted pairs of slices of each block that was made in slices.
    slices: Vec<Vec<Pair>>,
    /// Carry-over between the slices of each block that was made in slices.
    carried: Vec<Option<BlockCarryOver>>,
    /// First slice of each block that was made in slices.
    first_slices: Vec<Option<FirstSlice>>,
    /// First slices of starts while no other system was up.
    lone_starts: Vec<FirstSlice>,
    lost_in_row: u32,
    discards: Discards,
    end: Option<DuelEnd>,
    /// Number of times the duel was extended.
    extensions: u32,
    /// Blocks noted since the duel ended, kept for an extension.
    late: Vec<[RunResult; 2]>,
}

impl Duel {
    /// Creates a duel before its first run.
    pub fn new(rules: DuelRules) -> Self {
        let end = (rules.blocks_max == 0).then_some(DuelEnd::OutOfBlocks);
        Self {
            rules,
            pilots: 0,
            pilot: Vec::new(),
            noted: 0,
            blocks: Vec::new(),
            slices: Vec::new(),
            carried: Vec::new(),
            first_slices: Vec::new(),
            lone_starts: Vec::new(),
            lost_in_row: 0,
            discards: Discards::default(),
            end,
            extensions: 0,
            late: Vec::new(),
        }
    }

    /// Returns the next step.
    pub fn next(&self) -> DuelStep {
        match self.end {
            Some(end) => DuelStep::Over(end),
            None if self.pilots < self.rules.pilot_blocks => DuelStep::Pilot { block: self.pilots + 1 },
            None => DuelStep::Block { block: self.noted + 1 },
        }
    }

    /// Notes the results of the two runs of A in a pilot block. A pilot block is never repeated.
    pub fn note_pilot(&mut self, runs: [RunResult; 2]) {
        self.pilots = self.pilots.saturating_add(1);
        if let [Some(one), Some(other)] = runs.map(|run| run.value()) {
            self.pilot.push([one, other]);
        }
    }

    /// Notes the results of A and B in a block, in this order, regardless of which ran first. After the end, results only count if the duel
    /// is extended.
    pub fn note(&mut self, runs: [RunResult; 2]) {
        if self.end.is_some() {
            self.late.push(runs);
            return;
        }
        self.noted = self.noted.saturating_add(1);
        let is_lost = |run: &RunResult| matches!(run, RunResult::Invalid | RunResult::Failed);
        self.discards.first += usize::from(is_lost(&runs[0]));
        self.discards.second += usize::from(is_lost(&runs[1]));
        if runs.iter().all(|run| run.value().is_some()) {
            self.lost_in_row = 0;
            self.blocks.push(runs);
            self.end = self.end_after_block();
        } else {
            self.lost_in_row += 1;
            self.end = self.end_after_lost_block(&runs);
        }
    }

    /// Notes the slices of one start of A and of B, pair by pair: see [`of_slices`].
    pub fn note_slices(&mut self, pairs: &[[Slice; 2]]) {
        self.note_slices_with_results(pairs, of_slices(pairs));
    }

    /// Like [`Self::note_slices`], with the figures of the block in `runs`, which are not means over its slices.
    pub fn note_slices_with_results(&mut self, pairs: &[[Slice; 2]], runs: [RunResult; 2]) {
        if self.end.is_none() && runs.iter().all(|run| run.value().is_some()) {
            self.slices.push(counting(pairs));
            self.carried.push(BlockCarryOver::of(pairs));
            self.first_slices.push(FirstSlice::of(pairs));
        }
        self.note(runs);
    }

    /// Notes the first slices of all starts of A or B while no other system was up, which are as free of carry-over as the first slice of a
    /// block. `true` marks those of A. Judges the last look again once. Changes nothing if the duel has ended for another reason than its
    /// number of blocks.
    pub fn note_lone_starts(&mut self, starts: &[(bool, Slice)]) {
        if starts.is_empty() || !self.is_open_at_last_look() {
            return;
        }
        let firsts =
            starts.iter().filter_map(|(is_of_first, slice)| FirstSlice::from_lone_start(*is_of_first, slice));
        self.lone_starts.extend(firsts);
        self.end = self.end_after_block();
    }

    /// Returns whether the duel goes on, or ended only because its blocks gave no verdict.
    fn is_open_at_last_look(&self) -> bool {
        matches!(self.end, None | Some(DuelEnd::OutOfBlocks))
    }

    /// Returns whether starts of A and B alone can change the verdict of this duel, which `found` judges together with others: see
    /// [`judge_together`](crate::judge_together).
    pub fn needs_lone_starts(&self, found: &Comparison) -> bool {
        found.is_withheld() && self.is_open_at_last_look()
    }

    /// Returns the variance between starts and between slices, after correction by the control. `None` without slices, or with too few.
    pub fn levels(&self) -> Option<VarianceComponents> {
        VarianceComponents::of(&self.ratios())
    }

    /// Returns the fitted control variate. `None` if the rules do not ask for one, if readings are missing, or if it explains too little.
    pub fn control(&self) -> Option<Control> {
        self.fitted_control().filter(|_| self.rules.has_control)
    }

    /// Returns the control variate that the readings allow, regardless of the rules.
    fn fitted_control(&self) -> Option<Control> {
        // Blocks noted again after an extension have no slices.
        Control::of(&self.slices).filter(|_| self.slices.len() == self.blocks.len())
    }

    /// Returns the carry-over between slices. `None` without slices, or with too few.
    pub fn carry_over(&self) -> Option<CarryOver> {
        CarryOver::of(&self.carried)
    }

    /// Returns the comparison of the first slices of the blocks, which are free of carry-over. `None` without slices, or if one of the
    /// systems never came first.
    pub fn first_slices(&self) -> Option<FirstSlices> {
        self.first_slices_of(self.first_slices.len())
    }

    /// Returns whether slices are conclusive so far, but the first slices of the blocks do not confirm their verdict, so it is withheld.
    pub fn is_withheld(&self) -> bool {
        self.finding().is_withheld()
    }

    fn first_slices_of(&self, blocks: usize) -> Option<FirstSlices> {
        let judged = &self.first_slices[..blocks.min(self.first_slices.len())];
        // First slices are compared across blocks, in which other processes take different amounts of CPU time. They only confirm a
        // difference that pairs show without a correction, so a variant gains nothing by influencing the readings.
        let control = self.fitted_control();
        let corrected =
            |first: FirstSlice| control.as_ref().map_or(first, |control| first.corrected(control));
        let lone_starts = self.lone_starts.iter().copied().map(Some);
        let judged: Vec<Option<FirstSlice>> =
            judged.iter().copied().chain(lone_starts).map(|first| first.map(corrected)).collect();
        FirstSlices::of(&judged, self.rules.family)
    }

    /// Returns the log ratios of the pairs of slices, by block, after correction by the control.
    fn ratios(&self) -> Vec<Vec<f64>> {
        let control = self.control();
        let ratio = |pair: &Pair| control.map_or(pair.apart, |control| control.corrected(pair));
        self.slices.iter().map(|block| block.iter().map(ratio).collect()).collect()
    }

    /// Returns the figures of A and B, block by block, after correction by the control.
    fn figures(&self) -> Vec<(Bounded, Bounded)> {
        let control = self.control();
        let figures = self.blocks.iter().filter_map(|[a, b]| Some((a.bounded()?, b.bounded()?)));
        let corrected = |(place, (a, b)): (usize, (Bounded, Bounded))| match (control, self.slices.get(place))
        {
            (Some(control), Some(block)) => {
                let half = exp(control.correction(block) / 2.0);
                (a.scaled(half), b.scaled(half.recip()))
            }
            _ => (a, b),
        };
        figures.enumerate().map(corrected).collect()
    }

    /// Returns the forecast of the verdict from the blocks so far: see [`Outlook`]. `None` if figures are compared by difference.
    pub fn outlook(&self) -> Option<Outlook> {
        if !self.slices.is_empty() {
            return Outlook::of_slices(&self.ratios(), &self.rules);
        }
        let is_of_ratios = self.rules.matters.scale == Scale::Ratio;
        let apart = |[a, b]: &[RunResult; 2]| log_ratio((a.value()?, b.value()?));
        let apart = self.blocks.iter().map(apart).collect::<Option<Vec<f64>>>().filter(|_| is_of_ratios)?;
        Outlook::of_runs(&apart, &self.rules)
    }

    /// Extends a finished duel until `blocks` blocks count, with one more look at the end. Counts the blocks that were noted after
    /// the end because other metrics needed them. Changes nothing if further blocks cannot decide the duel.
    pub fn extend(&mut self, blocks: u32) {
        if self.end.is_some_and(DuelEnd::is_final) {
            return;
        }
        (self.extensions, self.rules.blocks_max) = (self.extensions + 1, blocks);
        for runs in core::mem::take(&mut self.late) {
            (self.end, self.lost_in_row) = (None, 0);
            self.note(runs);
        }
        let is_full = self.blocks.len() >= blocks as usize;
        (self.end, self.lost_in_row) = (is_full.then_some(DuelEnd::OutOfBlocks), 0);
    }

    /// Returns the look that `blocks` blocks allow, or the number of blocks that the first look needs.
    fn look(&self, blocks: usize, family: u32) -> Result<Look, u32> {
        let attainable = self.rules.blocks_max as usize;
        match self.extensions {
            0 if self.is_early_look(blocks) => Ok(EARLY),
            0 => look_at(blocks, attainable, family),
            extensions => look_extended(blocks, attainable, family, extensions),
        }
    }

    /// Computes a forecast from the pilot blocks. `None` with fewer than two pilot blocks that have figures.
    pub fn forecast(&self) -> Option<Forecast> {
        Forecast::of_pilot(&self.pilot, &self.rules)
    }

    /// Returns the counted blocks in order: results of A and of B.
    pub fn blocks(&self) -> &[[RunResult; 2]] {
        &self.blocks
    }

    /// Returns the number of runs lost on each side because they were invalid or failed.
    pub fn discards(&self) -> Discards {
        self.discards
    }

    /// Returns the rules of the duel.
    pub fn rules(&self) -> &DuelRules {
        &self.rules
    }

    /// Returns the result so far; A is the first variant. Errors take precedence over figures.
    pub fn finding(&self) -> Comparison {
        self.finding_in_family(self.rules.family)
    }

    /// Returns the result so far if `family` comparisons share the error rate.
    pub(crate) fn finding_in_family(&self, family: u32) -> Comparison {
        let pairs = self.figures();
        let look = self.look(pairs.len(), family);
        let mut found = compare_in_family(family, look, &pairs, self.rules.matters, self.discards);
        if let Some(carried) = self.carry_over().filter(|carried| carried.is_found) {
            found = found.widened(carried.bias_most, self.rules.matters);
        }
        if self.is_in_doubt(&found) {
            found.verdict = Verdict::Inconclusive;
        }
        if let Ok(look) = look
            && let Some(gap) = ErrorGap::over(&self.blocks[..found.blocks], look.critical)
        {
            found.verdict = apply_error_gap(&found, &gap, self.rules.higher_is_better);
        }
        found
    }

    /// Returns whether carry-over may have caused the verdict of slices: a difference that the first slices of the blocks do not confirm,
    /// or equality although they show a difference that matters.
    fn is_in_doubt(&self, found: &Comparison) -> bool {
        let first_slices = self.first_slices_of(found.blocks);
        match found.verdict {
            _ if self.slices.is_empty() => false,
            Verdict::Differs { .. } => {
                !first_slices.zip(found.estimate).is_some_and(|(first, estimate)| first.confirm(estimate))
            }
            Verdict::Equivalent => first_slices
                .is_some_and(|first| first.is_shown && self.rules.matters.is_reached_by(first.ratio)),
            _ => false,
        }
    }

    fn end_after_block(&self) -> Option<DuelEnd> {
        let (blocks, blocks_max) = (self.blocks.len() as u32, self.rules.blocks_max);
        let looks = || looks(blocks_max as usize, self.rules.family).filter(|_| self.extensions == 0);
        let last = looks().last().map_or(blocks_max, |look| look.blocks);
        let is_look = match self.extensions {
            0 => looks().any(|look| look.blocks == blocks) || self.is_early_look(self.blocks.len()),
            _ => blocks == blocks_max,
        };
        if is_look {
            match self.finding().verdict {
                Verdict::Differs { .. } | Verdict::Equivalent => return Some(DuelEnd::Decided),
                Verdict::MoreErrors(more) if more.is_shown => return Some(DuelEnd::Decided),
                Verdict::None(NoVerdict::NoRatio) => return Some(DuelEnd::NoRatio),
                _ => {}
            }
        }
        (blocks >= last.min(blocks_max)).then_some(DuelEnd::OutOfBlocks)
    }

    /// Returns whether the duel is at the look [`EARLY`], which is followed by another look one block later.
    fn is_early_look(&self, blocks: usize) -> bool {
        self.rules.has_early_look() && blocks == EARLY.blocks as usize
    }

    fn end_after_lost_block(&self, runs: &[RunResult; 2]) -> Option<DuelEnd> {
        if self.discards.first.abs_diff(self.discards.second) >= DISCARD_DIFFERENCE_MIN {
            return Some(DuelEnd::Uneven);
        }
        let end = match runs {
            [RunResult::Invalid, _] | [_, RunResult::Invalid] => DuelEnd::NotFit,
            [RunResult::TooFew, _] | [_, RunResult::TooFew] => DuelEnd::TooFewSamples,
            _ => DuelEnd::Failing,
        };
        (self.lost_in_row > REPEATS_MAX).then_some(end)
    }
}

/// Overrides the verdict on the figures if errors contradict it.
fn apply_error_gap(found: &Comparison, gap: &ErrorGap, higher_is_better: bool) -> Verdict {
    let (of_first, of_second) = (gap.against(true), gap.against(false));
    let either = of_first.or(of_second);
    match found.verdict {
        Verdict::Differs { .. } => {
            let is_first_ahead = found.is_first_larger() == Some(higher_is_better);
            let of_ahead = if is_first_ahead { of_first } else { of_second };
            of_ahead.map_or(found.verdict, Verdict::MoreErrors)
        }
        Verdict::Equivalent => either.map_or(found.verdict, Verdict::MoreErrors),
        Verdict::Inconclusive => {
            either.filter(|more| more.is_shown).map_or(found.verdict, Verdict::MoreErrors)
        }
        _ => found.verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: DuelRules = DuelRules {
        matters: MinEffect::share(0.03),
        higher_is_better: true,
        blocks_max: 24,
        pilot_blocks: 0,
        family: 1,
        looks_early: false,
        has_control: false,
    };

    fn run(value: f64) -> RunResult {
        RunResult::exactly(value, 0, 10_000)
    }

    #[test]
    fn early_look_decides_if_seven_blocks_agree() {
        let early = DuelRules { looks_early: true, ..RULES };
        let duel = after(early, 24, [run(250.0), run(100.0)]);
        assert_eq!((duel.next(), duel.blocks().len()), (DuelStep::Over(DuelEnd::Decided), 7));
        assert_eq!(duel.finding().confidence, Some(1.0 - 2.0 / 128.0));
        let equal = after(early, 24, [run(100.0), run(100.0)]);
        assert_eq!((equal.finding().verdict, equal.blocks().len()), (Verdict::Equivalent, 7));
        let decided_at = |rules| after(rules, 24, [run(250.0), run(100.0)]).blocks().len();
        assert_eq!(decided_at(RULES), 8);
        assert_eq!([8, 7, 6].map(|blocks_max| decided_at(DuelRules { blocks_max, ..early })), [7, 6, 6]);
        assert_eq!(
            decided_at(DuelRules { family: 2, ..early }),
            12,
            "2 in 128 is too much for a part of the rate"
        );
    }

    #[test]
    fn difference_of_any_size_takes_seven_blocks_that_agree() {
        let mut duel = after(DuelRules { looks_early: true, ..RULES }, 6, [run(900.0), run(100.0)]);
        assert!(matches!(duel.finding().verdict, Verdict::None(NoVerdict::TooFewBlocks { .. })));
        duel.note([run(100.0), run(101.0)]);
        assert_eq!(duel.next(), DuelStep::Block { block: 8 }, "one block disagrees");
    }

    fn slice(seen: RunResult) -> Slice {
        Slice { seen, is_after_other: false, taken_cores: None }
    }

    #[test]
    fn carry_over_as_large_as_the_difference_prevents_a_verdict() {
        let of = |truth: f64, lost: f64| {
            let mut duel = Duel::new(DuelRules { blocks_max: 8, ..RULES });
            let after = |seen| Slice { is_after_other: true, ..slice(seen) };
            for block in 0..8 {
                let after_other = [slice(run(truth)), after(run(100.0 - lost))];
                let after_own = [after(run(truth)), slice(run(100.0))];
                let pairs = [after_other, after_own];
                duel.note_slices(&if block % 2 == 0 { pairs } else { [after_own, after_other] });
            }
            (duel.finding().verdict, duel.carry_over().unwrap().is_found)
        };
        assert_eq!(of(105.0, 0.0), (Verdict::Differs { below_matters: false }, false));
        assert_eq!(of(105.0, 4.0), (Verdict::Differs { below_matters: false }, true), "2 % of 7 %");
        assert_eq!(of(99.0, 20.0), (Verdict::Inconclusive, true), "10 %, all of which may be carried over");
    }

    /// Notes 8 blocks of one pair of slices, in which A is 10 % ahead. A comes first in those that `is_a_first` names.
    fn ahead_in_slices(is_a_first: impl Fn(u32) -> bool) -> Duel {
        let mut duel = Duel::new(DuelRules { blocks_max: 8, ..RULES });
        for block in 0..8 {
            let strays = 1.0 + f64::from(block) / 1_000.0;
            let pair = [110.0, 100.0].map(|value| slice(run(value * strays)));
            let is_after_other = [!is_a_first(block), is_a_first(block)];
            let [a, b] = [0, 1].map(|side| Slice { is_after_other: is_after_other[side], ..pair[side] });
            duel.note_slices(&[[a, b]]);
        }
        duel
    }

    #[test]
    fn lone_starts_change_no_decided_duel() {
        let mut duel = ahead_in_slices(|block| block % 2 == 0);
        let found = duel.finding();
        assert_eq!(duel.next(), DuelStep::Over(DuelEnd::Decided));
        duel.note_lone_starts(&[50.0, 51.0, 52.0, 53.0].map(|value| (true, slice(run(value)))));
        assert_eq!((duel.finding(), duel.next()), (found, DuelStep::Over(DuelEnd::Decided)));
    }

    #[test]
    fn lone_starts_are_judged_together() {
        let withheld = ahead_in_slices(|_| false);
        assert!(withheld.is_withheld() && withheld.next() == DuelStep::Over(DuelEnd::OutOfBlocks));
        let after = |starts: &[f64]| {
            let mut duel = withheld.clone();
            let starts: Vec<(bool, Slice)> = starts.iter().map(|value| (true, slice(run(*value)))).collect();
            duel.note_lone_starts(&starts);
            (duel.next(), duel.is_withheld())
        };
        assert_eq!(after(&[110.0]), (DuelStep::Over(DuelEnd::Decided), false));
        assert_eq!(after(&[110.0, 95.0, 96.0, 97.0]), (DuelStep::Over(DuelEnd::OutOfBlocks), true));
    }

    #[test]
    fn control_variate_is_applied_if_the_rules_ask_for_it() {
        let of = |has_control: bool| {
            let mut duel = Duel::new(DuelRules { blocks_max: 8, has_control, ..RULES });
            for block in 0..8 {
                let side = |truth: f64, taken: f64| Slice {
                    taken_cores: Some(taken),
                    is_after_other: (truth > 100.0) == (block % 4 < 2),
                    ..slice(run(truth * (1.0 - 0.3 * taken)))
                };
                let [first, second] = if block % 2 == 0 { [0.5, 0.0] } else { [0.0, 0.4] };
                duel.note_slices(&[
                    [side(105.0, first), side(100.0, second)],
                    [side(105.0, 0.1), side(100.0, 0.1)],
                ]);
            }
            (duel.finding().verdict, duel.control().map(|control| control.explained > 0.99))
        };
        assert_eq!(of(false), (Verdict::Inconclusive, None));
        assert_eq!(of(true), (Verdict::Differs { below_matters: false }, Some(true)));
    }

    #[test]
    fn slices_form_blocks_and_split_the_variance() {
        let mut duel = Duel::new(RULES);
        let pair = |ratio: f64| [run(100.0 * ratio), run(100.0)].map(slice);
        let lost = [RunResult::Invalid, run(1.0)].map(slice);
        duel.note_slices(&[pair(1.1), pair(1.3)]);
        duel.note_slices(&[pair(1.1), lost, lost]);
        duel.note_slices(&[pair(1.0), pair(1.2)]);
        assert_eq!((duel.blocks().len(), duel.discards()), (2, Discards { first: 1, second: 0 }));
        let levels = duel.levels().unwrap();
        assert_eq!((levels.blocks, levels.pairs), (2, 4), "of the blocks that count");
        assert_eq!(after(RULES, 8, [run(2.0), run(1.0)]).levels(), None);
    }

    /// Returns a duel after up to `blocks` equal blocks.
    fn after(rules: DuelRules, blocks: usize, runs: [RunResult; 2]) -> Duel {
        let mut duel = Duel::new(rules);
        (0..blocks).for_each(|_| duel.note(runs));
        duel
    }

    #[test]
    fn eight_blocks_that_agree_decide() {
        let duel = after(RULES, 7, [run(110.0), run(100.0)]);
        assert_eq!(duel.next(), DuelStep::Block { block: 8 });
        let duel = after(RULES, 30, [run(110.0), run(100.0)]);
        assert_eq!(duel.next(), DuelStep::Over(DuelEnd::Decided));
        assert_eq!(duel.blocks().len(), 8, "what comes after the end is not noted");
        assert_eq!(duel.finding().verdict, Verdict::Differs { below_matters: false });
    }

    #[test]
    fn runs_to_the_last_look_that_its_blocks_allow() {
        let mut duel = Duel::new(DuelRules { blocks_max: 20, ..RULES });
        let mut blocks = 0;
        while let DuelStep::Block { .. } = duel.next() {
            blocks += 1;
            duel.note(if blocks % 2 == 0 { [run(110.0), run(100.0)] } else { [run(100.0), run(110.0)] });
        }
        assert_eq!((blocks, duel.next()), (16, DuelStep::Over(DuelEnd::OutOfBlocks)));
        assert_eq!(duel.finding().verdict, Verdict::Inconclusive);
    }

    #[test]
    fn fewer_than_eight_have_one_look() {
        let quick = DuelRules { blocks_max: 7, ..RULES };
        assert_eq!(after(quick, 5, [run(110.0), run(100.0)]).next(), DuelStep::Block { block: 6 });
        let duel = after(quick, 6, [run(110.0), run(100.0)]);
        assert_eq!(duel.next(), DuelStep::Over(DuelEnd::Decided));
        let few = after(DuelRules { blocks_max: 3, ..RULES }, 9, [run(110.0), run(100.0)]);
        assert_eq!((few.next(), few.blocks().len()), (DuelStep::Over(DuelEnd::OutOfBlocks), 3));
        assert_eq!(few.finding().verdict, Verdict::None(NoVerdict::TooFewBlocks { common: 3, needed: 6 }));
        let none = Duel::new(DuelRules { blocks_max: 0, pilot_blocks: 3, ..RULES });
        assert_eq!(none.next(), DuelStep::Over(DuelEnd::OutOfBlocks));
    }

    #[test]
    fn lost_block_is_repeated_under_a_new_number() {
        let mut duel = after(RULES, 2, [run(110.0), run(100.0)]);
        duel.note([RunResult::Invalid, run(100.0)]);
        assert_eq!(duel.next(), DuelStep::Block { block: 4 });
        assert_eq!((duel.blocks().len(), duel.discards()), (2, Discards { first: 1, second: 0 }));
        (0..2).for_each(|_| duel.note([RunResult::Invalid, RunResult::Invalid]));
        assert_eq!(duel.next(), DuelStep::Block { block: 6 }, "three in a row may be");
        duel.note([run(110.0), run(100.0)]);
        (0..3).for_each(|_| duel.note([RunResult::Invalid, RunResult::Invalid]));
        assert_eq!(duel.next(), DuelStep::Block { block: 10 });
        duel.note([RunResult::Invalid, RunResult::Invalid]);
        assert_eq!(duel.next(), DuelStep::Over(DuelEnd::NotFit));
    }

    #[test]
    fn four_lost_blocks_in_a_row_end_the_duel() {
        let end = |runs| after(RULES, 4, runs).next();
        assert_eq!(end([RunResult::Failed, RunResult::Failed]), DuelStep::Over(DuelEnd::Failing));
        assert_eq!(end([RunResult::Missing, run(1.0)]), DuelStep::Over(DuelEnd::Failing));
        assert_eq!(end([RunResult::TooFew, run(1.0)]), DuelStep::Over(DuelEnd::TooFewSamples));
        assert_eq!(end([RunResult::TooFew, RunResult::Invalid]), DuelStep::Over(DuelEnd::Uneven));
        let uneven = after(RULES, 3, [RunResult::Failed, run(1.0)]);
        assert_eq!(uneven.next(), DuelStep::Over(DuelEnd::Uneven));
    }

    #[test]
    fn uneven_losses_prevent_a_verdict() {
        let mut duel = after(RULES, 7, [run(110.0), run(100.0)]);
        for _ in 0..3 {
            duel.note([run(110.0), RunResult::Invalid]);
        }
        assert_eq!(duel.next(), DuelStep::Over(DuelEnd::Uneven));
        let mut noisy = Duel::new(RULES);
        (0..9).for_each(|block| {
            noisy.note(if block % 2 == 0 { [run(1.0), run(2.0)] } else { [run(2.0), run(1.0)] })
        });
        (0..3).for_each(|_| noisy.note([RunResult::Invalid, run(1.0)]));
        let discards = Discards { first: 3, second: 0 };
        assert_eq!(noisy.finding().verdict, Verdict::None(NoVerdict::UnevenDiscards(discards)));
    }

    #[test]
    fn pilot_comes_first_and_does_not_count() {
        let mut duel = Duel::new(DuelRules { pilot_blocks: 3, ..RULES });
        for block in 1..=3 {
            assert_eq!(duel.next(), DuelStep::Pilot { block });
            duel.note_pilot([run(100.0 + f64::from(block)), run(100.0)]);
        }
        assert_eq!((duel.next(), duel.blocks().len()), (DuelStep::Block { block: 1 }, 0));
        let forecast = duel.forecast().unwrap();
        assert_eq!((forecast.pilots, forecast.blocks), (3, Some(12)));
        let mut of_many = Duel::new(DuelRules { pilot_blocks: 2, family: 3, ..RULES });
        (0..2).for_each(|_| of_many.note_pilot([run(100.1), run(100.0)]));
        assert_eq!(of_many.forecast().unwrap().blocks, Some(12), "its first look");
        let mut lost = Duel::new(DuelRules { pilot_blocks: 2, ..RULES });
        (0..2).for_each(|_| lost.note_pilot([RunResult::Invalid, run(1.0)]));
        assert_eq!((lost.next(), lost.forecast()), (DuelStep::Block { block: 1 }, None));
    }

    #[test]
    fn errors_take_precedence_over_figures() {
        let with = |value: f64, errors: u64| RunResult::exactly(value, errors, 10_000);
        let faster = after(RULES, 8, [with(150.0, 200), with(100.0, 0)]);
        let Verdict::MoreErrors(more) = faster.finding().verdict else { panic!("{:?}", faster.finding()) };
        assert!(more.of_first && more.is_shown && (more.gap - 0.02).abs() < 1e-12);
        assert_eq!(faster.next(), DuelStep::Over(DuelEnd::Decided));
        // The slower variant may have any number of errors.
        let slower = after(RULES, 8, [with(150.0, 0), with(100.0, 200)]);
        assert_eq!(slower.finding().verdict, Verdict::Differs { below_matters: false });
        // For a response time, the smaller figure is ahead.
        let lower =
            after(DuelRules { higher_is_better: false, ..RULES }, 8, [with(150.0, 0), with(100.0, 200)]);
        assert!(matches!(lower.finding().verdict, Verdict::MoreErrors(more) if !more.of_first));
        let level = after(RULES, 8, [with(100.0, 0), with(100.0, 200)]);
        assert!(matches!(level.finding().verdict, Verdict::MoreErrors(more) if !more.of_first));
        // A few random errors on one side decide nothing.
        let few = after(RULES, 8, [with(150.0, 5), with(100.0, 0)]);
        assert_eq!(few.finding().verdict, Verdict::Differs { below_matters: false });
    }

    #[test]
    fn errors_not_ruled_out_prolong_the_duel() {
        let with = |value: f64, errors: u64| RunResult::exactly(value, errors, 10_000);
        let mut duel = after(RULES, 7, [with(150.0, 0), with(100.0, 0)]);
        duel.note([with(150.0, 60), with(100.0, 0)]);
        assert!(matches!(duel.finding().verdict, Verdict::MoreErrors(more) if !more.is_shown));
        assert_eq!(duel.next(), DuelStep::Block { block: 9 });
        while let DuelStep::Block { .. } = duel.next() {
            duel.note([with(150.0, 0), with(100.0, 0)]);
        }
        assert_eq!((duel.blocks().len(), duel.next()), (16, DuelStep::Over(DuelEnd::Decided)));
    }

    #[test]
    fn zero_figures_decide_by_difference() {
        let by_difference =
            DuelRules { matters: MinEffect::difference(20.0), higher_is_better: false, ..RULES };
        let none = after(by_difference, 24, [run(0.0), run(0.0)]);
        assert_eq!((none.next(), none.blocks().len()), (DuelStep::Over(DuelEnd::Decided), 8));
        assert_eq!(none.finding().verdict, Verdict::Equivalent);
        let worse = after(by_difference, 24, [run(400.0), run(0.0)]);
        assert_eq!(worse.finding().verdict, Verdict::Differs { below_matters: false });
        let never = after(by_difference, 24, [run(400.0), run(f64::INFINITY)]);
        assert_eq!(
            (never.finding().estimate, never.next()),
            (Some(f64::NEG_INFINITY), DuelStep::Over(DuelEnd::Decided))
        );
        // The variant that is ahead must not have more errors.
        let with = |value: f64, errors: u64| RunResult::exactly(value, errors, 10_000);
        let shorter = after(by_difference, 8, [with(0.0, 200), with(400.0, 0)]);
        assert!(matches!(shorter.finding().verdict, Verdict::MoreErrors(more) if more.of_first));
    }

    #[test]
    fn zero_figure_ends_a_ratio_duel_at_a_look() {
        let duel = after(RULES, 24, [run(0.0), run(100.0)]);
        assert_eq!((duel.next(), duel.blocks().len()), (DuelStep::Over(DuelEnd::NoRatio), 8));
    }

    #[test]
    fn extension_adds_one_look() {
        let mut duel = Duel::new(DuelRules { blocks_max: 8, ..RULES });
        for block in 0..8 {
            duel.note(if block % 4 == 0 { [run(100.0), run(101.0)] } else { [run(110.0), run(100.0)] });
        }
        assert_eq!(duel.next(), DuelStep::Over(DuelEnd::OutOfBlocks));
        duel.extend(12);
        assert_eq!(duel.next(), DuelStep::Block { block: 9 });
        (0..3).for_each(|_| duel.note([run(110.0), run(100.0)]));
        let early = NoVerdict::TooFewBlocks { common: 11, needed: 12 };
        assert_eq!(duel.finding().verdict, Verdict::None(early), "there is no look before its end");
        duel.note([RunResult::Invalid, run(100.0)]);
        assert_eq!(duel.next(), DuelStep::Block { block: 13 }, "a lost block is made again");
        duel.note([run(110.0), run(100.0)]);
        assert_eq!((duel.next(), duel.blocks().len()), (DuelStep::Over(DuelEnd::Decided), 12));
    }

    #[test]
    fn extension_leaves_a_duel_ended_that_no_block_can_decide() {
        for (lost, end) in [(RunResult::Failed, DuelEnd::Uneven), (run(0.0), DuelEnd::NoRatio)] {
            let mut duel = after(RULES, 9, [lost, run(100.0)]);
            let found = duel.finding();
            duel.extend(30);
            duel.note([run(110.0), run(100.0)]);
            assert_eq!((duel.next(), duel.finding()), (DuelStep::Over(end), found));
        }
    }

    #[test]
    fn blocks_noted_after_the_end_count_after_an_extension() {
        let mut duel = after(RULES, 12, [run(110.0), run(100.0)]);
        assert_eq!((duel.next(), duel.blocks().len()), (DuelStep::Over(DuelEnd::Decided), 8));
        duel.extend(13);
        assert_eq!((duel.next(), duel.blocks().len()), (DuelStep::Block { block: 13 }, 12));
        let mut lost = after(RULES, 4, [RunResult::Invalid, RunResult::Invalid]);
        assert_eq!(lost.next(), DuelStep::Over(DuelEnd::NotFit));
        lost.extend(24);
        (0..3).for_each(|_| lost.note([RunResult::Invalid, RunResult::Invalid]));
        assert_eq!(lost.next(), DuelStep::Block { block: 8 }, "three in a row may be lost again");
    }
}
