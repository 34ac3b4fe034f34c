//! Effect size of two variants over common blocks: an estimate with its interval, without a verdict.

use crate::compare::walsh_averages;
use crate::holm::Paired;

/// Effect size of the first variant relative to the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockEffect {
    /// Number of leading blocks that the estimate covers.
    pub blocks: usize,
    /// Ratio of the first to the second, or first minus second (Hodges–Lehmann estimate).
    pub estimate: f64,
    /// Confidence interval at level `confidence`, wherever the figures lie within their bounds. `None` before the first look.
    pub interval: Option<[f64; 2]>,
    /// Coverage probability of the interval. `None` without an interval.
    pub confidence: Option<f64>,
    /// Number of blocks that the first look needs. `None` if it has been reached.
    pub needed: Option<u32>,
}

impl BlockEffect {
    /// Estimates the effect, with an interval whose 5 % error rate is shared by `family` comparisons. `None` without figures, if a
    /// figure is not a number, or if one is not positive and figures are compared by ratio.
    pub fn of(paired: &Paired<'_>, family: u32) -> Option<Self> {
        let scale = paired.matters.scale;
        let look = paired.look(family);
        let blocks = look.map_or(paired.pairs.len(), |look| look.blocks as usize);
        let [measured, within] = walsh_averages(&paired.pairs[..blocks], scale)?;
        let interval = look.ok().and_then(|look| within.interval(look.critical));
        let interval = interval.map(|ends| ends.map(|end| scale.estimate(end)));
        let confidence = interval.and(look.ok()).map(|look| look.confidence());
        let estimate = scale.estimate(measured.center()?);
        estimate.is_finite().then_some(Self { blocks, estimate, interval, confidence, needed: look.err() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    use crate::bounded::Bounded;
    use crate::compare::Discards;
    use crate::scale::{MinEffect, Scale};

    fn in_blocks(scale: Scale, pairs: &[(f64, f64)], family: u32) -> Option<BlockEffect> {
        let pairs: Vec<(Bounded, Bounded)> = pairs.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect();
        let (attainable, discards, matters) =
            (pairs.len(), Discards::default(), MinEffect { scale, size: 0.0 });
        BlockEffect::of(&Paired { pairs: &pairs, attainable, discards, extensions: 0, matters }, family)
    }

    const LEVEL: [f64; 8] = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 99.8, 100.1];

    #[test]
    fn ratio_and_difference_have_the_interval_of_their_look() {
        let slower: Vec<(f64, f64)> = LEVEL.iter().map(|figure| (figure * 0.9, *figure)).collect();
        let found = in_blocks(Scale::Ratio, &slower, 1).unwrap();
        let [low, high] = found.interval.unwrap();
        assert!((found.estimate - 0.9).abs() < 1e-9 && low <= 0.9 + 1e-9 && high >= 0.9 - 1e-9, "{found:?}");
        assert!(found.confidence.unwrap() > 0.95 && found.blocks == 8, "{found:?}");
        let none = [(0.0, 0.0); 8];
        assert_eq!(in_blocks(Scale::Ratio, &none, 1), None);
        assert_eq!(in_blocks(Scale::Difference, &none, 1).unwrap().interval, Some([0.0, 0.0]));
    }

    #[test]
    fn too_few_blocks_give_an_estimate_and_the_needed_number() {
        let few = [(90.0, 100.0); 3];
        let found = in_blocks(Scale::Ratio, &few, 1).unwrap();
        assert_eq!((found.interval, found.needed), (None, Some(6)));
        assert_eq!(in_blocks(Scale::Ratio, &[], 1), None);
        assert_eq!(in_blocks(Scale::Difference, &[(f64::NAN, 1.0); 8], 1), None);
    }

    #[test]
    fn family_widens_intervals() {
        let noisy: Vec<(f64, f64)> =
            (0..24).map(|block| (100.0 + f64::from(block * 7 % 24), 100.0)).collect();
        let width = |family| {
            let [low, high] = in_blocks(Scale::Ratio, &noisy, family).unwrap().interval.unwrap();
            high - low
        };
        assert!(width(6) > width(1));
    }
}
