//! Carry-over between slices: work that one system leaves behind, or cache contents of the other system that it evicts.

use alloc::vec::Vec;

use libm::log;

use crate::scale::is_figure;
use crate::slices::Slice;
use crate::student::{mean_and_error, quantile};

/// Smallest number of blocks with both kinds of slices for an estimate.
const BLOCKS_MIN: usize = 4;
/// Probability of reporting a carry-over if there is none.
const ALPHA: f64 = 0.01;

/// Carry-over within one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BlockCarryOver {
    /// Mean log figure of slices after the other system, minus that of slices after their own system; summed over both systems.
    sum: f64,
    /// Share of slices that follow the other system; the larger of the two systems' shares.
    share: f64,
}

impl BlockCarryOver {
    /// Measures the carry-over in the slices of a block. `None` if a system lacks one of the two kinds of slices.
    pub(crate) fn of(pairs: &[[Slice; 2]]) -> Option<Self> {
        let (mut sum, mut share) = (0.0, 0.0f64);
        for side in [0, 1] {
            let (mut logs, mut counts) = ([0.0; 2], [0usize; 2]);
            for slice in pairs.iter().map(|pair| pair[side]) {
                let Some(value) = slice.seen.value().filter(is_figure) else { continue };
                let kind = usize::from(slice.is_after_other);
                (logs[kind], counts[kind]) = (logs[kind] + log(value), counts[kind] + 1);
            }
            let [own, other] = counts;
            if own == 0 || other == 0 {
                return None;
            }
            sum += logs[1] / other as f64 - logs[0] / own as f64;
            share = share.max(other as f64 / (own + other) as f64);
        }
        Some(Self { sum, share })
    }
}

/// Difference between slices that follow the other system and slices that follow their own, averaged over both systems.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CarryOver {
    /// Difference of the mean log figures. Negative if figures are lower after the other system.
    pub effect: f64,
    /// 99 % confidence interval of `effect`, by Student's t over the blocks.
    pub interval: [f64; 2],
    /// True if `interval` excludes 0.
    pub is_found: bool,
    /// Largest bias of the log ratio if only one system is affected. Opposite effects of equal size on the two systems cancel out
    /// in `effect`, and are not detected.
    pub bias_most: f64,
}

impl CarryOver {
    /// Estimates the carry-over from all blocks. `None` if fewer than [`BLOCKS_MIN`] blocks have both kinds of slices.
    pub(crate) fn of(blocks: &[Option<BlockCarryOver>]) -> Option<Self> {
        let blocks: Vec<BlockCarryOver> = blocks.iter().copied().flatten().collect();
        let sums: Vec<f64> = blocks.iter().map(|block| block.sum).collect();
        let [sum, error] = mean_and_error(&sums).filter(|_| sums.len() >= BLOCKS_MIN)?;
        let half = quantile(ALPHA, sums.len() - 1) * error;
        let share = blocks.iter().map(|block| block.share).sum::<f64>() / blocks.len() as f64;
        Some(Self {
            effect: sum / 2.0,
            interval: [(sum - half) / 2.0, (sum + half) / 2.0],
            is_found: sum.abs() > half,
            bias_most: share * (sum.abs() + half),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_result::RunResult;
    use libm::exp;

    /// Returns a block A B B A with the given log figures.
    fn block([a, b, b_again, a_again]: [f64; 4]) -> Option<BlockCarryOver> {
        let slice = |apart: f64, is_after_other| Slice {
            seen: RunResult::exactly(exp(apart), 0, 1),
            is_after_other,
            taken_cores: None,
        };
        BlockCarryOver::of(&[
            [slice(a, false), slice(b, true)],
            [slice(a_again, true), slice(b_again, false)],
        ])
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn sums_effect_over_both_systems() {
        // B loses 0.2 after A; A loses 0.1 after B.
        let carried = block([1.0, 0.3, 0.5, 0.9]).unwrap();
        assert!(close(carried.sum, -0.3) && close(carried.share, 0.5), "{carried:?}");
        let warms = block([1.0, 0.5, 0.6, 1.1]).unwrap();
        assert!(close(warms.sum, 0.0), "both are better in their second slice: {warms:?}");
        let lost = Slice { seen: RunResult::Invalid, is_after_other: true, taken_cores: None };
        assert_eq!(BlockCarryOver::of(&[[lost, lost]]), None);
    }

    #[test]
    fn consistent_effect_is_found_and_bounds_bias() {
        let blocks = [-0.20, -0.22, -0.18, -0.20].map(|lost| block([1.0, lost, 0.0, 1.0]));
        let found = CarryOver::of(&blocks).unwrap();
        // Standard error 0.0163 ÷ 2; t of three degrees at 1 % is 5.841.
        let half = 5.841 * (0.0008f64 / 3.0 / 4.0).sqrt();
        assert!(found.is_found && close(found.effect, -0.1), "{found:?}");
        assert!((found.interval[1] - (-0.2 + half) / 2.0).abs() < 1e-5, "{found:?}");
        assert!((found.bias_most - 0.5 * (0.2 + half)).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn inconsistent_effect_is_not_found() {
        let blocks = [-0.2, 0.22, -0.18, 0.2].map(|lost| block([1.0, lost, 0.0, 1.0]));
        assert!(!CarryOver::of(&blocks).unwrap().is_found);
        assert_eq!(CarryOver::of(&blocks[..3]), None, "too few");
        assert!(!CarryOver::of(&[block([1.0; 4]); 4]).unwrap().is_found, "nothing at all");
        assert!(CarryOver::of(&[block([1.0, 0.5, 1.0, 1.0]); 4]).unwrap().is_found, "without any error");
    }
}
