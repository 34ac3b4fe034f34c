//! A versus B, block by block: what to run next, when it is decided, and what is found.

use alloc::vec::Vec;

use libm::exp;

use crate::carry_over::{Carried, CarryOver};
use crate::compare::{Comparison, DISCARDS_APART, Discards, NoVerdict, Verdict, compare_in};
use crate::control::Control;
use crate::errors::ErrorGap;
use crate::forecast::{Forecast, Outlook};
use crate::look::{Look, look_at, look_extended, looks};
use crate::obvious::{OBVIOUS_BLOCKS, is_before_a_look, obvious};
use crate::scale::{MinEffect, Scale, log_ratio};
use crate::seen::Seen;
use crate::slices::{Levels, Pair, Slice, counting, of_slices};

/// What is laid down before the first run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DuelRules {
    /// By what they are compared, and the difference that matters.
    pub matters: MinEffect,
    /// Whether the larger figure is the better one.
    pub higher_is_better: bool,
    /// Blocks that may count, at most; below 8 there is but one look.
    pub blocks_max: u32,
    /// Blocks of A against itself before the first one, to say what the duel will cost; they never count.
    pub pilot_blocks: u32,
    /// How many comparisons are judged together and share the error rate; 1: it is alone.
    pub family: u32,
    /// Whether an obvious difference may end it before the first look: see [`OBVIOUS_FACTOR`](crate::OBVIOUS_FACTOR).
    pub looks_early: bool,
    /// Whether what others take of the CPU explains a part of the variance of slices: see [`Control`].
    pub has_control: bool,
}

/// What to run next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuelStep {
    /// A twice; the pilots have numbers of their own, from 1.
    Pilot {
        /// Its number.
        block: u32,
    },
    /// A and B in random order.
    Block {
        /// Every block has a number of its own, from 1, also one that is made again in place of another.
        block: u32,
    },
    /// Nothing.
    Over(DuelEnd),
}

/// Why a duel is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuelEnd {
    /// There is a verdict.
    Decided,
    /// The last look that the blocks allow gave none.
    OutOfBlocks,
    /// Four blocks in a row were lost, the last one because a run was invalid: here nothing can be measured.
    NotFit,
    /// Four blocks in a row were lost, the last one because a run failed or is missing.
    Failing,
    /// Four blocks in a row were lost, the last one because a run had too few samples for the metric.
    TooFewSamples,
    /// One side lost three runs more than the other: what is left is a biased choice.
    Uneven,
    /// A figure is zero or below where they are compared by ratio.
    NoRatio,
}

/// A block that is lost is made again; after so many in a row it is given up.
const AGAIN_MAX: u32 = 3;

/// A versus B. Whoever drives it asks for the next step, makes the runs, and notes what they say; what is stored can be noted
/// again in the same order and leads to the same state.
#[derive(Clone, Debug)]
pub struct Duel {
    rules: DuelRules,
    pilots: u32,
    pilot: Vec<[f64; 2]>,
    noted: u32,
    blocks: Vec<[Seen; 2]>,
    /// Of blocks that are made of slices: their pairs, and how they depend on those before.
    slices: Vec<Vec<Pair>>,
    carried: Vec<Option<Carried>>,
    lost_in_row: u32,
    discards: Discards,
    end: Option<DuelEnd>,
    /// How often it was extended, and what was noted since its end.
    extensions: u32,
    late: Vec<[Seen; 2]>,
}

impl Duel {
    /// Before the first run.
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
            lost_in_row: 0,
            discards: Discards::default(),
            end,
            extensions: 0,
            late: Vec::new(),
        }
    }

    /// What to run next.
    pub fn next(&self) -> DuelStep {
        match self.end {
            Some(end) => DuelStep::Over(end),
            None if self.pilots < self.rules.pilot_blocks => DuelStep::Pilot { block: self.pilots + 1 },
            None => DuelStep::Block { block: self.noted + 1 },
        }
    }

    /// What the two runs of A in a pilot said. A pilot is not made again.
    pub fn note_pilot(&mut self, runs: [Seen; 2]) {
        self.pilots = self.pilots.saturating_add(1);
        if let [Some(one), Some(other)] = runs.map(|run| run.value()) {
            self.pilot.push([one, other]);
        }
    }

    /// What the runs of A and of B in a block said, in this order, whichever ran first. Once it is over nothing changes it,
    /// unless it is extended.
    pub fn note(&mut self, runs: [Seen; 2]) {
        if self.end.is_some() {
            self.late.push(runs);
            return;
        }
        self.noted = self.noted.saturating_add(1);
        let is_lost = |run: &Seen| matches!(run, Seen::Invalid | Seen::Failed);
        self.discards.first += usize::from(is_lost(&runs[0]));
        self.discards.second += usize::from(is_lost(&runs[1]));
        if runs.iter().all(|run| run.value().is_some()) {
            self.lost_in_row = 0;
            self.blocks.push(runs);
            self.end = self.end_of_block();
        } else {
            self.lost_in_row += 1;
            self.end = self.end_of_lost(&runs);
        }
    }

    /// What slices of one start of A and of B said, in the order of their pairs; see [`of_slices`].
    pub fn note_slices(&mut self, pairs: &[[Slice; 2]]) {
        let runs = of_slices(pairs);
        if self.end.is_none() && runs.iter().all(|run| run.value().is_some()) {
            self.slices.push(counting(pairs));
            self.carried.push(Carried::of(pairs));
        }
        self.note(runs);
    }

    /// How much varies between starts and between slices, without what is explained; `None` where there are no slices, or too few.
    pub fn levels(&self) -> Option<Levels> {
        Levels::of(&self.ratios())
    }

    /// What the CPU time that others take explains; `None` where that is not asked for, not known, or too little.
    pub fn control(&self) -> Option<Control> {
        // Blocks that were noted again after an extension have no slices.
        let is_whole = self.slices.len() == self.blocks.len();
        Control::of(&self.slices).filter(|_| self.rules.has_control && is_whole)
    }

    /// Whether slices change those that follow them; `None` where there are no slices, or too few.
    pub fn carry_over(&self) -> Option<CarryOver> {
        CarryOver::of(&self.carried)
    }

    /// The logarithms of the ratios of pairs of slices, by block, without what is explained.
    fn ratios(&self) -> Vec<Vec<f64>> {
        let control = self.control();
        let ratio = |pair: &Pair| control.map_or(pair.apart, |control| control.corrected(pair));
        self.slices.iter().map(|block| block.iter().map(ratio).collect()).collect()
    }

    /// The figures of A and of B, block by block, without what is explained.
    fn figures(&self) -> Vec<(f64, f64)> {
        let control = self.control();
        let figures = self.blocks.iter().filter_map(|[a, b]| Some((a.value()?, b.value()?)));
        let corrected = |(place, (a, b)): (usize, (f64, f64))| match (control, self.slices.get(place)) {
            (Some(control), Some(block)) => {
                let half = exp(control.correction(block) / 2.0);
                (a * half, b / half)
            }
            _ => (a, b),
        };
        figures.enumerate().map(corrected).collect()
    }

    /// When there may be a verdict, by the blocks so far; see [`Outlook`]. `None` where figures are compared by difference.
    pub fn outlook(&self) -> Option<Outlook> {
        if !self.slices.is_empty() {
            return Outlook::of_slices(&self.ratios(), &self.rules);
        }
        let is_of_ratios = self.rules.matters.scale == Scale::Ratio;
        let apart = |[a, b]: &[Seen; 2]| log_ratio((a.value()?, b.value()?));
        let apart = self.blocks.iter().map(apart).collect::<Option<Vec<f64>>>().filter(|_| is_of_ratios)?;
        Outlook::of_runs(&apart, &self.rules)
    }

    /// Goes on with one that is over, until so many blocks count: it has one more look, there. What other metrics needed, and
    /// this one no more, counts now.
    pub fn extend(&mut self, blocks: u32) {
        (self.extensions, self.rules.blocks_max) = (self.extensions + 1, blocks);
        for runs in core::mem::take(&mut self.late) {
            (self.end, self.lost_in_row) = (None, 0);
            self.note(runs);
        }
        let is_full = self.blocks.len() >= blocks as usize;
        (self.end, self.lost_in_row) = (is_full.then_some(DuelEnd::OutOfBlocks), 0);
    }

    /// The look that so many blocks allow.
    fn look(&self, blocks: usize, family: u32) -> Result<Look, u32> {
        let attainable = self.rules.blocks_max as usize;
        match self.extensions {
            0 => look_at(blocks, attainable, family),
            extensions => look_extended(blocks, attainable, family, extensions),
        }
    }

    /// The forecast of the pilot; `None` before two pilots with figures.
    pub fn forecast(&self) -> Option<Forecast> {
        Forecast::of_pilot(&self.pilot, &self.rules)
    }

    /// The blocks that count, in their order: what A and what B said.
    pub fn blocks(&self) -> &[[Seen; 2]] {
        &self.blocks
    }

    /// Runs that were lost on either side, because they were invalid or failed.
    pub fn discards(&self) -> Discards {
        self.discards
    }

    /// What was laid down.
    pub fn rules(&self) -> &DuelRules {
        &self.rules
    }

    /// What is found so far; the first is A. Errors stand before figures.
    pub fn finding(&self) -> Comparison {
        self.finding_in(self.rules.family)
    }

    /// What is found if the error rate is shared among so many.
    pub(crate) fn finding_in(&self, family: u32) -> Comparison {
        let pairs = self.figures();
        let look = self.look(pairs.len(), family);
        let mut found = compare_in(family, look, &pairs, self.rules.matters, self.discards);
        let mut critical = look.map(|look| look.critical).ok();
        if self.rules.looks_early
            && self.extensions == 0
            && is_before_a_look(&found)
            && let Some(early) = obvious(&pairs, self.rules.matters, family)
        {
            (found, critical) = (early, Some(0));
        }
        if let Some(carried) = self.carry_over().filter(|carried| carried.is_found) {
            found = found.widened(carried.bias_most, self.rules.matters);
        }
        if let Some(critical) = critical
            && let Some(gap) = ErrorGap::over(&self.blocks[..found.blocks], critical)
        {
            found.verdict = errors_first(&found, &gap, self.rules.higher_is_better);
        }
        found
    }

    fn end_of_block(&self) -> Option<DuelEnd> {
        let (blocks, blocks_max) = (self.blocks.len() as u32, self.rules.blocks_max);
        let looks = || looks(blocks_max as usize, self.rules.family).filter(|_| self.extensions == 0);
        let last = looks().last().map_or(blocks_max, |look| look.blocks);
        let is_look = match self.extensions {
            0 => looks().any(|look| look.blocks == blocks) || self.is_early_look(),
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

    /// Whether so many blocks are looked at for an obvious difference alone. One look: another block later there is none.
    fn is_early_look(&self) -> bool {
        self.rules.looks_early && self.blocks.len() == OBVIOUS_BLOCKS
    }

    fn end_of_lost(&self, runs: &[Seen; 2]) -> Option<DuelEnd> {
        if self.discards.first.abs_diff(self.discards.second) >= DISCARDS_APART {
            return Some(DuelEnd::Uneven);
        }
        let end = match runs {
            [Seen::Invalid, _] | [_, Seen::Invalid] => DuelEnd::NotFit,
            [Seen::TooFew, _] | [_, Seen::TooFew] => DuelEnd::TooFewSamples,
            _ => DuelEnd::Failing,
        };
        (self.lost_in_row > AGAIN_MAX).then_some(end)
    }
}

/// The verdict on the figures, unless errors speak against it.
fn errors_first(found: &Comparison, gap: &ErrorGap, higher_is_better: bool) -> Verdict {
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
    use crate::compare::Test;

    const RULES: DuelRules = DuelRules {
        matters: MinEffect::share(0.03),
        higher_is_better: true,
        blocks_max: 24,
        pilot_blocks: 0,
        family: 1,
        looks_early: false,
        has_control: false,
    };

    fn run(value: f64) -> Seen {
        Seen::Figure { value, errors: 0, planned: 10_000 }
    }

    #[test]
    fn an_obvious_difference_is_told_after_four_blocks_unless_it_has_errors() {
        let early = DuelRules { looks_early: true, ..RULES };
        let duel = after(early, 9, [run(250.0), run(100.0)]);
        assert_eq!((duel.next(), duel.blocks().len()), (DuelStep::Over(DuelEnd::Decided), 4));
        let found = duel.finding();
        assert_eq!((found.verdict, found.test), (Verdict::Differs { below_matters: false }, Test::Student));
        assert_eq!(after(RULES, 9, [run(250.0), run(100.0)]).blocks().len(), 8);
        let slower = after(early, 9, [run(190.0), run(100.0)]);
        assert_eq!((slower.blocks().len(), slower.finding().test), (8, Test::SignedRank), "less than twice");
        let failing = Seen::Figure { value: 250.0, errors: 900, planned: 10_000 };
        let duel = after(early, 4, [failing, run(100.0)]);
        assert!(matches!(duel.finding().verdict, Verdict::MoreErrors(more) if more.of_first), "{duel:?}");
    }

    #[test]
    fn a_difference_that_becomes_obvious_later_waits_for_the_next_look() {
        let mut duel = after(DuelRules { looks_early: true, ..RULES }, 4, [run(190.0), run(100.0)]);
        (0..3).for_each(|_| duel.note([run(900.0), run(100.0)]));
        assert_eq!(duel.next(), DuelStep::Block { block: 8 }, "there is one early look");
    }

    fn slice(seen: Seen) -> Slice {
        Slice { seen, is_after_other: false, taken_cores: None }
    }

    #[test]
    fn a_carry_over_that_is_as_large_as_the_difference_leaves_no_verdict() {
        let of = |truth: f64, lost: f64| {
            let mut duel = Duel::new(DuelRules { blocks_max: 8, ..RULES });
            let after = |seen| Slice { is_after_other: true, ..slice(seen) };
            (0..8).for_each(|_| {
                duel.note_slices(&[
                    [slice(run(truth)), after(run(100.0 - lost))],
                    [after(run(truth)), slice(run(100.0))],
                ]);
            });
            (duel.finding().verdict, duel.carry_over().unwrap().is_found)
        };
        assert_eq!(of(105.0, 0.0), (Verdict::Differs { below_matters: false }, false));
        assert_eq!(of(105.0, 4.0), (Verdict::Differs { below_matters: false }, true), "2 % of 7 %");
        assert_eq!(of(99.0, 20.0), (Verdict::Inconclusive, true), "10 %, all of which may be carried over");
    }

    #[test]
    fn what_others_take_is_explained_where_the_rules_say_so() {
        let of = |has_control: bool| {
            let mut duel = Duel::new(DuelRules { blocks_max: 8, has_control, ..RULES });
            for block in 0..8 {
                let side = |truth: f64, taken: f64| Slice {
                    taken_cores: Some(taken),
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
    fn slices_make_blocks_and_tell_where_the_variance_is() {
        let mut duel = Duel::new(RULES);
        let pair = |ratio: f64| [run(100.0 * ratio), run(100.0)].map(slice);
        let lost = [Seen::Invalid, run(1.0)].map(slice);
        duel.note_slices(&[pair(1.1), pair(1.3)]);
        duel.note_slices(&[pair(1.1), lost, lost]);
        duel.note_slices(&[pair(1.0), pair(1.2)]);
        assert_eq!((duel.blocks().len(), duel.discards()), (2, Discards { first: 1, second: 0 }));
        let levels = duel.levels().unwrap();
        assert_eq!((levels.blocks, levels.pairs), (2, 4), "of the blocks that count");
        assert_eq!(after(RULES, 8, [run(2.0), run(1.0)]).levels(), None);
    }

    /// A duel after so many equal blocks, as far as it goes.
    fn after(rules: DuelRules, blocks: usize, runs: [Seen; 2]) -> Duel {
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
    fn it_goes_on_to_the_last_look_that_its_blocks_allow() {
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
    fn a_lost_block_is_made_again_under_a_number_of_its_own() {
        let mut duel = after(RULES, 2, [run(110.0), run(100.0)]);
        duel.note([Seen::Invalid, run(100.0)]);
        assert_eq!(duel.next(), DuelStep::Block { block: 4 });
        assert_eq!((duel.blocks().len(), duel.discards()), (2, Discards { first: 1, second: 0 }));
        (0..2).for_each(|_| duel.note([Seen::Invalid, Seen::Invalid]));
        assert_eq!(duel.next(), DuelStep::Block { block: 6 }, "three in a row may be");
        duel.note([run(110.0), run(100.0)]);
        (0..3).for_each(|_| duel.note([Seen::Invalid, Seen::Invalid]));
        assert_eq!(duel.next(), DuelStep::Block { block: 10 });
        duel.note([Seen::Invalid, Seen::Invalid]);
        assert_eq!(duel.next(), DuelStep::Over(DuelEnd::NotFit));
    }

    #[test]
    fn whatever_loses_four_in_a_row_ends_it() {
        let end = |runs| after(RULES, 4, runs).next();
        assert_eq!(end([Seen::Failed, Seen::Failed]), DuelStep::Over(DuelEnd::Failing));
        assert_eq!(end([Seen::Missing, run(1.0)]), DuelStep::Over(DuelEnd::Failing));
        assert_eq!(end([Seen::TooFew, run(1.0)]), DuelStep::Over(DuelEnd::TooFewSamples));
        assert_eq!(end([Seen::TooFew, Seen::Invalid]), DuelStep::Over(DuelEnd::Uneven));
        let uneven = after(RULES, 3, [Seen::Failed, run(1.0)]);
        assert_eq!(uneven.next(), DuelStep::Over(DuelEnd::Uneven));
    }

    #[test]
    fn uneven_losses_leave_no_verdict_however_many_blocks_there_were() {
        let mut duel = after(RULES, 7, [run(110.0), run(100.0)]);
        for _ in 0..3 {
            duel.note([run(110.0), Seen::Invalid]);
        }
        assert_eq!(duel.next(), DuelStep::Over(DuelEnd::Uneven));
        let mut noisy = Duel::new(RULES);
        (0..9).for_each(|block| {
            noisy.note(if block % 2 == 0 { [run(1.0), run(2.0)] } else { [run(2.0), run(1.0)] })
        });
        (0..3).for_each(|_| noisy.note([Seen::Invalid, run(1.0)]));
        let discards = Discards { first: 3, second: 0 };
        assert_eq!(noisy.finding().verdict, Verdict::None(NoVerdict::UnevenDiscards(discards)));
    }

    #[test]
    fn the_pilot_comes_first_and_does_not_count() {
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
        (0..2).for_each(|_| lost.note_pilot([Seen::Invalid, run(1.0)]));
        assert_eq!((lost.next(), lost.forecast()), (DuelStep::Block { block: 1 }, None));
    }

    #[test]
    fn errors_stand_before_speed() {
        let with = |value: f64, errors: u64| Seen::Figure { value, errors, planned: 10_000 };
        let faster = after(RULES, 8, [with(150.0, 200), with(100.0, 0)]);
        let Verdict::MoreErrors(more) = faster.finding().verdict else { panic!("{:?}", faster.finding()) };
        assert!(more.of_first && more.is_shown && (more.gap - 0.02).abs() < 1e-12);
        assert_eq!(faster.next(), DuelStep::Over(DuelEnd::Decided));
        // The slower one may have as many as it likes.
        let slower = after(RULES, 8, [with(150.0, 0), with(100.0, 200)]);
        assert_eq!(slower.finding().verdict, Verdict::Differs { below_matters: false });
        // For a response time the smaller figure is ahead.
        let lower =
            after(DuelRules { higher_is_better: false, ..RULES }, 8, [with(150.0, 0), with(100.0, 200)]);
        assert!(matches!(lower.finding().verdict, Verdict::MoreErrors(more) if !more.of_first));
        let level = after(RULES, 8, [with(100.0, 0), with(100.0, 200)]);
        assert!(matches!(level.finding().verdict, Verdict::MoreErrors(more) if !more.of_first));
        // A few errors, by chance on one side, decide nothing.
        let few = after(RULES, 8, [with(150.0, 5), with(100.0, 0)]);
        assert_eq!(few.finding().verdict, Verdict::Differs { below_matters: false });
    }

    #[test]
    fn errors_that_are_not_ruled_out_keep_it_going() {
        let with = |value: f64, errors: u64| Seen::Figure { value, errors, planned: 10_000 };
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
    fn by_difference_zeros_decide() {
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
        // The one that is ahead must not have more errors.
        let with = |value: f64, errors: u64| Seen::Figure { value, errors, planned: 10_000 };
        let shorter = after(by_difference, 8, [with(0.0, 200), with(400.0, 0)]);
        assert!(matches!(shorter.finding().verdict, Verdict::MoreErrors(more) if more.of_first));
    }

    #[test]
    fn a_figure_of_zero_ends_it_at_a_look() {
        let duel = after(RULES, 24, [run(0.0), run(100.0)]);
        assert_eq!((duel.next(), duel.blocks().len()), (DuelStep::Over(DuelEnd::NoRatio), 8));
    }

    #[test]
    fn an_extension_goes_on_to_one_more_look() {
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
        duel.note([Seen::Invalid, run(100.0)]);
        assert_eq!(duel.next(), DuelStep::Block { block: 13 }, "a lost block is made again");
        duel.note([run(110.0), run(100.0)]);
        assert_eq!((duel.next(), duel.blocks().len()), (DuelStep::Over(DuelEnd::Decided), 12));
    }

    #[test]
    fn what_was_noted_after_the_end_counts_when_it_is_extended() {
        let mut duel = after(RULES, 12, [run(110.0), run(100.0)]);
        assert_eq!((duel.next(), duel.blocks().len()), (DuelStep::Over(DuelEnd::Decided), 8));
        duel.extend(13);
        assert_eq!((duel.next(), duel.blocks().len()), (DuelStep::Block { block: 13 }, 12));
        let mut lost = after(RULES, 4, [Seen::Invalid, Seen::Invalid]);
        assert_eq!(lost.next(), DuelStep::Over(DuelEnd::NotFit));
        lost.extend(24);
        (0..3).for_each(|_| lost.note([Seen::Invalid, Seen::Invalid]));
        assert_eq!(lost.next(), DuelStep::Block { block: 8 }, "three in a row may be lost again");
    }
}
