//! How far two variants lie apart in the blocks that both were measured in: an estimate with its interval, and no verdict.

use alloc::vec::Vec;

use libm::exp;

use crate::compare::log_ratio;
use crate::holm::Paired;
use crate::walsh::Walsh;

/// How far the first of two variants lies from the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InBlocks {
    /// Over so many blocks, the first ones.
    pub blocks: usize,
    /// The ratio of the first to the second, or the first less the second (Hodges and Lehmann).
    pub estimate: f64,
    /// What it lies in with a confidence of `confidence`; `None` before the first look.
    pub interval: Option<[f64; 2]>,
    /// The chance that the interval covers the true value.
    pub confidence: Option<f64>,
    /// How many blocks the first look takes, where there are fewer.
    pub needed: Option<u32>,
}

impl InBlocks {
    /// The ratio, with an interval that shares 5 % with a family of so many. `None` if a figure is zero or below, or there is none.
    pub fn ratio(paired: &Paired<'_>, family: u32) -> Option<Self> {
        let found = Self::of(paired, family, log_ratio)?;
        let estimate = exp(found.estimate);
        let interval = found.interval.map(|ends| ends.map(exp));
        estimate.is_finite().then_some(Self { estimate, interval, ..found })
    }

    /// The difference, for figures that may be zero. `None` if a figure is no number, or there is none.
    pub fn shift(paired: &Paired<'_>, family: u32) -> Option<Self> {
        Self::of(paired, family, |(first, second)| Some(first - second).filter(|shift| shift.is_finite()))
    }

    fn of(paired: &Paired<'_>, family: u32, apart: impl Fn((f64, f64)) -> Option<f64>) -> Option<Self> {
        let look = paired.look(family);
        let blocks = look.map_or(paired.pairs.len(), |look| look.blocks as usize);
        let apart: Option<Vec<f64>> = paired.pairs[..blocks].iter().map(|pair| apart(*pair)).collect();
        let walsh = Walsh::of(&apart?);
        let interval = look.ok().and_then(|look| walsh.interval(look.critical));
        let confidence = interval.and(look.ok()).map(|look| look.confidence());
        Some(Self { blocks, estimate: walsh.centre()?, interval, confidence, needed: look.err() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Discards;

    fn paired(pairs: &[(f64, f64)]) -> Paired<'_> {
        Paired { pairs, attainable: pairs.len(), discards: Discards::default(), extensions: 0 }
    }

    const LEVEL: [f64; 8] = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 99.8, 100.1];

    #[test]
    fn a_ratio_and_a_difference_have_the_interval_of_their_look() {
        let slower: Vec<(f64, f64)> = LEVEL.iter().map(|figure| (figure * 0.9, *figure)).collect();
        let found = InBlocks::ratio(&paired(&slower), 1).unwrap();
        let [low, high] = found.interval.unwrap();
        assert!((found.estimate - 0.9).abs() < 1e-9 && low <= 0.9 + 1e-9 && high >= 0.9 - 1e-9, "{found:?}");
        assert!(found.confidence.unwrap() > 0.95 && found.blocks == 8, "{found:?}");
        let none = [(0.0, 0.0); 8];
        assert_eq!(InBlocks::ratio(&paired(&none), 1), None);
        assert_eq!(InBlocks::shift(&paired(&none), 1).unwrap().interval, Some([0.0, 0.0]));
    }

    #[test]
    fn too_few_blocks_have_an_estimate_and_say_how_many_it_takes() {
        let few = [(90.0, 100.0); 3];
        let found = InBlocks::ratio(&paired(&few), 1).unwrap();
        assert_eq!((found.interval, found.needed), (None, Some(6)));
        assert_eq!(InBlocks::ratio(&paired(&[]), 1), None);
        assert_eq!(InBlocks::shift(&paired(&[(f64::NAN, 1.0); 8]), 1), None);
    }

    #[test]
    fn a_family_has_wider_intervals() {
        let noisy: Vec<(f64, f64)> =
            (0..24).map(|block| (100.0 + f64::from(block * 7 % 24), 100.0)).collect();
        let width = |family| {
            let [low, high] = InBlocks::ratio(&paired(&noisy), family).unwrap().interval.unwrap();
            high - low
        };
        assert!(width(6) > width(1));
    }
}
