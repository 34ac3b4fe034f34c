//! A versus B, block by block: what to run next, when it is decided, and what is found.

use alloc::vec::Vec;

use crate::compare::{Comparison, DISCARDS_APART, Discards, NoVerdict, Verdict, compare_in};
use crate::errors::ErrorGap;
use crate::forecast::Forecast;
use crate::look::{look_at, looks};
use crate::seen::Seen;

/// What is laid down before the first run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DuelRules {
    /// The difference that matters, such as 0.03.
    pub matters: f64,
    /// Whether the larger figure is the better one.
    pub higher_is_better: bool,
    /// Blocks that may count, at most; below 8 there is but one look.
    pub blocks_max: u32,
    /// Blocks of A against itself before the first one, to say what the duel will cost; they never count.
    pub pilot_blocks: u32,
    /// How many comparisons are judged together and share the error rate; 1: it is alone.
    pub family: u32,
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
    /// A figure is zero or below: no ratio can be made.
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
    lost_in_row: u32,
    discards: Discards,
    end: Option<DuelEnd>,
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
            lost_in_row: 0,
            discards: Discards::default(),
            end,
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

    /// What the runs of A and of B in a block said, in this order, whichever ran first. Once it is over nothing changes it.
    pub fn note(&mut self, runs: [Seen; 2]) {
        if self.end.is_some() {
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

    /// The forecast of the pilot; `None` before two pilots with figures.
    pub fn forecast(&self) -> Option<Forecast> {
        Forecast::of_pilot(&self.pilot, self.rules.matters, self.rules.blocks_max)
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
        let pairs: Vec<(f64, f64)> =
            self.blocks.iter().filter_map(|[a, b]| Some((a.value()?, b.value()?))).collect();
        let attainable = self.rules.blocks_max as usize;
        let mut found = compare_in(family, &pairs, attainable, self.rules.matters, self.discards);
        if let Ok(look) = look_at(pairs.len(), attainable, family)
            && let Some(gap) = ErrorGap::over(&self.blocks[..found.blocks], look.critical)
        {
            found.verdict = errors_first(&found, &gap, self.rules.higher_is_better);
        }
        found
    }

    fn end_of_block(&self) -> Option<DuelEnd> {
        let (blocks, blocks_max) = (self.blocks.len() as u32, self.rules.blocks_max);
        let is_look = looks(blocks_max as usize, self.rules.family).any(|look| look.blocks == blocks);
        let last =
            looks(blocks_max as usize, self.rules.family).last().map_or(blocks_max, |look| look.blocks);
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
            let is_first_ahead = found.ratio.is_some_and(|ratio| (ratio > 1.0) == higher_is_better);
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
