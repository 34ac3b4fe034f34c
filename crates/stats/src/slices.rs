//! Slices within one start of two or more variants: their combined result, and the variance between starts and between slices.

use alloc::vec::Vec;

use libm::{exp, log, sqrt};

use crate::bounded::Bounded;
use crate::run_result::RunResult;
use crate::scale::{is_figure, log_ratio};

/// Minimum number of pairs of slices in a block, for the order ABBA. An odd number of pairs has no balanced order.
pub const PAIRS_MIN: usize = 2;
/// Maximum number of pairs of slices in a block. More pairs hardly help, because the variance between starts remains.
pub const PAIRS_MAX: usize = 16;

/// Slice of the load on one of the running systems.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// Result of the slice.
    pub seen: RunResult,
    /// True if the previous slice in the block ran on the other system.
    pub is_after_other: bool,
    /// CPU time used by processes other than the systems and the load generator, in cores. `None` if it is unknown.
    pub taken_cores: Option<f64>,
}

/// Pair of valid slices, one of A and one of B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pair {
    /// Log ratio of the figure of A to the figure of B.
    pub(crate) apart: f64,
    /// CPU time taken by others during the slice of A minus that of B, in cores. `None` if it is unknown.
    pub(crate) taken_apart: Option<f64>,
}

impl Pair {
    /// Pairs two slices. `None` if one has no figure above zero.
    fn of([a, b]: &[Slice; 2]) -> Option<Self> {
        let apart = log_ratio((a.seen.value()?, b.seen.value()?))?;
        Some(Self { apart, taken_apart: a.taken_cores.zip(b.taken_cores).map(|(a, b)| a - b) })
    }
}

/// Combines the slices of one start of A and of B, pair by pair, A first: [`combine_rounds`] for two variants. Both are missing if there is
/// no pair.
pub fn of_slices(pairs: &[[Slice; 2]]) -> [RunResult; 2] {
    let rounds: Vec<[RunResult; 2]> = pairs.iter().map(|pair| pair.map(|slice| slice.seen)).collect();
    [0, 1].map(|side| of_variant(&rounds, side))
}

/// Combines the slices of one start of several variants. A round has one slice of each variant, in variant order. The figure of a
/// variant is the geometric mean over the counted rounds, so the log ratio of two variants is the mean over the rounds.
///
/// A variant loses the block if one of its slices failed, is missing, or has too few samples; the other variants are not affected. A round
/// with an invalid slice does not count. If fewer than half of the rounds count, variants with an invalid slice lose the block, and all
/// rounds count for the others.
pub fn combine_rounds(rounds: &[Vec<RunResult>]) -> Vec<RunResult> {
    let variants = rounds.iter().map(Vec::len).min().unwrap_or(0);
    (0..variants).map(|variant| of_variant(rounds, variant)).collect()
}

fn of_variant(rounds: &[impl AsRef<[RunResult]>], variant: usize) -> RunResult {
    if rounds.is_empty() {
        return RunResult::Missing;
    }
    let rounds = || rounds.iter().map(AsRef::as_ref);
    let has = |variant: usize, seen: RunResult| rounds().any(|round| round[variant] == seen);
    let lost_for = |variant: usize| {
        [RunResult::Failed, RunResult::Missing, RunResult::TooFew].into_iter().find(|why| has(variant, *why))
    };
    if let Some(why) = lost_for(variant) {
        return why;
    }
    let variants = rounds().map(<[RunResult]>::len).min().unwrap_or(0);
    let whole: Vec<usize> = (0..variants).filter(|other| lost_for(*other).is_none()).collect();
    let is_counting = |round: &&[RunResult]| whole.iter().all(|other| round[*other] != RunResult::Invalid);
    let counting = rounds().filter(is_counting).count();
    if counting > 0 && counting * 2 >= rounds().count() {
        combine(rounds().filter(is_counting).map(|round| round[variant]))
    } else if has(variant, RunResult::Invalid) {
        RunResult::Invalid
    } else {
        combine(rounds().map(|round| round[variant]))
    }
}

/// Returns the geometric mean of the figures and of their bounds, with summed errors. 0 if a figure has no logarithm, which means there is
/// no ratio.
fn combine(slices: impl Iterator<Item = RunResult>) -> RunResult {
    let (mut figures, mut all_errors, mut all_planned) = (Vec::new(), 0u64, 0u64);
    for slice in slices {
        let RunResult::Figure { value, errors, planned } = slice else { continue };
        figures.push(value);
        (all_errors, all_planned) = (all_errors.saturating_add(errors), all_planned.saturating_add(planned));
    }
    let has_ratio = !figures.is_empty() && figures.iter().all(|figure| is_figure(&figure.value));
    // The logarithm of a bound of 0 is −∞, and that of no bound is ∞.
    let mean_of = |end: fn(&Bounded) -> f64| {
        exp(figures.iter().map(|figure| log(end(figure).max(0.0))).sum::<f64>() / figures.len() as f64)
    };
    let value = match has_ratio {
        true => Bounded::within(mean_of(|of| of.value), [mean_of(|of| of.low), mean_of(|of| of.high)]),
        false => Bounded::exactly(0.0),
    };
    RunResult::Figure { value, errors: all_errors, planned: all_planned }
}

/// Returns the pairs in which both slices have a figure above zero.
pub(crate) fn counting(pairs: &[[Slice; 2]]) -> Vec<Pair> {
    pairs.iter().filter_map(Pair::of).collect()
}

/// Variance components of the log ratio between starts and between pairs of slices of one start. Uses analysis of variance for the
/// one-way random model with unequal groups (Searle, Casella, and McCulloch, *Variance Components*, section 3.6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VarianceComponents {
    /// Number of blocks, each a fresh start of both systems.
    pub blocks: usize,
    /// Number of pairs of slices over all blocks.
    pub pairs: usize,
    /// Standard deviation between starts, without the part from slices. 0 if slices explain all of it. `None` for a single block.
    pub between: Option<f64>,
    /// Standard deviation of a pair of slices within its start.
    pub within: f64,
    /// Like `between`, but around 0 instead of the mean. It does not change if A and B are swapped in a block, so choosing the
    /// number of slices by it keeps the test valid.
    pub between_about_zero: f64,
}

impl VarianceComponents {
    /// Estimates the components from the log ratios of pairs, by block. `None` if no block has two pairs.
    pub fn of(blocks: &[Vec<f64>]) -> Option<Self> {
        let blocks: Vec<&Vec<f64>> = blocks.iter().filter(|block| !block.is_empty()).collect();
        let (groups, pairs) = (blocks.len(), blocks.iter().map(|block| block.len()).sum::<usize>());
        if pairs <= groups {
            return None;
        }
        let means: Vec<f64> = blocks.iter().map(|block| mean(block)).collect();
        let within_sum: f64 = blocks
            .iter()
            .zip(&means)
            .flat_map(|(block, mean)| block.iter().map(move |pair| (pair - mean) * (pair - mean)))
            .sum();
        let within_mean_square = within_sum / (pairs - groups) as f64;
        let sizes = || blocks.iter().map(|block| block.len() as f64);
        let grand = sizes().zip(&means).map(|(size, mean)| size * mean).sum::<f64>() / pairs as f64;
        let between = (groups > 1).then(|| {
            let sum: f64 =
                sizes().zip(&means).map(|(size, mean)| size * (mean - grand) * (mean - grand)).sum();
            let between_mean_square = sum / (groups - 1) as f64;
            let pairs = pairs as f64;
            let size = (pairs - sizes().map(|size| size * size).sum::<f64>() / pairs) / (groups - 1) as f64;
            sqrt(((between_mean_square - within_mean_square) / size).max(0.0))
        });
        let about_zero = sizes().zip(&means).map(|(size, mean)| mean * mean - within_mean_square / size);
        let between_about_zero = sqrt((about_zero.sum::<f64>() / groups as f64).max(0.0));
        Some(Self { blocks: groups, pairs, between, within: sqrt(within_mean_square), between_about_zero })
    }

    /// Returns the standard deviation of a block of `pairs` pairs. With a single block it only includes the variance between slices, and so
    /// is too small.
    pub fn of_block(&self, pairs: usize) -> f64 {
        let between = self.between.unwrap_or(0.0);
        sqrt(between * between + self.within * self.within / pairs.max(1) as f64)
    }

    /// Returns the share of the variance of a block of `pairs` pairs that lies between starts. `None` without variance, or with a single
    /// block.
    pub fn share_between(&self, pairs: usize) -> Option<f64> {
        let (between, all) = (self.between?, self.of_block(pairs));
        (all > 0.0).then(|| between * between / (all * all))
    }

    /// Returns the number of pairs of slices for the next block, at most `most`. `start_cost` is the time of a start divided by the time of
    /// a pair of slices. The result minimizes the variance per time (Kalibera and Jones, *Rigorous benchmarking in reasonable time*, ISMM
    /// 2013). Always even, because two pairs form a balanced order.
    pub fn pairs_next(&self, start_cost: f64, most: usize) -> usize {
        let wanted = sqrt(start_cost.max(0.0)) * self.within / self.between_about_zero;
        let most = most.clamp(PAIRS_MIN, PAIRS_MAX);
        // NaN: there is no variance at all, so the minimum suffices.
        let wanted = if wanted.is_nan() { 0.0 } else { wanted };
        let even = 2.0 * libm::ceil((wanted / 2.0).min(PAIRS_MAX as f64));
        (even as usize).clamp(PAIRS_MIN, most / 2 * 2)
    }
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn of_seen(pairs: &[[RunResult; 2]]) -> [RunResult; 2] {
        let slice = |seen| Slice { seen, is_after_other: false, taken_cores: None };
        of_slices(&pairs.iter().map(|pair| pair.map(slice)).collect::<Vec<_>>())
    }

    fn figure(value: f64) -> RunResult {
        RunResult::exactly(value, 1, 100)
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn log_ratio_of_a_block_is_the_mean_of_its_pairs() {
        let [a, b] = of_seen(&[[figure(400.0), figure(100.0)], [figure(100.0), figure(100.0)]]);
        assert!(close(a.value().unwrap(), 200.0) && close(b.value().unwrap(), 100.0), "{a:?} {b:?}");
        assert!(matches!(a, RunResult::Figure { errors: 2, planned: 200, .. }));
        assert_eq!(of_seen(&[[figure(0.0), figure(1.0)]; 2])[0].value(), Some(0.0), "without a ratio");
    }

    #[test]
    fn invalid_slice_drops_its_pair_and_a_majority_drops_the_block() {
        let ratio = |pairs: &[[RunResult; 2]]| {
            let [a, b] = of_seen(pairs);
            Some(a.value()? / b.value()?)
        };
        let (fair, lost) = ([figure(2.0), figure(1.0)], [RunResult::Invalid, figure(1.0)]);
        assert!(close(ratio(&[fair, lost]).unwrap(), 2.0));
        assert_eq!(of_seen(&[fair, lost, lost])[0], RunResult::Invalid);
        assert!(
            matches!(of_seen(&[fair, lost, lost])[1], RunResult::Figure { .. }),
            "the other lost nothing"
        );
        let other = [figure(1.0), RunResult::Invalid];
        assert_eq!(of_seen(&[fair, lost, other, fair]).map(|side| side.value().is_some()), [true; 2]);
        assert_eq!(of_seen(&[fair, lost, other]), [RunResult::Invalid; 2]);
        assert_eq!(of_seen(&[lost])[0], RunResult::Invalid);
    }

    #[test]
    fn variant_without_figure_does_not_affect_the_others() {
        let values = |lost: [RunResult; 4]| {
            let [high, low] = [400.0, 100.0].map(figure);
            let rounds: Vec<Vec<RunResult>> =
                lost.iter().zip([high, low, low, high]).map(|(lost, of)| vec![of, *lost, high]).collect();
            let seen = combine_rounds(&rounds);
            assert!([Some(200.0), Some(400.0)].iter().zip([0, 2]).all(|(value, of)| {
                seen[of].value().zip(*value).is_some_and(|(seen, value)| close(seen, value))
            }));
            seen[1]
        };
        for seen in [RunResult::Failed, RunResult::Missing, RunResult::TooFew, RunResult::Invalid] {
            assert_eq!(values([seen; 4]), seen);
        }
        assert_eq!(
            values([figure(1.0), RunResult::Failed, RunResult::Failed, RunResult::Failed]),
            RunResult::Failed
        );
    }

    #[test]
    fn variant_with_a_failed_or_missing_slice_loses_the_block() {
        let fair = [figure(2.0), figure(1.0)];
        for seen in [RunResult::Failed, RunResult::Missing, RunResult::TooFew] {
            assert_eq!(of_seen(&[fair, fair, fair, [figure(1.0), seen]])[1], seen);
        }
        assert_eq!(
            of_seen(&[[RunResult::Failed, RunResult::Missing], [RunResult::Invalid; 2]]),
            [RunResult::Failed, RunResult::Missing]
        );
        assert_eq!(of_seen(&[]), [RunResult::Missing; 2]);
    }

    #[test]
    fn round_counts_if_all_its_slices_count() {
        let rounds = [
            vec![figure(4.0), figure(1.0), figure(9.0)],
            vec![figure(1.0), figure(1.0), figure(4.0)],
            vec![figure(50.0), RunResult::Invalid, figure(50.0)],
        ];
        let values: Vec<Option<f64>> = combine_rounds(&rounds).iter().map(RunResult::value).collect();
        let [Some(first), Some(second), Some(third)] = values[..] else { panic!("{values:?}") };
        assert!(close(first, 2.0) && close(second, 1.0) && close(third, 6.0), "{values:?}");
        let lost = combine_rounds(&rounds[1..].iter().rev().chain(&rounds[2..]).cloned().collect::<Vec<_>>());
        assert_eq!(lost[1], RunResult::Invalid);
        assert!(close(lost[0].value().unwrap(), libm::cbrt(2500.0)), "all rounds of the others count");
        assert_eq!(combine_rounds(&[]), []);
    }

    #[test]
    fn equal_blocks_match_hand_computation() {
        // Means 2, 4, 9; sums of squares within blocks 2, 2, 8: 12 / 3 = 4. Between: grand mean 5, 2 · (9 + 1 + 16) / 2 = 26; (26 −
        // 4) / 2 = 11.
        let levels = VarianceComponents::of(&[vec![1.0, 3.0], vec![3.0, 5.0], vec![7.0, 11.0]]).unwrap();
        assert_eq!((levels.blocks, levels.pairs), (3, 6));
        assert!(close(levels.within, 2.0) && close(levels.between.unwrap(), sqrt(11.0)), "{levels:?}");
        // Around zero: (4 + 16 + 81) / 3 − 4 / 2.
        assert!(close(levels.between_about_zero, sqrt(101.0 / 3.0 - 2.0)), "{levels:?}");
        assert!(
            close(levels.of_block(4), sqrt(12.0)) && close(levels.share_between(4).unwrap(), 11.0 / 12.0)
        );
    }

    #[test]
    fn unequal_blocks_match_hand_computation() {
        // Means 2 and 6; sums of squares within blocks 2 and 8 + 0 + 8: 18 / 3 = 6. Grand mean 22 / 5 = 4.4; between 2 · 5.76 + 3 ·
        // 2.56 = 19.2. The size is 5 − 13 / 5 = 2.4, so (19.2 − 6) / 2.4 = 5.5.
        let levels =
            VarianceComponents::of(&[vec![1.0, 3.0], vec![6.0 - sqrt(8.0), 6.0, 6.0 + sqrt(8.0)]]).unwrap();
        assert!(close(levels.within, sqrt(6.0)) && close(levels.between.unwrap(), sqrt(5.5)), "{levels:?}");
    }

    #[test]
    fn variance_of_slices_is_not_attributed_to_starts() {
        let levels = VarianceComponents::of(&[vec![-1.0, 1.0], vec![-2.0, 2.0]]).unwrap();
        assert_eq!((levels.between, levels.share_between(2)), (Some(0.0), Some(0.0)));
        assert_eq!(VarianceComponents::of(&[vec![1.0], vec![2.0]]), None, "no block has two");
        assert_eq!(VarianceComponents::of(&[]), None);
        let one = VarianceComponents::of(&[vec![1.0, 3.0]]).unwrap();
        assert_eq!((one.between, one.share_between(2)), (None, None));
        assert!(close(one.of_block(2), 1.0));
        let still = VarianceComponents::of(&[vec![0.0; 2], vec![0.0; 2]]).unwrap();
        assert_eq!((still.share_between(2), still.pairs_next(9.0, 16)), (None, 2));
    }

    #[test]
    fn number_of_slices_follows_variance_and_start_cost() {
        let levels = |within, between_about_zero| VarianceComponents {
            blocks: 3,
            pairs: 6,
            between: Some(between_about_zero),
            within,
            between_about_zero,
        };
        // √4 · 3 ÷ 1 = 6; √4 · 2.6 = 5.2, rounded up to the even number 6.
        assert_eq!([3.0, 2.6, 0.1].map(|within| levels(within, 1.0).pairs_next(4.0, 16)), [6, 6, 2]);
        assert_eq!([5, 4, 0].map(|most| levels(3.0, 1.0).pairs_next(4.0, most)), [4, 4, 2]);
        assert_eq!(levels(1.0, 0.0).pairs_next(4.0, 1_000), 16, "starts do not differ");
        assert_eq!(levels(1.0, 1.0).pairs_next(f64::NAN, 16), 2);
    }

    #[test]
    fn swapping_a_and_b_keeps_the_number_of_slices() {
        let blocks = [vec![0.02, 0.05, 0.01], vec![-0.04, -0.02], vec![0.03, 0.01, 0.02, 0.0]];
        let turned = [blocks[0].clone(), blocks[1].iter().map(|pair| -pair).collect(), blocks[2].clone()];
        let of = |blocks: &[Vec<f64>]| VarianceComponents::of(blocks).unwrap();
        assert!(close(of(&blocks).between_about_zero, of(&turned).between_about_zero));
        assert!(of(&blocks).between != of(&turned).between);
    }
}
