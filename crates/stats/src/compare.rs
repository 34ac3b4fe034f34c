//! Two variants over the blocks that both were measured in: by which ratio they differ, and whether that can be said.

use alloc::vec::Vec;

use libm::{exp, log, log1p};

use crate::look::{Look, look_at};
use crate::signed_rank::p_value;
use crate::walsh::Walsh;

/// One variant against another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Blocks in which both have a figure.
    pub common: usize,
    /// Over how many of these, the first ones, everything below was worked out.
    pub blocks: usize,
    /// In how many of them the figure of the first was larger.
    pub larger: usize,
    /// The figure of the first over that of the second; `None` if none can be made.
    pub ratio: Option<f64>,
    /// What the ratio lies in with a confidence of `confidence`; `None` without a look.
    pub interval: Option<[f64; 2]>,
    /// Among how many comparisons its error rate is shared; 1: it is alone.
    pub family: u32,
    /// The chance that the interval covers the true ratio.
    pub confidence: Option<f64>,
    /// Of Wilcoxon's signed-rank test, two-sided and exact; `None` without a look.
    pub p: Option<f64>,
    /// What can be said.
    pub verdict: Verdict,
}

/// What a comparison says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// There is a difference.
    Differs {
        /// Whether the estimate is smaller than what matters: real, and of no account.
        below_matters: bool,
    },
    /// If there is a difference, it is smaller than what matters.
    Equivalent,
    /// Neither can be said.
    Inconclusive,
    /// More requests fail on one side: being ahead with more errors is not being better, and being level is not being equal.
    MoreErrors(MoreErrors),
    /// Nothing may be said.
    None(NoVerdict),
}

/// Errors that stand before any figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoreErrors {
    /// Whether it is the first that has them.
    pub of_first: bool,
    /// Its share of errors over all runs, less that of the other.
    pub gap: f64,
    /// Whether it surely is more than may be; if not, it could not be ruled out, and more blocks may.
    pub is_shown: bool,
}

/// Why nothing may be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoVerdict {
    /// So few common blocks can never give a verdict, or may not yet.
    TooFewBlocks {
        /// There are so many.
        common: usize,
        /// So many can.
        needed: u32,
    },
    /// A figure is zero or below: no ratio can be made.
    NoRatio,
    /// Many more runs of one were thrown away than of the other; what is left is a biased choice.
    UnevenDiscards(Discards),
}

/// Invalid runs of the two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discards {
    /// Of the first.
    pub first: usize,
    /// Of the second.
    pub second: usize,
}

/// From this difference on, throwing away is choosing.
pub(crate) const DISCARDS_APART: usize = 3;

/// Compares the figures of two variants, `pairs` in order of their blocks, where ratios between 1 ÷ (1 + `matters`) and
/// 1 + `matters` do not matter. `attainable` is how many such pairs there can ever be: see [`look_at`].
pub fn compare(pairs: &[(f64, f64)], attainable: usize, matters: f64, discards: Discards) -> Comparison {
    compare_in(1, look_at(pairs.len(), attainable, 1), pairs, matters, discards)
}

/// As [`compare`], at a look that has the part of the error rate that one of a family of so many comparisons has.
pub(crate) fn compare_in(
    family: u32,
    look: Result<Look, u32>,
    pairs: &[(f64, f64)],
    matters: f64,
    discards: Discards,
) -> Comparison {
    let blocks = look.map_or(pairs.len(), |look| look.blocks as usize);
    let judged = &pairs[..blocks];
    let larger = judged.iter().filter(|(first, second)| first > second).count();
    let mut comparison = Comparison {
        common: pairs.len(),
        blocks,
        larger,
        ratio: None,
        interval: None,
        family,
        confidence: None,
        p: None,
        verdict: Verdict::None(NoVerdict::NoRatio),
    };
    let Some(logs) = judged.iter().map(|pair| log_ratio(*pair)).collect::<Option<Vec<f64>>>() else {
        return comparison;
    };
    let walsh = Walsh::of(&logs);
    comparison.ratio = walsh.centre().map(exp).filter(|ratio| ratio.is_finite());
    let look = match look {
        Ok(look) => look,
        Err(needed) => {
            comparison.verdict = Verdict::None(NoVerdict::TooFewBlocks { common: pairs.len(), needed });
            return comparison;
        }
    };
    if let (Some(interval), Some(centre)) = (walsh.interval(look.critical), walsh.centre()) {
        comparison.interval = Some(interval.map(exp)).filter(|ends| ends.iter().all(|end| end.is_finite()));
        comparison.confidence = Some(look.confidence());
        comparison.p = Some(p_value(look.blocks, walsh.signed_rank_sum()));
        comparison.verdict = judge(interval, centre, log1p(matters.max(0.0)));
    }
    if discards.first.abs_diff(discards.second) >= DISCARDS_APART {
        comparison.verdict = Verdict::None(NoVerdict::UnevenDiscards(discards));
    }
    comparison
}

/// A verdict on logarithms: the interval excludes zero exactly when the test finds a difference.
fn judge([low, high]: [f64; 2], centre: f64, matters: f64) -> Verdict {
    if low > 0.0 || high < 0.0 {
        Verdict::Differs { below_matters: centre.abs() < matters }
    } else if -matters < low && high < matters {
        Verdict::Equivalent
    } else {
        Verdict::Inconclusive
    }
}

/// Whether a ratio can be made of it.
pub(crate) fn is_figure(figure: &f64) -> bool {
    *figure > 0.0 && figure.is_finite()
}

/// `None` if one of them is no figure.
pub(crate) fn log_ratio((first, second): (f64, f64)) -> Option<f64> {
    (is_figure(&first) && is_figure(&second)).then(|| log(first) - log(second))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    const NONE: Discards = Discards { first: 0, second: 0 };

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    /// Pairs with these ratios in percent above 1.
    fn pairs(percent: &[f64]) -> Vec<(f64, f64)> {
        let sizes = [700.0, 720.0, 650.0, 710.0].into_iter().cycle();
        sizes.zip(percent).map(|(size, percent)| (size * (1.0 + percent / 100.0), size)).collect()
    }

    #[test]
    fn eight_blocks_that_agree_differ() {
        let found = compare(&pairs(&[12.0, 11.0, 13.0, 12.5, 8.0, 15.0, 12.2, 11.8]), 8, 0.03, NONE);
        assert_eq!(found.verdict, Verdict::Differs { below_matters: false });
        assert_eq!((found.common, found.blocks, found.larger), (8, 8, 8));
        let [low, high] = found.interval.unwrap();
        // With a critical value of 0 the interval goes from the least to the most.
        assert!(close(low, 1.08) && close(high, 1.15), "{low} {high}");
        assert!(close(found.p.unwrap(), 0.0078125) && close(found.confidence.unwrap(), 1.0 - 0.0078125));
        assert!((found.ratio.unwrap() - 1.12).abs() < 0.003);
    }

    #[test]
    fn one_block_against_seven_is_not_enough_at_eight() {
        let found = compare(&pairs(&[12.0, 11.0, 13.0, 12.5, -0.5, 15.0, 12.2, 11.8]), 8, 0.03, NONE);
        assert_eq!(found.verdict, Verdict::Inconclusive);
        assert_eq!(found.larger, 7);
    }

    #[test]
    fn small_differences_both_ways_are_equivalent() {
        let found = compare(&pairs(&[1.0, -1.0, 0.5, -0.2, 0.3, -2.0, 2.5, 0.1]), 8, 0.03, NONE);
        assert_eq!(found.verdict, Verdict::Equivalent);
        let stricter = compare(&pairs(&[1.0, -1.0, 0.5, -0.2, 0.3, -2.0, 2.5, 0.1]), 8, 0.02, NONE);
        assert_eq!(stricter.verdict, Verdict::Inconclusive);
    }

    #[test]
    fn a_real_difference_may_be_of_no_account() {
        let found = compare(&pairs(&[1.0, 1.1, 0.9, 1.2, 1.0, 0.8, 1.3, 1.1]), 8, 0.03, NONE);
        assert_eq!(found.verdict, Verdict::Differs { below_matters: true });
    }

    #[test]
    fn six_blocks_decide_only_where_no_more_can_come() {
        let six = pairs(&[5.0, 6.0, 7.0, 5.5, 6.5, 7.5]);
        assert_eq!(compare(&six, 6, 0.03, NONE).verdict, Verdict::Differs { below_matters: false });
        let waiting = compare(&six, 8, 0.03, NONE);
        assert_eq!(waiting.verdict, Verdict::None(NoVerdict::TooFewBlocks { common: 6, needed: 8 }));
        assert!(waiting.ratio.is_some() && waiting.interval.is_none() && waiting.p.is_none());
        let few = compare(&six[..2], 2, 0.03, NONE);
        assert_eq!(few.verdict, Verdict::None(NoVerdict::TooFewBlocks { common: 2, needed: 6 }));
        assert_eq!(compare(&[], 2, 0.03, NONE).ratio, None);
    }

    #[test]
    fn between_two_looks_the_first_blocks_count() {
        let mut percent = vec![5.0; 8];
        percent.extend([-50.0, -50.0, -50.0]);
        let found = compare(&pairs(&percent), 12, 0.03, NONE);
        assert_eq!((found.common, found.blocks), (11, 8));
        assert_eq!(found.verdict, Verdict::Differs { below_matters: false });
    }

    #[test]
    fn equal_figures_are_equivalent_and_never_differ() {
        let found = compare(&[(5.0, 5.0); 8], 8, 0.03, NONE);
        assert_eq!(found.verdict, Verdict::Equivalent);
        assert_eq!((found.ratio, found.p), (Some(1.0), Some(1.0)));
        // Seven ahead and one level: the level one is not dropped.
        let mut seven = vec![(6.0, 5.0); 7];
        seven.push((5.0, 5.0));
        assert_eq!(compare(&seven, 8, 0.03, NONE).verdict, Verdict::Inconclusive);
    }

    #[test]
    fn without_a_ratio_there_is_no_verdict() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut eight = vec![(6.0, 5.0); 8];
            eight[3].1 = bad;
            let found = compare(&eight, 8, 0.03, NONE);
            assert_eq!((found.verdict, found.ratio), (Verdict::None(NoVerdict::NoRatio), None));
        }
    }

    #[test]
    fn one_sided_throwing_away_is_no_fair_choice() {
        let eight = [(6.0, 5.0); 8];
        let uneven = Discards { first: 0, second: 3 };
        assert_eq!(
            compare(&eight, 8, 0.03, uneven).verdict,
            Verdict::None(NoVerdict::UnevenDiscards(uneven))
        );
        let even = Discards { first: 3, second: 3 };
        assert!(matches!(compare(&eight, 8, 0.03, even).verdict, Verdict::Differs { .. }));
    }

    #[test]
    fn twelve_blocks_by_hand() {
        // Ranks 1 and 7 are negative: the sum is 8, which just suffices at twelve.
        let signed = [-1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -7.0, 8.0, 9.0, 10.0, 11.0, 12.0];
        let of = |signed: &[f64]| signed.iter().map(|rank| (exp(rank / 100.0), 1.0)).collect::<Vec<_>>();
        let found = compare(&of(&signed), 12, 0.001, NONE);
        assert_eq!(found.verdict, Verdict::Differs { below_matters: false });
        assert!((found.p.unwrap() - 0.0122).abs() < 6e-5);
        let mut more = signed;
        (more[0], more[1]) = (1.0, -2.0);
        assert_eq!(compare(&of(&more), 12, 0.001, NONE).verdict, Verdict::Inconclusive, "the sum is 9");
    }

    proptest! {
        #[test]
        fn swapping_the_two_turns_everything_over(figures in prop::collection::vec((1u32..5_000, 1u32..5_000), 0..30),
                                                  planned in 0usize..30) {
            let one: Vec<(f64, f64)> = figures.iter().map(|(a, b)| (f64::from(*a), f64::from(*b))).collect();
            let other: Vec<(f64, f64)> = one.iter().map(|(a, b)| (*b, *a)).collect();
            let (one, other) = (compare(&one, planned, 0.03, NONE), compare(&other, planned, 0.03, NONE));
            prop_assert_eq!(one.verdict, other.verdict);
            prop_assert_eq!(one.p, other.p);
            match (one.ratio, other.ratio) {
                (Some(ratio), Some(turned)) => prop_assert!((ratio * turned - 1.0).abs() < 1e-9),
                (ratio, turned) => prop_assert_eq!(ratio, turned),
            }
            if let (Some([low, high]), Some(ratio)) = (one.interval, one.ratio) {
                prop_assert!(low <= ratio && ratio <= high && low > 0.0);
            }
        }

        #[test]
        fn no_figures_make_it_panic(figures in prop::collection::vec((any::<f64>(), any::<f64>()), 0..30), matters: f64) {
            let found = compare(&figures, figures.len(), matters, NONE);
            prop_assert!(found.ratio.is_none_or(f64::is_finite));
            prop_assert!(found.interval.is_none_or(|ends| ends.iter().all(|end| end.is_finite())));
        }
    }

    #[test]
    fn no_difference_is_seldom_called_one() {
        // Every pattern of signs of eight blocks, equally likely under no difference: two of them are called one.
        let found = (0..256u32).filter(|signs| {
            let percent: Vec<f64> = (0..8u32)
                .map(|block| if signs >> block & 1 == 1 { 1.0 } else { -1.0 } * f64::from(block + 3))
                .collect();
            matches!(compare(&pairs(&percent), 8, 0.0, NONE).verdict, Verdict::Differs { .. })
        });
        assert_eq!(found.count(), 2);
    }
}
