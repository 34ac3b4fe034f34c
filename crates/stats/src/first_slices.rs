//! First slices of blocks. No load on the other system precedes them, so they are free of carry-over, regardless of how long it lasts.
//!
//! A coin decides in each block which system comes first. If both systems are equal, the figures of first slices do not depend on it,
//! regardless of the machine and of variance between starts. So the exact Mann–Whitney test of the first slices of A against those of B
//! needs no other assumption. It has less power than pairs of slices, because it compares across blocks. With few blocks it cannot show
//! even a large difference. Student's test, which assumes roughly normal noise, may therefore show one as well.

use alloc::vec::Vec;

use libm::{exp, log, sqrt};

use crate::control::Control;
use crate::mann_whitney::Unpaired;
use crate::scale::{Scale, is_figure};
use crate::slices::Slice;
use crate::student;

/// Starts of each variant alone, if the slices of more than two variants show a difference that first slices do not confirm.
pub const LONE_STARTS: u32 = 4;

/// First slice of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FirstSlice {
    /// True if the slice is one of A.
    is_of_first: bool,
    /// Figure of the slice.
    value: f64,
    /// CPU time used by processes other than the systems and the load generator, in cores. `None` if it is unknown.
    taken_cores: Option<f64>,
}

impl FirstSlice {
    /// Returns the first slice of the block of these pairs. `None` if it has no figure above zero.
    pub(crate) fn of(pairs: &[[Slice; 2]]) -> Option<Self> {
        let pair = pairs.first()?;
        let side = pair.iter().position(|slice| !slice.is_after_other)?;
        let value = pair[side].seen.value().filter(is_figure)?;
        Some(Self { is_of_first: side == 0, value, taken_cores: pair[side].taken_cores })
    }

    /// Returns the first slice of a start while no other system was up. `None` if it has no figure above zero.
    pub(crate) fn from_lone_start(is_of_first: bool, slice: &Slice) -> Option<Self> {
        let value = slice.seen.value().filter(is_figure)?;
        Some(Self { is_of_first, value, taken_cores: slice.taken_cores })
    }

    /// Returns the slice, corrected as if others had taken no CPU time.
    pub(crate) fn corrected(self, control: &Control) -> Self {
        Self { value: self.value * exp(-control.per_core * self.taken_cores.unwrap_or(0.0)), ..self }
    }
}

/// Number of blocks from which a verdict does not need complete separation.
const BLOCKS_MANY: usize = 12;
/// One-sided error rate of the exact test at each look with many blocks. Earlier looks, at 7 and 8 blocks, require complete separation,
/// which spends at most 2.4 %. Of 128 orders of the coins at 7 blocks, one separates 3 and one separates 4 first slices of A; at 8 blocks,
/// at most 2 more of 256 do. Three looks follow.
const MANY_ALPHA: f64 = 0.0036;
/// One-sided error rate of Student's test at each look. Looks share most of their blocks, so five looks at both tests together stay
/// within 5 % in simulations.
const STUDENT_ALPHA: f64 = 0.012;
/// Smallest number of first slices of each system for complete separation, and for Student's test.
const EACH_LEAST: [usize; 2] = [3, 1];

/// Comparison of the first slices of A with those of B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstSlices {
    /// Number of first slices of A and of B.
    pub counts: [usize; 2],
    /// Median of all ratios of a first slice of A to one of B.
    pub ratio: f64,
    /// Exact one-sided p-value of the Mann–Whitney test, in the direction of `ratio`.
    pub p: f64,
    /// One-sided p-value of Student's test of the logarithms of the figures, in the direction of `ratio`.
    pub student_p: f64,
    /// Whether the first slices show a difference by themselves, by either test.
    pub is_shown: bool,
}

impl FirstSlices {
    /// Compares first slices, of one of `family` comparisons that share the error rate. `None` if one of the systems never came first.
    pub(crate) fn of(blocks: &[Option<FirstSlice>], family: u32) -> Option<Self> {
        let values = |is_of_first: bool| -> Vec<f64> {
            let of_side = blocks.iter().flatten().filter(|first| first.is_of_first == is_of_first);
            of_side.map(|first| first.value).collect()
        };
        let sides = [values(true), values(false)];
        let found = Unpaired::of(&sides[0], &sides[1], Scale::Ratio, MANY_ALPHA)?;
        let share_of_family = 1.0 / f64::from(family.max(1));
        let [each_separated, each_student] = EACH_LEAST;
        let has_each = |least: usize| found.counts.iter().all(|count| *count >= least);
        let (p, student_p) = (found.p / 2.0, student_p(&sides));
        let is_apart = found.larger_share == 0.0 || found.larger_share == 1.0;
        let is_shown_exactly = match blocks.len() < BLOCKS_MANY {
            true => is_apart && family <= 1 && has_each(each_separated),
            false => p <= MANY_ALPHA * share_of_family,
        };
        let is_shown =
            is_shown_exactly || has_each(each_student) && student_p <= STUDENT_ALPHA * share_of_family;
        Some(Self { counts: found.counts, ratio: found.estimate?, p, student_p, is_shown })
    }

    /// Returns whether the first slices confirm a difference that all slices show: one of the tests shows a difference in the same
    /// direction. `estimate` is the ratio of all slices.
    pub(crate) fn confirm(&self, estimate: f64) -> bool {
        self.is_shown && log(self.ratio) / log(estimate) > 0.0
    }
}

/// Returns the one-sided p-value of Student's test with a common variance, in the direction of the difference of the means.
fn student_p(sides: &[Vec<f64>; 2]) -> f64 {
    let [a, b] = sides.each_ref().map(|side| {
        let logs: Vec<f64> = side.iter().map(|value| log(*value)).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let squares: f64 = logs.iter().map(|log| (log - mean) * (log - mean)).sum();
        (logs.len() as f64, mean, squares)
    });
    let freedom = sides.iter().map(Vec::len).sum::<usize>().saturating_sub(2);
    if freedom == 0 {
        return 1.0;
    }
    let error = sqrt((a.2 + b.2) / freedom as f64 * (1.0 / a.0 + 1.0 / b.0));
    student::p_value((a.1 - b.1) / error, freedom) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_result::RunResult;

    /// Compares first slices. `order` has the system, `A` or `B`, that comes first in each block; the array has each system's figure.
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
        // B seems slow in each slice that follows A, and is as fast as A in first slices.
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
    fn few_slices_far_apart_are_shown_by_students_test() {
        let found = first_slices("ABBBBBA", [110.0, 100.0], 1).unwrap();
        assert!(
            (found.p - 1.0 / 21.0).abs() < 1e-12 && found.student_p < 1e-6 && found.is_shown,
            "{found:?}"
        );
        assert!(is_shown("ABBBBBA", [110.0, 100.0], 2), "one of a family");
        let near = first_slices("ABBBBBA", [100.6, 100.0], 1).unwrap();
        assert!(near.student_p > STUDENT_ALPHA && !near.is_shown, "{near:?}");
        assert!(is_shown("ABBBBBB", [110.0, 100.0], 1), "with the variance of the other system");
        assert!(!is_shown("BBBBBBB", [110.0, 100.0], 1), "A never came first");
    }
}
