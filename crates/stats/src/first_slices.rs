//! First slices of blocks: the only ones that no load on the other system precedes, so that no effect of one system on the other, however
//! long it lasts, is in them.
//!
//! A coin decides in each block which system comes first. If both systems are equal, the figures of first slices do not depend on it,
//! whatever the machine and the starts do. So the exact Mann–Whitney test of the first slices of A against those of B needs no other
//! assumption. It has less power than pairs of slices, because it compares across blocks.

use alloc::vec::Vec;

use libm::{exp, log};

use crate::control::Control;
use crate::mann_whitney::Unpaired;
use crate::scale::{Scale, is_figure};
use crate::slices::Slice;

/// Smallest share of the difference of all slices, as logarithms, that first slices must show to confirm it. An effect of one system on
/// the other is not in first slices, so that they show a share around 0 if there is no other difference.
const CONFIRMING_SHARE: f64 = 0.8;

/// First slice of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FirstSlice {
    /// Whether it is one of A.
    is_of_first: bool,
    /// Its figure.
    value: f64,
    /// CPU time used by processes other than the systems and the load generator, in cores. `None` if it is unknown.
    taken_cores: Option<f64>,
}

impl FirstSlice {
    /// First slice of the block of these pairs. `None` if it has no figure above zero.
    pub(crate) fn of(pairs: &[[Slice; 2]]) -> Option<Self> {
        let pair = pairs.first()?;
        let side = pair.iter().position(|slice| !slice.is_after_other)?;
        let value = pair[side].seen.value().filter(is_figure)?;
        Some(Self { is_of_first: side == 0, value, taken_cores: pair[side].taken_cores })
    }

    /// The slice, corrected as if others had taken no CPU time.
    pub(crate) fn corrected(self, control: &Control) -> Self {
        Self { value: self.value * exp(-control.per_core * self.taken_cores.unwrap_or(0.0)), ..self }
    }
}

/// Number of blocks from which a verdict does not need complete separation.
const BLOCKS_MANY: usize = 12;
/// One-sided error rate of each look with many blocks. Before, at 7 and 8 blocks, complete separation spends at most 3.9 %: at 7, one order
/// of the coins for each number of first slices of A from 2 to 5, of 128 orders, and at 8 at most 2 more of 256. Three looks follow.
const MANY_ALPHA: f64 = 0.0036;
/// Smallest number of first slices of each system, for a single comparison and for one of a family.
const EACH_LEAST: [usize; 2] = [2, 3];

/// Comparison of the first slices of A with those of B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstSlices {
    /// Number of first slices of A and of B.
    pub counts: [usize; 2],
    /// Median of all ratios of a first slice of A to one of B.
    pub ratio: f64,
    /// Exact one-sided p-value of the Mann–Whitney test, in the direction of `ratio`.
    pub p: f64,
    /// Whether they show a difference by themselves.
    pub is_shown: bool,
}

impl FirstSlices {
    /// Compares first slices, of one of `family` comparisons that share the error rate. `None` if one of the systems never came first.
    pub(crate) fn of(blocks: &[Option<FirstSlice>], family: u32) -> Option<Self> {
        let values = |is_of_first: bool| -> Vec<f64> {
            let of_side = blocks.iter().flatten().filter(|first| first.is_of_first == is_of_first);
            of_side.map(|first| first.value).collect()
        };
        let found = Unpaired::of(&values(true), &values(false), Scale::Ratio, MANY_ALPHA)?;
        let [each_single, each_of_family] = EACH_LEAST;
        let each_least = if family <= 1 { each_single } else { each_of_family };
        let p = found.p / 2.0;
        let is_apart = found.larger_share == 0.0 || found.larger_share == 1.0;
        let is_shown = match blocks.len() < BLOCKS_MANY {
            true => is_apart && found.counts.iter().all(|count| *count >= each_least),
            false => p <= MANY_ALPHA / f64::from(family.max(1)),
        };
        Some(Self { counts: found.counts, ratio: found.estimate?, p, is_shown })
    }

    /// Whether they confirm a difference that all slices show: they show one in its direction by themselves, or their ratio is about as
    /// large. `estimate` is the ratio of all slices.
    pub(crate) fn confirm(&self, estimate: f64) -> bool {
        let share = log(self.ratio) / log(estimate);
        let [each_least, _] = EACH_LEAST;
        let has_each = self.counts.iter().all(|count| *count >= each_least);
        self.is_shown && share > 0.0 || has_each && share >= CONFIRMING_SHARE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_result::RunResult;

    /// First slices with a label, `A` or `B`, for each block, and the figure of each system.
    fn first_slices(order: &str, [a, b]: [f64; 2], family: u32) -> Option<FirstSlices> {
        let slice = |value, is_after_other| Slice {
            seen: RunResult::exactly(value, 0, 1),
            is_after_other,
            taken_cores: None,
        };
        let blocks: Vec<Option<FirstSlice>> = order
            .bytes()
            .enumerate()
            .map(|(block, first)| {
                let wobble = 1.0 + block as f64 / 1_000.0;
                FirstSlice::of(&[[slice(a * wobble, first == b'B'), slice(b * wobble, first == b'A')]])
            })
            .collect();
        FirstSlices::of(&blocks, family)
    }

    fn is_shown(order: &str, figures: [f64; 2], family: u32) -> bool {
        first_slices(order, figures, family).is_some_and(|found| found.is_shown)
    }

    #[test]
    fn complete_separation_shows_a_difference_in_few_blocks() {
        let found = first_slices("ABBABBA", [110.0, 100.0], 1).unwrap();
        assert_eq!(found.counts, [3, 4]);
        assert!(found.is_shown && found.confirm(1.3) && !found.confirm(0.9), "{found:?}");
        assert!((found.p - 1.0 / 35.0).abs() < 1e-12 && (found.ratio - 1.1).abs() < 0.01, "{found:?}");
        assert!(is_shown("ABBBBBA", [110.0, 100.0], 1), "two of A");
        assert!(!is_shown("ABBBBBB", [110.0, 100.0], 1) && !is_shown("ABBBBBA", [110.0, 100.0], 2));
        assert_eq!(first_slices("AAAAAAA", [110.0, 100.0], 1), None, "B never came first");
    }

    #[test]
    fn figures_that_overlap_show_nothing_in_few_blocks() {
        assert!(!is_shown("ABBABBA", [100.2, 100.0], 1));
        assert!(!is_shown("ABBABBA", [100.0, 100.0], 1));
    }

    #[test]
    fn many_blocks_tolerate_overlap() {
        assert!(is_shown("ABABABABABAB", [110.0, 100.0], 1));
        assert!(is_shown("ABABABABABABABAB", [101.2, 100.0], 1), "some overlap");
        assert!(!is_shown("ABABABABABAB", [100.5, 100.0], 1));
    }

    #[test]
    fn slice_after_the_other_system_does_not_count() {
        // B seems slow in each slice that follows A, and is as fast as A where it comes first.
        let slice = |value, is_after_other| Slice {
            seen: RunResult::exactly(value, 0, 1),
            is_after_other,
            taken_cores: None,
        };
        let blocks: Vec<Option<FirstSlice>> = (0..8)
            .map(|block| {
                let wobble = f64::from(block % 3);
                let b_is_first = block % 2 == 0;
                let of_b = if b_is_first { 100.0 } else { 50.0 };
                FirstSlice::of(&[[slice(100.0 + wobble, b_is_first), slice(of_b + wobble, !b_is_first)]])
            })
            .collect();
        let found = FirstSlices::of(&blocks, 1).unwrap();
        assert!(!found.is_shown && !found.confirm(1.4), "{found:?}");
    }

    #[test]
    fn difference_of_similar_size_confirms_without_separation() {
        let found = first_slices("ABBABBABABAB", [100.6, 100.0], 1).unwrap();
        assert!(!found.is_shown && found.confirm(1.006) && !found.confirm(1.02), "{found:?}");
        assert!(!found.confirm(0.994), "the other direction");
    }
}
