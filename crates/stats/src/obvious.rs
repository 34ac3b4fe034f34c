//! Early look for an obvious difference: a large one that shows in few blocks.

use core::f64::consts::LN_2;

use libm::exp;

use crate::compare::{Comparison, NoVerdict, Test, Verdict};
use crate::scale::{MinEffect, Scale, log_ratio};
use crate::student::{mean_and_error, p_value, quantile};

/// Number of leading blocks that the early look uses.
pub const OBVIOUS_BLOCKS: usize = 4;
/// Error rate of the early look: the part of 5 % that the later looks leave, which spend 4.25 % together.
const OBVIOUS_ALPHA: f64 = 0.0075;
/// Degrees of freedom of the early look.
const FREEDOM: usize = OBVIOUS_BLOCKS - 1;
/// Smallest factor between two figures that counts as obvious.
pub const OBVIOUS_FACTOR: f64 = 2.0;

/// Tests whether the first blocks show a factor of at least [`OBVIOUS_FACTOR`], by Student's t, whose error rate holds for normal
/// noise. `None` if they do not; the comparison then goes on as if there had been no look.
///
/// A difference this obvious does not need the exact test, which requires at least eight blocks. The factor protects against noise
/// that is not normal: for a false positive, starts that differ by the factor would all have to fall on one side.
pub(crate) fn obvious(pairs: &[(f64, f64)], matters: MinEffect, family: u32) -> Option<Comparison> {
    let judged = pairs.get(..OBVIOUS_BLOCKS).filter(|_| matters.scale == Scale::Ratio)?;
    let mut apart = [0.0; OBVIOUS_BLOCKS];
    for (place, pair) in apart.iter_mut().zip(judged) {
        *place = log_ratio(*pair)?;
    }
    let [mean, error] = mean_and_error(&apart)?;
    let alpha = OBVIOUS_ALPHA / f64::from(family.max(1));
    let half = quantile(alpha, FREEDOM) * error;
    if mean.abs() < LN_2 || mean.abs() <= half {
        return None;
    }
    Some(Comparison {
        common: pairs.len(),
        blocks: OBVIOUS_BLOCKS,
        larger: judged.iter().filter(|(first, second)| first > second).count(),
        scale: matters.scale,
        estimate: Some(exp(mean)),
        interval: Some([exp(mean - half), exp(mean + half)]),
        family,
        confidence: Some(1.0 - alpha),
        p: Some(p_value(mean.abs() / error, FREEDOM)),
        test: Test::Student,
        verdict: Verdict::Differs { below_matters: mean.abs() < matters.distance() },
    })
}

/// True if there are too few blocks for any other look.
pub(crate) fn is_before_a_look(found: &Comparison) -> bool {
    matches!(found.verdict, Verdict::None(NoVerdict::TooFewBlocks { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MATTERS: MinEffect = MinEffect::share(0.03);

    #[test]
    fn four_blocks_match_hand_computation_of_t() {
        // Logs 1, 1.1, 0.9, 1: mean 1, standard deviation √(0.02 ÷ 3) = 0.0816, standard error 0.0408.
        let pairs = [1.0, 1.1, 0.9, 1.0].map(|apart| (exp(apart), 1.0));
        let found = obvious(&pairs, MATTERS, 1).unwrap();
        let half = 0.040_824_829 * quantile(OBVIOUS_ALPHA, 3);
        let [low, high] = found.interval.unwrap();
        assert!((low - exp(1.0 - half)).abs() < 1e-6 && (high - exp(1.0 + half)).abs() < 1e-6);
        assert!((found.estimate.unwrap() - exp(1.0)).abs() < 1e-9);
        // t = 1 ÷ 0.0408 = 24.49, which has p = 0.00015.
        assert!((found.p.unwrap() - 0.000_149).abs() < 2e-6, "{:?}", found.p);
        assert_eq!((found.verdict, found.blocks), (Verdict::Differs { below_matters: false }, 4));
        assert_eq!(obvious(&pairs[..3], MATTERS, 1), None, "too few");
    }

    #[test]
    fn factor_below_two_is_not_obvious() {
        let of = |factor: f64| obvious(&[(factor, 1.0); 4], MATTERS, 1).map(|found| found.p);
        assert_eq!([of(1.99), of(2.01), of(0.49), of(0.51)], [None, Some(Some(0.0)), Some(Some(0.0)), None]);
    }

    #[test]
    fn noisy_difference_is_not_obvious() {
        let pairs = [0.4, 1.6, 2.4, 0.2].map(|apart| (exp(apart), 1.0));
        assert_eq!(obvious(&pairs, MATTERS, 1), None);
        assert_eq!(obvious(&[(0.0, 1.0); 4], MATTERS, 1), None, "no ratio");
        assert_eq!(
            obvious(&[(9.0, 1.0); 4], MinEffect::difference(1.0), 1),
            None,
            "differences have no factor"
        );
        let wide = [0.8, 1.3, 1.5, 1.0].map(|apart| (exp(apart), 1.0));
        assert!(obvious(&wide, MATTERS, 1).is_some() && obvious(&wide, MATTERS, 6).is_none());
    }
}
