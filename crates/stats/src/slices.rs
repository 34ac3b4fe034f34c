//! Slices of one start of two variants: what they say together, and how much varies between starts and between slices.

use alloc::vec::Vec;

use libm::{exp, log, sqrt};

use crate::scale::{is_figure, log_ratio};
use crate::seen::Seen;

/// Pairs of slices that a block has at least: ABBA. One more pair is of no use for a balanced order.
pub const PAIRS_LEAST: usize = 2;
/// More in a block say hardly more: what is between starts is left.
pub const PAIRS_MOST: usize = 16;

/// A slice of the load on one of two systems that are up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// What it says.
    pub seen: Seen,
    /// Whether the slice before it, in the same block, was one of the other system.
    pub is_after_other: bool,
    /// CPU time that neither the systems nor the load had meanwhile, in cores; `None`: not known.
    pub taken_cores: Option<f64>,
}

/// A slice of A and one of B that count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pair {
    /// The logarithm of the ratio of their figures.
    pub(crate) apart: f64,
    /// By how much others took more during A's, in cores.
    pub(crate) taken_apart: Option<f64>,
}

impl Pair {
    /// `None` if one of them has no figure above zero.
    fn of([a, b]: &[Slice; 2]) -> Option<Self> {
        let apart = log_ratio((a.seen.value()?, b.seen.value()?))?;
        Some(Self { apart, taken_apart: a.taken_cores.zip(b.taken_cores).map(|(a, b)| a - b) })
    }
}

/// What slices of one start of A and of B say together, pair by pair, A first: [`of_rounds`] of two variants.
pub fn of_slices(pairs: &[[Slice; 2]]) -> [Seen; 2] {
    let rounds: Vec<[Seen; 2]> = pairs.iter().map(|pair| pair.map(|slice| slice.seen)).collect();
    [0, 1].map(|side| of_variant(&rounds, side))
}

/// What slices of one start of several variants say together. A round has one slice of each, in their order. The figure of a variant is
/// the geometric mean over the rounds that count, so that the logarithm of the ratio of two is the mean of those of the rounds.
///
/// A variant loses the block if one of its slices failed, is missing, or has too few samples; the others do without it. A round of which a slice
/// is invalid does not count. If fewer than half of the rounds count, those with an invalid slice lose the block, and of the others all do.
pub fn of_rounds(rounds: &[Vec<Seen>]) -> Vec<Seen> {
    let variants = rounds.iter().map(Vec::len).min().unwrap_or(0);
    (0..variants).map(|variant| of_variant(rounds, variant)).collect()
}

fn of_variant(rounds: &[impl AsRef<[Seen]>], variant: usize) -> Seen {
    let rounds = || rounds.iter().map(AsRef::as_ref);
    let has = |variant: usize, seen: Seen| rounds().any(|round| round[variant] == seen);
    let lost_for = |variant: usize| {
        [Seen::Failed, Seen::Missing, Seen::TooFew].into_iter().find(|why| has(variant, *why))
    };
    if let Some(why) = lost_for(variant) {
        return why;
    }
    let variants = rounds().map(<[Seen]>::len).min().unwrap_or(0);
    let whole: Vec<usize> = (0..variants).filter(|other| lost_for(*other).is_none()).collect();
    let is_counting = |round: &&[Seen]| whole.iter().all(|other| round[*other] != Seen::Invalid);
    let counting = rounds().filter(is_counting).count();
    if counting > 0 && counting * 2 >= rounds().count() {
        together(rounds().filter(is_counting).map(|round| round[variant]))
    } else if has(variant, Seen::Invalid) {
        Seen::Invalid
    } else {
        together(rounds().map(|round| round[variant]))
    }
}

/// 0 if a figure has no logarithm: then there is no ratio.
fn together(slices: impl Iterator<Item = Seen>) -> Seen {
    let (mut count, mut logs, mut has_ratio, mut all_errors, mut all_planned) =
        (0usize, 0.0, true, 0u64, 0u64);
    for slice in slices {
        let Seen::Figure { value, errors, planned } = slice else { continue };
        has_ratio &= is_figure(&value);
        (count, logs) = (count + 1, logs + if is_figure(&value) { log(value) } else { 0.0 });
        (all_errors, all_planned) = (all_errors.saturating_add(errors), all_planned.saturating_add(planned));
    }
    let value = if has_ratio && count > 0 { exp(logs / count as f64) } else { 0.0 };
    Seen::Figure { value, errors: all_errors, planned: all_planned }
}

/// The pairs that count.
pub(crate) fn counting(pairs: &[[Slice; 2]]) -> Vec<Pair> {
    pairs.iter().filter_map(Pair::of).collect()
}

/// How much the logarithm of the ratio varies between starts, and between pairs of slices of one start: the variance components of the
/// one-way random model with unequal groups, by analysis of variance (Searle, Casella, and McCulloch, *Variance Components*, section 3.6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// Blocks, each a fresh start of both.
    pub blocks: usize,
    /// Pairs of slices, over all blocks.
    pub pairs: usize,
    /// The standard deviation between starts, without what slices add; 0 if slices explain it all. `None` of a single block.
    pub between: Option<f64>,
    /// The standard deviation of a pair of slices within its start.
    pub within: f64,
    /// As `between`, but about 0 and not about the mean. It is the same whichever of the two is called A in each block, so a number of
    /// slices that follows from it does not spoil the test.
    pub between_about_zero: f64,
}

impl Levels {
    /// Of the logarithms of the ratios of pairs, by block; `None` if no block has two pairs.
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

    /// The standard deviation of a block of so many pairs; of a single block what its slices alone say, which is too little.
    pub fn of_block(&self, pairs: usize) -> f64 {
        let between = self.between.unwrap_or(0.0);
        sqrt(between * between + self.within * self.within / pairs.max(1) as f64)
    }

    /// The share of the variance of a block of so many pairs that lies between starts; `None` without any variance, and of a single block.
    pub fn share_between(&self, pairs: usize) -> Option<f64> {
        let (between, all) = (self.between?, self.of_block(pairs));
        (all > 0.0).then(|| between * between / (all * all))
    }

    /// How many pairs of slices the next block should have, at most `most`, if a start costs so many times what a pair of slices does. The
    /// same time then gives the least variance (Kalibera and Jones, *Rigorous benchmarking in reasonable time*, ISMM 2013). Always even:
    /// two pairs are a balanced order.
    pub fn pairs_next(&self, start_cost: f64, most: usize) -> usize {
        let wanted = sqrt(start_cost.max(0.0)) * self.within / self.between_about_zero;
        let most = most.clamp(PAIRS_LEAST, PAIRS_MOST);
        // Not a number: nothing varies at all, so the fewest will do.
        let wanted = if wanted.is_nan() { 0.0 } else { wanted };
        let even = 2.0 * libm::ceil((wanted / 2.0).min(PAIRS_MOST as f64));
        (even as usize).clamp(PAIRS_LEAST, most / 2 * 2)
    }
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn of_seen(pairs: &[[Seen; 2]]) -> [Seen; 2] {
        let slice = |seen| Slice { seen, is_after_other: false, taken_cores: None };
        of_slices(&pairs.iter().map(|pair| pair.map(slice)).collect::<Vec<_>>())
    }

    fn figure(value: f64) -> Seen {
        Seen::Figure { value, errors: 1, planned: 100 }
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn the_ratio_of_a_block_is_the_mean_of_its_pairs() {
        let [a, b] = of_seen(&[[figure(400.0), figure(100.0)], [figure(100.0), figure(100.0)]]);
        assert!(close(a.value().unwrap(), 200.0) && close(b.value().unwrap(), 100.0), "{a:?} {b:?}");
        assert!(matches!(a, Seen::Figure { errors: 2, planned: 200, .. }));
        assert_eq!(of_seen(&[[figure(0.0), figure(1.0)]; 2])[0].value(), Some(0.0), "without a ratio");
    }

    #[test]
    fn an_invalid_slice_takes_its_pair_with_it_and_most_of_them_the_block() {
        let ratio = |pairs: &[[Seen; 2]]| {
            let [a, b] = of_seen(pairs);
            Some(a.value()? / b.value()?)
        };
        let (fair, lost) = ([figure(2.0), figure(1.0)], [Seen::Invalid, figure(1.0)]);
        assert!(close(ratio(&[fair, lost]).unwrap(), 2.0));
        assert_eq!(of_seen(&[fair, lost, lost])[0], Seen::Invalid);
        assert!(matches!(of_seen(&[fair, lost, lost])[1], Seen::Figure { .. }), "the other lost nothing");
        let other = [figure(1.0), Seen::Invalid];
        assert_eq!(of_seen(&[fair, lost, other, fair]).map(|side| side.value().is_some()), [true; 2]);
        assert_eq!(of_seen(&[fair, lost, other]), [Seen::Invalid; 2]);
        assert_eq!(of_seen(&[lost])[0], Seen::Invalid);
    }

    #[test]
    fn who_has_no_figure_leaves_the_figures_of_the_others_alone() {
        let values = |lost: [Seen; 4]| {
            let [high, low] = [400.0, 100.0].map(figure);
            let rounds: Vec<Vec<Seen>> =
                lost.iter().zip([high, low, low, high]).map(|(lost, of)| vec![of, *lost, high]).collect();
            let seen = of_rounds(&rounds);
            assert!([Some(200.0), Some(400.0)].iter().zip([0, 2]).all(|(value, of)| {
                seen[of].value().zip(*value).is_some_and(|(seen, value)| close(seen, value))
            }));
            seen[1]
        };
        for seen in [Seen::Failed, Seen::Missing, Seen::TooFew, Seen::Invalid] {
            assert_eq!(values([seen; 4]), seen);
        }
        assert_eq!(values([figure(1.0), Seen::Failed, Seen::Failed, Seen::Failed]), Seen::Failed);
    }

    #[test]
    fn a_system_that_failed_or_was_not_measured_in_any_slice_loses_the_block() {
        let fair = [figure(2.0), figure(1.0)];
        for seen in [Seen::Failed, Seen::Missing, Seen::TooFew] {
            assert_eq!(of_seen(&[fair, fair, fair, [figure(1.0), seen]])[1], seen);
        }
        assert_eq!(
            of_seen(&[[Seen::Failed, Seen::Missing], [Seen::Invalid; 2]]),
            [Seen::Failed, Seen::Missing]
        );
        assert!(of_seen(&[]).iter().all(|side| side.value() == Some(0.0)));
    }

    #[test]
    fn a_round_of_several_counts_where_all_of_its_slices_do() {
        let rounds = [
            vec![figure(4.0), figure(1.0), figure(9.0)],
            vec![figure(1.0), figure(1.0), figure(4.0)],
            vec![figure(50.0), Seen::Invalid, figure(50.0)],
        ];
        let values: Vec<Option<f64>> = of_rounds(&rounds).iter().map(Seen::value).collect();
        let [Some(first), Some(second), Some(third)] = values[..] else { panic!("{values:?}") };
        assert!(close(first, 2.0) && close(second, 1.0) && close(third, 6.0), "{values:?}");
        let lost = of_rounds(&rounds[1..].iter().rev().chain(&rounds[2..]).cloned().collect::<Vec<_>>());
        assert_eq!(lost[1], Seen::Invalid);
        assert!(close(lost[0].value().unwrap(), libm::cbrt(2500.0)), "all rounds of the others count");
        assert_eq!(of_rounds(&[]), []);
    }

    #[test]
    fn levels_by_hand_of_equal_blocks() {
        // Means 2, 4, 9; squares within 2, 2, 8: 12 / 3 = 4. Between: grand mean 5, 2 · (9 + 1 + 16) / 2 = 26; (26 − 4) / 2 = 11.
        let levels = Levels::of(&[vec![1.0, 3.0], vec![3.0, 5.0], vec![7.0, 11.0]]).unwrap();
        assert_eq!((levels.blocks, levels.pairs), (3, 6));
        assert!(close(levels.within, 2.0) && close(levels.between.unwrap(), sqrt(11.0)), "{levels:?}");
        // About zero: (4 + 16 + 81) / 3 − 4 / 2.
        assert!(close(levels.between_about_zero, sqrt(101.0 / 3.0 - 2.0)), "{levels:?}");
        assert!(
            close(levels.of_block(4), sqrt(12.0)) && close(levels.share_between(4).unwrap(), 11.0 / 12.0)
        );
    }

    #[test]
    fn levels_by_hand_of_unequal_blocks() {
        // Means 2 and 6; squares within 2 and 8 + 0 + 8: 18 / 3 = 6. Grand mean 22 / 5 = 4.4; between 2 · 5.76 + 3 · 2.56 = 19.2.
        // The size is 5 − 13 / 5 = 2.4, so (19.2 − 6) / 2.4 = 5.5.
        let levels = Levels::of(&[vec![1.0, 3.0], vec![6.0 - sqrt(8.0), 6.0, 6.0 + sqrt(8.0)]]).unwrap();
        assert!(close(levels.within, sqrt(6.0)) && close(levels.between.unwrap(), sqrt(5.5)), "{levels:?}");
    }

    #[test]
    fn what_slices_explain_is_not_between_starts() {
        let levels = Levels::of(&[vec![-1.0, 1.0], vec![-2.0, 2.0]]).unwrap();
        assert_eq!((levels.between, levels.share_between(2)), (Some(0.0), Some(0.0)));
        assert_eq!(Levels::of(&[vec![1.0], vec![2.0]]), None, "no block has two");
        assert_eq!(Levels::of(&[]), None);
        let one = Levels::of(&[vec![1.0, 3.0]]).unwrap();
        assert_eq!((one.between, one.share_between(2)), (None, None));
        assert!(close(one.of_block(2), 1.0));
        let still = Levels::of(&[vec![0.0; 2], vec![0.0; 2]]).unwrap();
        assert_eq!((still.share_between(2), still.pairs_next(9.0, 16)), (None, 2));
    }

    #[test]
    fn slices_follow_where_the_variance_is_and_what_a_start_costs() {
        let levels = |within, between_about_zero| Levels {
            blocks: 3,
            pairs: 6,
            between: Some(between_about_zero),
            within,
            between_about_zero,
        };
        // √4 · 3 ÷ 1 = 6; √4 · 2.6 = 5.2, which is 6 as an even number.
        assert_eq!([3.0, 2.6, 0.1].map(|within| levels(within, 1.0).pairs_next(4.0, 16)), [6, 6, 2]);
        assert_eq!([5, 4, 0].map(|most| levels(3.0, 1.0).pairs_next(4.0, most)), [4, 4, 2]);
        assert_eq!(levels(1.0, 0.0).pairs_next(4.0, 1_000), 16, "starts do not differ");
        assert_eq!(levels(1.0, 1.0).pairs_next(f64::NAN, 16), 2);
    }

    #[test]
    fn calling_b_a_in_a_block_does_not_change_how_many_slices_follow() {
        let blocks = [vec![0.02, 0.05, 0.01], vec![-0.04, -0.02], vec![0.03, 0.01, 0.02, 0.0]];
        let turned = [blocks[0].clone(), blocks[1].iter().map(|pair| -pair).collect(), blocks[2].clone()];
        let of = |blocks: &[Vec<f64>]| Levels::of(blocks).unwrap();
        assert!(close(of(&blocks).between_about_zero, of(&turned).between_about_zero));
        assert!(of(&blocks).between != of(&turned).between);
    }
}
