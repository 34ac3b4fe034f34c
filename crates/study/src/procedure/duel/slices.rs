//! Plans the next block of a duel in slices: number of slices, their order, and the expected duration.

use std::collections::BTreeSet;
use std::time::Duration;

use evidence::{SliceRules, Study, StudyPlace, stage};
use load::chance::Chance;
use stats::{Duel, PAIRS_MIN};

use super::Duels;
use crate::pace::times;
use crate::schedule::{ORDER_STREAM, place};

/// Mean durations of slices, in seconds, including the preparation before them.
struct SliceCosts {
    /// First slice after a start; includes the start and the warm-up.
    first_s: f64,
    /// Any other slice.
    other_s: f64,
}

impl SliceCosts {
    /// Computes costs from the runs so far. `None` without a first and a later slice.
    fn of(kept: &Study) -> Option<Self> {
        let (mut begun, mut first, mut other) = (BTreeSet::new(), Vec::new(), Vec::new());
        let mut all: Vec<(&StudyPlace, Duration)> =
            times(kept).into_iter().filter(|(place, _)| place.stage == stage::SLICE).collect();
        all.sort_by_key(|(place, _)| place.position);
        for (place, took) in all {
            let is_first = begun.insert((place.block, &place.system, &place.variant));
            if is_first { &mut first } else { &mut other }.push(took.as_secs_f64());
        }
        let mean = |of: &[f64]| (!of.is_empty()).then(|| of.iter().sum::<f64>() / of.len() as f64);
        Some(Self { first_s: mean(&first)?, other_s: mean(&other)? })
    }

    fn of_block_s(&self, pairs: usize) -> f64 {
        2.0 * (self.first_s + self.other_s * (pairs.max(1) - 1) as f64)
    }

    /// Returns the cost of starting both variants, in pairs of slices.
    fn start_pairs(&self) -> f64 {
        (self.first_s - self.other_s) / self.other_s
    }
}

/// Returns the number of pairs of slices in the next block.
fn pairs_next(kept: &Study, duel: &Duel, rules: &SliceRules) -> usize {
    let most = rules.pairs_most as usize;
    if rules.has_full_blocks {
        return most / 2 * 2;
    }
    match duel.levels().filter(|levels| levels.blocks > 1).zip(SliceCosts::of(kept)) {
        Some((levels, costs)) => levels.pairs_next(costs.start_pairs(), most),
        None => PAIRS_MIN,
    }
}

/// Plans the slices of a block, in groups A B B A or B A A B with equal probability, so that a linear drift affects
/// both variants equally. If there is room, each group has two slices in a row in place of each one with probability ½.
/// An effect of one system on the other that outlasts a slice then differs between the two.
pub(super) fn block(
    duels: &Duels<'_>,
    kept: &Study,
    load: usize,
    duel: &Duel,
    rules: &SliceRules,
    block: u32,
) -> Vec<StudyPlace> {
    let mut chance = Chance::stream(duels.plan.seed, ORDER_STREAM + u64::from(block));
    let mut pairs = pairs_next(kept, duel, rules);
    let mut order: Vec<usize> = Vec::with_capacity(2 * pairs);
    while pairs >= PAIRS_MIN {
        let group = if chance.unit() < 0.5 { [0, 1, 1, 0] } else { [1, 0, 0, 1] };
        let in_a_row = if pairs >= 2 * PAIRS_MIN && chance.unit() < 0.5 { 2 } else { 1 };
        order.extend(group.into_iter().flat_map(|variant| std::iter::repeat_n(variant, in_a_row)));
        pairs -= PAIRS_MIN * in_a_row;
    }
    order.into_iter().map(|variant| place(duels.plan, variant, load, stage::SLICE, block)).collect()
}

/// Returns the expected duration of the next block, in seconds. `None` before the first block.
pub(super) fn block_s(kept: &Study, duel: &Duel, rules: &SliceRules) -> Option<f64> {
    Some(SliceCosts::of(kept)?.of_block_s(pairs_next(kept, duel, rules)))
}
