//! Compares two variants over the blocks in which both were measured: effect size, interval, and verdict.

use alloc::vec::Vec;

use libm::log;

use crate::bounded::Bounded;
use crate::look::{Look, look_at};
use crate::scale::{MinEffect, Scale};
use crate::signed_rank::p_value;
use crate::walsh::Walsh;

/// Comparison of the first variant with the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Number of blocks in which both variants have a figure.
    pub common: usize,
    /// Number of leading common blocks that the fields below are computed from.
    pub blocks: usize,
    /// Number of blocks, out of `blocks`, in which the first variant has the larger figure, wherever the figures of both lie within their
    /// bounds.
    pub larger: usize,
    /// Scale of the comparison: ratio or difference.
    pub scale: Scale,
    /// Hodges–Lehmann estimate of the first variant relative to the second, from the measured figures. `None` if it is undefined. A
    /// difference is infinite if most blocks have an infinite figure.
    pub estimate: Option<f64>,
    /// Confidence interval of the estimate at level `confidence`, wherever the figures lie within their bounds. `None` before the
    /// first look. An end is infinite, or 0 for a ratio, if nothing limits it.
    pub interval: Option<[f64; 2]>,
    /// Like `interval`, if the measured figures were exact.
    pub measured_interval: Option<[f64; 2]>,
    /// Number of comparisons that share the error rate; 1 for a single comparison.
    pub family: u32,
    /// Coverage probability of the interval. `None` without an interval.
    pub confidence: Option<f64>,
    /// Two-sided p-value of the exact signed-rank test, the largest that the bounds allow. `None` before the first look.
    pub p: Option<f64>,
    /// Verdict on the difference.
    pub verdict: Verdict,
    /// True if the verdict is open only because of the bounds: the measured figures alone would be conclusive. More blocks with equally
    /// wide bounds change nothing.
    pub is_open_by_bounds: bool,
}

/// Result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The difference is significant.
    Differs {
        /// True if the estimate is below the smallest difference that matters.
        below_matters: bool,
    },
    /// The interval lies within the smallest difference that matters.
    Equivalent,
    /// The interval includes both a difference that matters and one that does not.
    Inconclusive,
    /// One variant has more errors, which rules out calling it better or equal.
    MoreErrors(MoreErrors),
    /// No verdict is possible.
    None(NoVerdict),
}

/// Excess of errors of one variant. It takes precedence over the comparison of figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoreErrors {
    /// True if the first variant has more errors.
    pub of_first: bool,
    /// Error share of this variant over all runs, minus that of the other variant.
    pub gap: f64,
    /// True if the excess is significantly above [`crate::ERRORS_MARGIN`]. If false, it is only not ruled out, and more blocks may
    /// rule it out.
    pub is_shown: bool,
}

/// Reason why there is no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoVerdict {
    /// There are too few common blocks for a verdict, so far or at all.
    TooFewBlocks {
        /// Number of common blocks.
        common: usize,
        /// Number of blocks that the first look needs.
        needed: u32,
    },
    /// A figure is zero or negative, so there is no ratio.
    NoRatio,
    /// One variant lost many more runs than the other, so the remaining runs are a biased sample.
    UnevenDiscards(Discards),
}

/// Number of lost runs of each variant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discards {
    /// Lost runs of the first variant.
    pub first: usize,
    /// Lost runs of the second variant.
    pub second: usize,
}

/// Smallest difference in lost runs that is treated as selection bias.
pub(crate) const DISCARD_DIFFERENCE_MIN: usize = 3;

impl Comparison {
    /// Returns whether the first variant has the larger figure, by the estimate. `None` if both are equal, or if there is no estimate.
    pub fn is_first_larger(&self) -> Option<bool> {
        self.estimate
            .filter(|estimate| *estimate != self.scale.none())
            .map(|estimate| estimate > self.scale.none())
    }

    /// Returns whether slices are conclusive, but the first slices of the blocks do not confirm their verdict, so it is withheld.
    pub fn is_withheld(&self) -> bool {
        let is_conclusive = self.interval.is_some_and(|ends| self.scale.excludes_no_difference(ends));
        is_conclusive && self.verdict == Verdict::Inconclusive
    }

    /// Widens the interval by `by` at both ends on the log scale, and judges it again. Drops the p-value, which would be too small.
    pub(crate) fn widened(self, by: f64, matters: MinEffect) -> Self {
        let (Some(interval), Some(measured), Some(estimate)) =
            (self.interval, self.measured_interval, self.estimate)
        else {
            return self;
        };
        if self.scale != Scale::Ratio || matches!(self.verdict, Verdict::None(_)) {
            return self;
        }
        let [wide, measured] = [interval, measured].map(|[low, high]| Interval {
            ends: [log(low) - by, log(high) + by],
            center: Some(log(estimate)),
        });
        let mut found = Self { p: None, ..self };
        found.note(wide, measured, matters);
        found
    }

    /// Sets the interval within the bounds and the interval of the measured figures, and judges both.
    fn note(&mut self, within: Interval, measured: Interval, matters: MinEffect) {
        let estimates = |interval: Interval| {
            let ends = interval.ends.map(|end| self.scale.estimate(end));
            Some(ends).filter(|ends| ends.iter().all(|end| !end.is_nan()))
        };
        (self.interval, self.measured_interval) = (estimates(within), estimates(measured));
        let [verdict, of_measured] = [within, measured].map(|interval| interval.judge(matters.distance()));
        self.verdict = verdict;
        self.is_open_by_bounds = verdict == Verdict::Inconclusive && of_measured != Verdict::Inconclusive;
    }
}

/// Compares two variants. `pairs` are their figures in block order, `matters` is the smallest difference that matters, and
/// `attainable` is the largest number of pairs there can be: see [`look_at`].
pub fn compare<Figure: Into<Bounded> + Copy>(
    pairs: &[(Figure, Figure)],
    attainable: usize,
    matters: MinEffect,
    discards: Discards,
) -> Comparison {
    let pairs: Vec<(Bounded, Bounded)> = pairs.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect();
    compare_in_family(1, look_at(pairs.len(), attainable, 1), &pairs, matters, discards)
}

/// Like [`compare`], at a given look, as one of `family` comparisons that share the error rate.
pub(crate) fn compare_in_family(
    family: u32,
    look: Result<Look, u32>,
    pairs: &[(Bounded, Bounded)],
    matters: MinEffect,
    discards: Discards,
) -> Comparison {
    let scale = matters.scale;
    let blocks = look.map_or(pairs.len(), |look| look.blocks as usize);
    let judged = &pairs[..blocks];
    let larger = judged.iter().filter(|(first, second)| first.low > second.high).count();
    let mut comparison = Comparison {
        common: pairs.len(),
        blocks,
        larger,
        scale,
        estimate: None,
        interval: None,
        measured_interval: None,
        family,
        confidence: None,
        p: None,
        verdict: Verdict::None(NoVerdict::NoRatio),
        is_open_by_bounds: false,
    };
    let Some([measured, within]) = walsh_averages(judged, scale) else { return comparison };
    let is_known = |estimate: &f64| estimate.is_finite() || scale == Scale::Difference && !estimate.is_nan();
    comparison.estimate = measured.center().map(|center| scale.estimate(center)).filter(is_known);
    let look = match look {
        Ok(look) => look,
        Err(needed) => {
            comparison.verdict = Verdict::None(NoVerdict::TooFewBlocks { common: pairs.len(), needed });
            return comparison;
        }
    };
    let interval =
        |walsh: &Walsh| Some(Interval { ends: walsh.interval(look.critical)?, center: walsh.center() });
    if let (Some(of_within), Some(of_measured)) = (interval(&within), interval(&measured)) {
        comparison.note(of_within, of_measured, matters);
        comparison.confidence = Some(look.confidence());
        comparison.p = Some(p_value(look.blocks, within.signed_rank_sum()));
    }
    if discards.first.abs_diff(discards.second) >= DISCARD_DIFFERENCE_MIN {
        comparison.verdict = Verdict::None(NoVerdict::UnevenDiscards(discards));
        comparison.is_open_by_bounds = false;
    }
    comparison
}

/// Returns the Walsh averages of the measured figures, and of their bounds. `None` if a figure is not valid.
pub(crate) fn walsh_averages(pairs: &[(Bounded, Bounded)], scale: Scale) -> Option<[Walsh; 2]> {
    let measured = pairs.iter().map(|(a, b)| scale.apart((a.value, b.value)));
    let within = pairs.iter().map(|pair| scale.true_distance_bounds(*pair));
    let (measured, within): (Option<Vec<_>>, Option<Vec<_>>) = (measured.collect(), within.collect());
    Some([Walsh::of_bounds(&measured?), Walsh::of_bounds(&within?)])
}

/// Interval around zero: log ratios, or differences.
#[derive(Clone, Copy, Debug)]
struct Interval {
    ends: [f64; 2],
    /// Estimate, or the bound of it that is nearer to zero. `None` if that may be on either side.
    center: Option<f64>,
}

impl Interval {
    /// Judges the interval. It excludes zero exactly if the test finds a difference.
    fn judge(self, matters: f64) -> Verdict {
        let [low, high] = self.ends;
        if low > 0.0 || high < 0.0 {
            Verdict::Differs { below_matters: self.center.is_some_and(|center| center.abs() < matters) }
        } else if -matters < low && high < matters {
            Verdict::Equivalent
        } else {
            Verdict::Inconclusive
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use libm::exp;
    use proptest::prelude::*;

    const MATTERS: MinEffect = MinEffect::share(0.03);
    const NONE: Discards = Discards { first: 0, second: 0 };

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    /// Returns pairs whose ratios exceed 1 by these percentages.
    fn pairs(percent: &[f64]) -> Vec<(f64, f64)> {
        let sizes = [700.0, 720.0, 650.0, 710.0].into_iter().cycle();
        sizes.zip(percent).map(|(size, percent)| (size * (1.0 + percent / 100.0), size)).collect()
    }

    #[test]
    fn eight_blocks_that_agree_differ() {
        let found = compare(
            &pairs(&[12.0, 11.0, 13.0, 12.5, 8.0, 15.0, 12.2, 11.8]),
            8,
            MinEffect::share(0.03),
            NONE,
        );
        assert_eq!(found.verdict, Verdict::Differs { below_matters: false });
        assert_eq!((found.common, found.blocks, found.larger), (8, 8, 8));
        let [low, high] = found.interval.unwrap();
        // With a critical value of 0, the interval spans all figures.
        assert!(close(low, 1.08) && close(high, 1.15), "{low} {high}");
        assert!(close(found.p.unwrap(), 0.0078125) && close(found.confidence.unwrap(), 1.0 - 0.0078125));
        assert!((found.estimate.unwrap() - 1.12).abs() < 0.003);
    }

    #[test]
    fn seven_of_eight_blocks_are_inconclusive() {
        let found = compare(
            &pairs(&[12.0, 11.0, 13.0, 12.5, -0.5, 15.0, 12.2, 11.8]),
            8,
            MinEffect::share(0.03),
            NONE,
        );
        assert_eq!(found.verdict, Verdict::Inconclusive);
        assert_eq!(found.larger, 7);
    }

    #[test]
    fn possible_bias_widens_the_interval_and_changes_the_verdict() {
        let found = compare(&pairs(&[6.0; 8]), 8, MATTERS, NONE);
        let wider = found.widened(0.02, MATTERS);
        let [low, high] = wider.interval.unwrap();
        assert!(close(low, 1.06 * exp(-0.02)) && close(high, 1.06 * exp(0.02)), "{low} {high}");
        assert_eq!((wider.verdict, wider.p), (found.verdict, None));
        assert_eq!(found.widened(0.07, MATTERS).verdict, Verdict::Inconclusive);
        let equal = compare(&pairs(&[0.0; 8]), 8, MATTERS, NONE);
        assert_eq!(
            [0.02, 0.04].map(|by| equal.widened(by, MATTERS).verdict),
            [Verdict::Equivalent, Verdict::Inconclusive]
        );
        let few = compare(&pairs(&[6.0; 5]), 8, MATTERS, NONE);
        assert_eq!(few.widened(0.1, MATTERS), few, "nothing to be judged");
    }

    #[test]
    fn small_differences_both_ways_are_equivalent() {
        let found =
            compare(&pairs(&[1.0, -1.0, 0.5, -0.2, 0.3, -2.0, 2.5, 0.1]), 8, MinEffect::share(0.03), NONE);
        assert_eq!(found.verdict, Verdict::Equivalent);
        let stricter =
            compare(&pairs(&[1.0, -1.0, 0.5, -0.2, 0.3, -2.0, 2.5, 0.1]), 8, MinEffect::share(0.02), NONE);
        assert_eq!(stricter.verdict, Verdict::Inconclusive);
    }

    #[test]
    fn significant_difference_may_be_below_the_threshold() {
        let found =
            compare(&pairs(&[1.0, 1.1, 0.9, 1.2, 1.0, 0.8, 1.3, 1.1]), 8, MinEffect::share(0.03), NONE);
        assert_eq!(found.verdict, Verdict::Differs { below_matters: true });
    }

    #[test]
    fn six_blocks_decide_only_if_no_more_can_follow() {
        let six = pairs(&[5.0, 6.0, 7.0, 5.5, 6.5, 7.5]);
        assert_eq!(
            compare(&six, 6, MinEffect::share(0.03), NONE).verdict,
            Verdict::Differs { below_matters: false }
        );
        let waiting = compare(&six, 8, MinEffect::share(0.03), NONE);
        assert_eq!(waiting.verdict, Verdict::None(NoVerdict::TooFewBlocks { common: 6, needed: 8 }));
        assert!(waiting.estimate.is_some() && waiting.interval.is_none() && waiting.p.is_none());
        let few = compare(&six[..2], 2, MinEffect::share(0.03), NONE);
        assert_eq!(few.verdict, Verdict::None(NoVerdict::TooFewBlocks { common: 2, needed: 6 }));
        assert_eq!(compare::<f64>(&[], 2, MinEffect::share(0.03), NONE).estimate, None);
    }

    #[test]
    fn between_two_looks_only_the_blocks_of_the_first_count() {
        let mut percent = vec![5.0; 8];
        percent.extend([-50.0, -50.0, -50.0]);
        let found = compare(&pairs(&percent), 12, MinEffect::share(0.03), NONE);
        assert_eq!((found.common, found.blocks), (11, 8));
        assert_eq!(found.verdict, Verdict::Differs { below_matters: false });
    }

    #[test]
    fn equal_figures_are_equivalent_and_never_differ() {
        let found = compare(&[(5.0, 5.0); 8], 8, MinEffect::share(0.03), NONE);
        assert_eq!(found.verdict, Verdict::Equivalent);
        assert_eq!((found.estimate, found.p), (Some(1.0), Some(1.0)));
        // Seven pairs ahead and one tie: the tie is not dropped.
        let mut seven = vec![(6.0, 5.0); 7];
        seven.push((5.0, 5.0));
        assert_eq!(compare(&seven, 8, MinEffect::share(0.03), NONE).verdict, Verdict::Inconclusive);
    }

    #[test]
    fn no_verdict_without_a_ratio() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut eight = vec![(6.0, 5.0); 8];
            eight[3].1 = bad;
            let found = compare(&eight, 8, MinEffect::share(0.03), NONE);
            assert_eq!((found.verdict, found.estimate), (Verdict::None(NoVerdict::NoRatio), None));
        }
    }

    #[test]
    fn no_verdict_if_one_side_lost_many_more_runs() {
        let eight = [(6.0, 5.0); 8];
        let uneven = Discards { first: 0, second: 3 };
        assert_eq!(
            compare(&eight, 8, MinEffect::share(0.03), uneven).verdict,
            Verdict::None(NoVerdict::UnevenDiscards(uneven))
        );
        let even = Discards { first: 3, second: 3 };
        assert!(matches!(compare(&eight, 8, MinEffect::share(0.03), even).verdict, Verdict::Differs { .. }));
    }

    #[test]
    fn twelve_blocks_match_hand_computation() {
        // Ranks 1 and 7 are negative. Their sum of 8 is the critical value for twelve blocks.
        let signed = [-1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -7.0, 8.0, 9.0, 10.0, 11.0, 12.0];
        let of = |signed: &[f64]| signed.iter().map(|rank| (exp(rank / 100.0), 1.0)).collect::<Vec<_>>();
        let found = compare(&of(&signed), 12, MinEffect::share(0.001), NONE);
        assert_eq!(found.verdict, Verdict::Differs { below_matters: false });
        assert!((found.p.unwrap() - 0.0122).abs() < 6e-5);
        let mut more = signed;
        (more[0], more[1]) = (1.0, -2.0);
        assert_eq!(
            compare(&of(&more), 12, MinEffect::share(0.001), NONE).verdict,
            Verdict::Inconclusive,
            "the sum is 9"
        );
    }

    proptest! {
        #[test]
        fn swapping_the_variants_inverts_the_result(figures in prop::collection::vec((1u32..5_000, 1u32..5_000), 0..30),
                                                  planned in 0usize..30) {
            let one: Vec<(f64, f64)> = figures.iter().map(|(a, b)| (f64::from(*a), f64::from(*b))).collect();
            let other: Vec<(f64, f64)> = one.iter().map(|(a, b)| (*b, *a)).collect();
            let (one, other) = (compare(&one, planned, MinEffect::share(0.03), NONE), compare(&other, planned, MinEffect::share(0.03), NONE));
            prop_assert_eq!(one.verdict, other.verdict);
            prop_assert_eq!(one.p, other.p);
            match (one.estimate, other.estimate) {
                (Some(ratio), Some(turned)) => prop_assert!((ratio * turned - 1.0).abs() < 1e-9),
                (ratio, turned) => prop_assert_eq!(ratio, turned),
            }
            if let (Some([low, high]), Some(ratio)) = (one.interval, one.estimate) {
                prop_assert!(low <= ratio && ratio <= high && low > 0.0);
            }
        }

        #[test]
        fn never_panics(figures in prop::collection::vec((any::<f64>(), any::<f64>()), 0..30), matters: f64) {
            let found = compare(&figures, figures.len(), MinEffect::share(matters), NONE);
            prop_assert!(found.estimate.is_none_or(f64::is_finite));
            prop_assert!(found.interval.is_none_or(|ends| ends.iter().all(|end| end.is_finite())));
        }
    }

    const MS_20: MinEffect = MinEffect::difference(20.0);

    #[test]
    fn zero_figures_are_compared_by_difference() {
        let nothing = compare(&[(0.0, 0.0); 8], 8, MS_20, NONE);
        assert_eq!(
            (nothing.verdict, nothing.estimate, nothing.interval),
            (Verdict::Equivalent, Some(0.0), Some([0.0, 0.0]))
        );
        assert_eq!((nothing.p, nothing.larger, nothing.is_first_larger()), (Some(1.0), 0, None));
        let longer: Vec<(f64, f64)> = (0..8).map(|block| (400.0 + f64::from(block), 0.0)).collect();
        let found = compare(&longer, 8, MS_20, NONE);
        assert_eq!(found.verdict, Verdict::Differs { below_matters: false });
        assert_eq!((found.estimate, found.interval), (Some(403.5), Some([400.0, 407.0])));
        assert_eq!(
            compare(&longer, 8, MinEffect::difference(500.0), NONE).verdict,
            Verdict::Differs { below_matters: true }
        );
        // Half of the blocks cost nothing, the others a little.
        let little: Vec<(f64, f64)> = (0..8).map(|block| (f64::from(block % 2) * 5.0, 0.0)).collect();
        assert_eq!(compare(&little, 8, MS_20, NONE).verdict, Verdict::Equivalent);
    }

    #[test]
    fn infinite_figures_are_larger_than_any_and_equal_to_none() {
        let never = [(f64::INFINITY, 900.0); 8];
        let found = compare(&never, 8, MS_20, NONE);
        assert_eq!(found.verdict, Verdict::Differs { below_matters: false });
        assert_eq!((found.estimate, found.interval), (Some(f64::INFINITY), Some([f64::INFINITY; 2])));
        let both = compare(&[(f64::INFINITY, f64::INFINITY); 8], 8, MS_20, NONE);
        assert_eq!((both.verdict, both.estimate), (Verdict::Inconclusive, None), "nobody knows by how much");
        let mut one = [(500.0, 500.0); 8];
        one[3].0 = f64::INFINITY;
        assert_eq!(compare(&one, 8, MS_20, NONE).verdict, Verdict::Inconclusive, "not equivalent");
        assert_eq!(compare(&[(f64::NAN, 1.0); 8], 8, MS_20, NONE).verdict, Verdict::None(NoVerdict::NoRatio));
    }

    proptest! {
        #[test]
        fn swapped_differences_change_sign_and_agree_with_the_test(
            figures in prop::collection::vec((0u32..6, 0u32..6), 0..30),
            endless in prop::collection::vec((any::<bool>(), any::<bool>()), 30),
        ) {
            let of = |figure: u32, is_endless: bool| if is_endless && figure == 5 { f64::INFINITY } else { f64::from(figure) };
            let one: Vec<(f64, f64)> =
                figures.iter().zip(endless).map(|((a, b), (c, d))| (of(*a, c), of(*b, d))).collect();
            let other: Vec<(f64, f64)> = one.iter().map(|(a, b)| (*b, *a)).collect();
            let [found, turned] = [one, other].map(|pairs| compare(&pairs, pairs.len(), MinEffect::difference(1.0), NONE));
            prop_assert_eq!((found.verdict, found.p), (turned.verdict, turned.p));
            prop_assert_eq!(found.estimate.map(|of| found.scale.turned(of)), turned.estimate);
            if let Some(ends) = found.interval {
                prop_assert!(!ends[0].is_nan() && ends[0] <= ends[1]);
                prop_assert_eq!(found.scale.excludes_no_difference(ends), matches!(found.verdict, Verdict::Differs { .. }));
                let is_significant = found.p.zip(found.confidence).is_some_and(|(p, of)| p <= 1.0 - of + 1e-12);
                prop_assert_eq!(found.scale.excludes_no_difference(ends), is_significant, "{:?}", found);
            }
        }
    }

    #[test]
    fn false_positive_rate_at_eight_blocks() {
        // All 256 sign patterns of eight blocks are equally likely without a difference; two of them count as significant.
        let found = (0..256u32).filter(|signs| {
            let percent: Vec<f64> = (0..8u32)
                .map(|block| if signs >> block & 1 == 1 { 1.0 } else { -1.0 } * f64::from(block + 3))
                .collect();
            matches!(
                compare(&pairs(&percent), 8, MinEffect::share(0.0), NONE).verdict,
                Verdict::Differs { .. }
            )
        });
        assert_eq!(found.count(), 2);
    }
}
