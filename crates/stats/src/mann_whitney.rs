//! Mann–Whitney test and Hodges–Lehmann shift estimate for two sets of runs that were not made in blocks.

use alloc::vec;
use alloc::vec::Vec;

use crate::bounded::Bounded;
use crate::scale::Scale;
use crate::spread::median_of_sorted;
use crate::walsh::{between, in_order};

/// Comparison of two independent sets of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unpaired {
    /// Number of figures in the first and the second set.
    pub counts: [usize; 2],
    /// Scale of the comparison: ratio or difference.
    pub scale: Scale,
    /// Median of all ratios of a first figure to a second figure, or of all differences (Hodges–Lehmann). `None` if infinite
    /// figures on both sides leave it undefined.
    pub estimate: Option<f64>,
    /// Confidence interval of the estimate at level `confidence`, wherever the figures lie within their bounds. `None` if there are
    /// too few figures for it.
    pub interval: Option<[f64; 2]>,
    /// Coverage probability of the interval. `None` without an interval.
    pub confidence: Option<f64>,
    /// Exact two-sided p-value of the Mann–Whitney test. Figures that are equal, or whose bounds overlap, count against a difference.
    pub p: f64,
    /// Share of pairs in which the first figure as measured is larger; ties count one half.
    pub larger_share: f64,
}

/// Maximum number of figures per side. Further figures are ignored: the exact test takes time with their fourth power, and they add
/// nothing.
pub const FIGURES_MAX: usize = 100;

impl Unpaired {
    /// Compares two sets, with an error rate of the interval of at most `alpha`. Only the first [`FIGURES_MAX`] figures of each
    /// side count. `None` if a side is empty, or if there is no ratio because a figure is not positive.
    pub fn of<Figure: Into<Bounded> + Copy>(
        first: &[Figure],
        second: &[Figure],
        scale: Scale,
        alpha: f64,
    ) -> Option<Self> {
        let [first, second] = [first, second]
            .map(|side| side.iter().take(FIGURES_MAX).map(|of| (*of).into()).collect::<Vec<Bounded>>());
        if first.is_empty() || second.is_empty() {
            return None;
        }
        let pairs = || first.iter().flat_map(|a| second.iter().map(|b| (*a, *b)));
        let measured: Vec<[f64; 2]> =
            pairs().map(|(a, b)| scale.apart((a.value, b.value))).collect::<Option<_>>()?;
        let within: Vec<[f64; 2]> =
            pairs().map(|pair| scale.true_distance_bounds(pair)).collect::<Option<_>>()?;
        let side = |of: &[[f64; 2]], side: usize| in_order(of.iter().map(|bounds| bounds[side]).collect());
        let (least, most) = (side(&within, 0), side(&within, 1));
        let [measured_least, measured_most] = [0, 1].map(|end| side(&measured, end));
        // Counts the figures themselves: the logarithms of nearly equal figures may be equal.
        let count = |is: fn(Bounded, Bounded) -> bool| pairs().filter(|(a, b)| is(*a, *b)).count();
        let (above, below) = (count(|a, b| a.low > b.high), count(|a, b| a.high < b.low));
        let equal = least.len() - above - below;
        let [larger, smaller] = [count(|a, b| a.value > b.value), count(|a, b| a.value < b.value)];
        let shares = distribution(first.len(), second.len());
        let critical = critical(&shares, alpha);
        let ends = critical.map(|critical| [least[critical], most[most.len() - 1 - critical]]);
        Some(Self {
            counts: [first.len(), second.len()],
            scale,
            estimate: between(median_of_sorted(&measured_least)?, median_of_sorted(&measured_most)?)
                .map(|median_of_sorted| scale.estimate(median_of_sorted)),
            interval: ends.map(|ends| ends.map(|end| scale.estimate(end))),
            confidence: critical.map(|critical| 1.0 - two_sided_p(&shares, critical)),
            p: two_sided_p(&shares, above.min(below) + equal),
            larger_share: (1.0 + (larger as f64 - smaller as f64) / least.len() as f64) / 2.0,
        })
    }

    /// Returns whether the interval excludes "no difference".
    pub fn differs(&self) -> bool {
        self.interval.is_some_and(|ends| self.scale.excludes_no_difference(ends))
    }
}

/// Returns the probability that the smaller of the two sums is at most `sum`, two-sided and capped at 1.
fn two_sided_p(shares: &[f64], sum: usize) -> f64 {
    (2.0 * shares.iter().take(sum + 1).sum::<f64>()).min(1.0)
}

/// Returns the largest sum whose two-sided p-value is at most `alpha`.
fn critical(shares: &[f64], alpha: f64) -> Option<usize> {
    let mut share_at_most = 0.0;
    let significant = shares.iter().take_while(|share| {
        share_at_most += **share;
        2.0 * share_at_most <= alpha
    });
    significant.count().checked_sub(1)
}

/// Returns the smallest number of figures of each side at which the test can be significant at `alpha`.
pub(crate) fn least_each(alpha: f64) -> usize {
    let (mut each, mut orders) = (1usize, 2.0);
    while 2.0 / orders > alpha && each < FIGURES_MAX {
        each += 1;
        let size = each as f64;
        orders *= 2.0 * (2.0 * size - 1.0) / size;
    }
    each
}

/// Returns the probability of each sum from 0 to `first` × `second` over all orders of the figures. Recurrence: the largest figure comes
/// from either side in proportion to its size, and if it is from the first, it exceeds all figures of the second.
fn distribution(first: usize, second: usize) -> Vec<f64> {
    // One row per size of the first side, with an entry for each size of the second.
    let mut rows: Vec<Vec<f64>> = (0..=second).map(|_| vec![1.0]).collect();
    for a in 1..=first {
        let mut next: Vec<Vec<f64>> = vec![vec![1.0]];
        for b in 1..=second {
            let mut shares = vec![0.0; a * b + 1];
            let from_first = a as f64 / (a + b) as f64;
            for (sum, share) in rows[b].iter().enumerate() {
                shares[sum + b] += from_first * share;
            }
            for (sum, share) in next[b - 1].iter().enumerate() {
                shares[sum] += (1.0 - from_first) * share;
            }
            next.push(shares);
        }
        rows = next;
    }
    rows.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn least_sizes_match_the_smallest_p() {
        assert_eq!([0.05, 0.025, 0.01].map(least_each), [4, 5, 5], "p 0.0286, 0.0079");
    }

    #[test]
    fn two_and_two_match_hand_computation() {
        // The sums of the 6 orders are 0, 1, 2, 2, 3, 4.
        let shares: Vec<f64> = [1, 1, 2, 1, 1].map(|orders| f64::from(orders) / 6.0).to_vec();
        assert!(distribution(2, 2).iter().zip(&shares).all(|(a, b)| close(*a, *b)));
    }

    #[test]
    fn critical_values_match_the_published_table() {
        for (count, p) in [(4, 0.0286), (5, 0.0079), (6, 0.0022), (8, 0.00016)] {
            assert!((two_sided_p(&distribution(count, count), 0) - p).abs() < 6e-5, "{count}");
        }
        // Mann and Whitney's table at 5 %, two-sided.
        for (first, second, sum) in
            [(4, 4, 0), (5, 5, 2), (6, 6, 5), (8, 8, 13), (10, 10, 23), (4, 8, 4), (20, 20, 127)]
        {
            assert_eq!(critical(&distribution(first, second), 0.05), Some(sum), "{first} {second}");
        }
        assert_eq!(critical(&distribution(3, 3), 0.05), None, "three a side can never say so");
    }

    #[test]
    fn four_per_side_without_overlap_differ() {
        let found =
            Unpaired::of(&[110.0, 112.0, 111.0, 115.0], &[100.0, 101.0, 99.0, 102.0], Scale::Ratio, 0.05)
                .unwrap();
        assert!(found.differs() && close(found.p, 2.0 / 70.0) && close(found.larger_share, 1.0));
        let [low, high] = found.interval.unwrap();
        assert!(
            close(low, 110.0 / 102.0)
                && close(high, 115.0 / 99.0)
                && close(found.confidence.unwrap(), 1.0 - 2.0 / 70.0)
        );
        assert!(Some(low) < found.estimate && found.estimate < Some(high));
        let few = Unpaired::of(&[2.0, 2.0, 2.0], &[1.0, 1.0, 1.0], Scale::Ratio, 0.05).unwrap();
        assert_eq!((few.interval, few.differs(), few.estimate), (None, false, Some(2.0)));
    }

    #[test]
    fn difference_allows_figures_of_zero() {
        let of = |first: &[f64], second: &[f64]| Unpaired::of(first, second, Scale::Difference, 0.05);
        let found = of(&[0.02, 0.03, 0.01, 0.02], &[0.0; 4]).unwrap();
        assert_eq!((found.estimate, found.interval, found.differs()), (Some(0.02), Some([0.01, 0.03]), true));
        assert!(close(found.confidence.unwrap(), 1.0 - 2.0 / 70.0));
        let level = of(&[0.0; 4], &[0.0; 4]).unwrap();
        assert_eq!((level.estimate, level.interval, level.p), (Some(0.0), Some([0.0, 0.0]), 1.0));
        assert_eq!(of(&[1.0; 3], &[0.0; 3]).unwrap().interval, None);
        assert_eq!((of(&[], &[0.0]), of(&[f64::NAN], &[0.0])), (None, None));
        let never = of(&[f64::INFINITY; 4], &[f64::INFINITY, 1.0, 2.0, 3.0]).unwrap();
        assert_eq!(
            (never.estimate, never.interval),
            (Some(f64::INFINITY), Some([f64::NEG_INFINITY, f64::INFINITY]))
        );
    }

    #[test]
    fn ties_speak_against_a_difference() {
        let found = Unpaired::of(&[2.0, 2.0, 2.0, 1.0], &[1.0, 1.0, 1.0, 1.0], Scale::Ratio, 0.05).unwrap();
        assert!(!found.differs() && found.p > 0.05);
        let same = Unpaired::of(&[3.0; 5], &[3.0; 5], Scale::Ratio, 0.05).unwrap();
        assert_eq!(
            (same.estimate, same.p, same.larger_share, same.interval),
            (Some(1.0), 1.0, 0.5, Some([1.0, 1.0]))
        );
    }

    #[test]
    fn no_result_without_figures() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Unpaired::of(&[1.0, bad], &[1.0], Scale::Ratio, 0.05), None);
        }
        assert_eq!(Unpaired::of(&[], &[1.0], Scale::Ratio, 0.05), None);
        let many = Unpaired::of(&[1.0; 1_000], &[2.0; 4], Scale::Ratio, 0.05).unwrap();
        assert_eq!(many.counts, [FIGURES_MAX, 4]);
    }

    proptest! {
        #[test]
        fn interval_and_test_agree_unpaired(first in prop::collection::vec(1u32..20, 4..9),
                                          second in prop::collection::vec(1u32..20, 4..9)) {
            let figures = |side: &[u32]| side.iter().map(|figure| f64::from(*figure)).collect::<Vec<f64>>();
            let (first, second) = (figures(&first), figures(&second));
            let found = Unpaired::of(&first, &second, Scale::Ratio, 0.05).unwrap();
            prop_assert_eq!(found.differs(), found.p <= 0.05);
            let turned = Unpaired::of(&second, &first, Scale::Ratio, 0.05).unwrap();
            prop_assert!(close(found.estimate.unwrap() * turned.estimate.unwrap(), 1.0) && close(found.p, turned.p));
        }

        #[test]
        fn distribution_sums_to_one_and_is_symmetric_unpaired(first in 1usize..12, second in 1usize..12) {
            let shares = distribution(first, second);
            prop_assert!(close(shares.iter().sum::<f64>(), 1.0));
            prop_assert!(shares.iter().zip(shares.iter().rev()).all(|(a, b)| close(*a, *b)));
        }
    }
}
