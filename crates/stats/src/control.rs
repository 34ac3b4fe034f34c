//! Control variate: CPU time taken by other processes, which explains part of the variance between slices and depends on neither
//! system.
//!
//! Regresses the log ratio of a pair of slices, within blocks, on the difference in CPU time that others took during its two slices
//! (Lavenberg and Welch, *A perspective on the use of control variables*, Management Science 27, 1981). Swapping A and B in a block
//! changes the sign of both, so the slope is unchanged, and the test over blocks stays exact.

use alloc::vec::Vec;

use crate::slices::Pair;

/// Smallest share of the within-block variance that the control must explain to be applied.
const EXPLAINED_MIN: f64 = 0.2;
/// Smallest number of residual degrees of freedom.
const FREEDOM_MIN: usize = 3;

/// Effect of other processes' CPU time on a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// Change of the log figure per core that others take.
    pub per_core: f64,
    /// Share of the within-block variance of pairs that the control explains.
    pub explained: f64,
}

impl Control {
    /// Fits the control to the pairs of each block. `None` if a pair has no reading, if there are too few pairs, or if the control
    /// explains too little.
    pub(crate) fn of(blocks: &[Vec<Pair>]) -> Option<Self> {
        let (mut pairs, mut groups) = (0, 0);
        let (mut apart_square, mut taken_square, mut product) = (0.0, 0.0, 0.0);
        for block in blocks.iter().filter(|block| !block.is_empty()) {
            let taken = block.iter().map(|pair| pair.taken_apart).collect::<Option<Vec<f64>>>()?;
            let count = block.len() as f64;
            let apart_mean = block.iter().map(|pair| pair.apart).sum::<f64>() / count;
            let taken_mean = taken.iter().sum::<f64>() / count;
            for (pair, taken) in block.iter().zip(taken) {
                let (apart, taken) = (pair.apart - apart_mean, taken - taken_mean);
                apart_square += apart * apart;
                taken_square += taken * taken;
                product += apart * taken;
            }
            (pairs, groups) = (pairs + block.len(), groups + 1);
        }
        let freedom = (pairs - groups).checked_sub(1).filter(|freedom| *freedom >= FREEDOM_MIN)?;
        if taken_square <= 0.0 || apart_square <= 0.0 {
            return None;
        }
        let left = (apart_square - product * product / taken_square).max(0.0) / freedom as f64;
        let explained = 1.0 - left / (apart_square / (freedom + 1) as f64);
        (explained >= EXPLAINED_MIN).then(|| Self { per_core: product / taken_square, explained })
    }

    /// Returns the log ratio of a pair, corrected as if others had taken equal CPU time during both slices.
    pub(crate) fn corrected(&self, pair: &Pair) -> f64 {
        pair.apart - self.per_core * pair.taken_apart.unwrap_or(0.0)
    }

    /// Returns the correction to add to the log ratio of a block.
    pub(crate) fn correction(&self, block: &[Pair]) -> f64 {
        let taken = block.iter().filter_map(|pair| pair.taken_apart).sum::<f64>();
        -self.per_core * taken / block.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn pair(apart: f64, taken: f64) -> Pair {
        Pair { apart, taken_apart: Some(taken) }
    }

    #[test]
    fn slope_within_blocks_matches_hand_computation() {
        // Deviations within the two blocks: (−0.2, 0.4) and (0.2, −0.4); (−0.1, 0.2) and (0.1, −0.2). Product −0.2, sum of squares
        // of CPU time 0.4.
        let blocks = [
            vec![pair(0.8, 0.5), pair(1.2, -0.3)],
            vec![pair(0.9, 0.2), pair(1.1, -0.2)],
            vec![pair(1.0, 0.7); 2],
            vec![pair(2.0, 0.7); 2],
        ];
        let found = Control::of(&blocks).unwrap();
        assert!((found.per_core + 0.5).abs() < 1e-12 && (found.explained - 1.0).abs() < 1e-12, "{found:?}");
        assert!(blocks[0].iter().all(|pair| (found.corrected(pair) - 1.05).abs() < 1e-12));
        assert!((found.correction(&blocks[0]) - 0.05).abs() < 1e-12);
    }

    #[test]
    fn weak_or_unknown_control_changes_nothing() {
        let unrelated = [
            vec![pair(0.8, 0.1), pair(1.2, 0.1), pair(1.0, 0.5), pair(1.0, -0.3)],
            vec![pair(0.9, 0.0), pair(1.1, 0.0)],
        ];
        assert_eq!(Control::of(&unrelated), None);
        let mut unknown = vec![vec![pair(0.8, 0.5), pair(1.2, -0.3)]; 4];
        assert!(Control::of(&unknown).is_some());
        unknown[2][1].taken_apart = None;
        assert_eq!(Control::of(&unknown), None);
        assert_eq!(Control::of(&vec![vec![pair(0.8, 0.5), pair(1.2, -0.3)]; 3]), None, "too few");
        assert_eq!(Control::of(&vec![vec![pair(1.0, 0.0); 4]; 4]), None, "nothing varies");
        assert_eq!(Control::of(&[]), None);
    }

    #[test]
    fn swapping_a_and_b_in_a_block_keeps_the_slope() {
        let blocks = [
            vec![pair(0.8, 0.5), pair(1.3, -0.3), pair(1.0, 0.1)],
            vec![pair(0.9, 0.2), pair(1.1, -0.25)],
            vec![pair(0.7, 0.4), pair(1.2, -0.2)],
        ];
        let mut turned = blocks.clone();
        for pair in &mut turned[1] {
            *pair = Pair { apart: -pair.apart, taken_apart: pair.taken_apart.map(|taken| -taken) };
        }
        let [found, turned] = [Control::of(&blocks), Control::of(&turned)].map(Option::unwrap);
        assert!(
            (found.per_core - turned.per_core).abs() < 1e-12
                && (found.explained - turned.explained).abs() < 1e-12
        );
    }
}
