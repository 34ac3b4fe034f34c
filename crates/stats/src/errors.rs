//! Errors take precedence over figures: a variant is better only if it is shown not to have more errors.

use alloc::vec::Vec;

use crate::compare::MoreErrors;
use crate::run_result::{RunResult, error_share};
use crate::walsh::Walsh;

/// Largest excess in error share, 0.1 %, that a better figure can make up for.
pub const ERRORS_MARGIN: f64 = 0.001;

/// Difference between the error shares of two variants: first minus second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorGap {
    /// Difference of the error shares over all requests of all runs.
    pub pooled: f64,
    /// Confidence interval of the per-run difference. Every block has equal weight.
    pub interval: [f64; 2],
}

impl ErrorGap {
    /// Computes the gap over blocks in which both have a figure, with the interval for `critical`. `None` if there are too few
    /// blocks.
    pub fn over(blocks: &[[RunResult; 2]], critical: u32) -> Option<Self> {
        let gaps: Vec<f64> = blocks.iter().map(|[a, b]| a.error_share() - b.error_share()).collect();
        let pooled = |side: usize| {
            let (mut all_errors, mut all_planned) = (0u64, 0u64);
            for block in blocks {
                if let RunResult::Figure { errors, planned, .. } = block[side] {
                    all_errors = all_errors.saturating_add(errors);
                    all_planned = all_planned.saturating_add(planned);
                }
            }
            error_share(all_errors, all_planned).unwrap_or(0.0)
        };
        Some(Self { pooled: pooled(0) - pooled(1), interval: Walsh::of(&gaps).interval(critical)? })
    }

    /// Returns the objection against calling the first variant (or the second, if `first` is false) no worse: its errors exceed the other's
    /// by more than [`ERRORS_MARGIN`], or that is not ruled out. `None` if an excess is ruled out.
    pub fn against(&self, first: bool) -> Option<MoreErrors> {
        let [low, high] = self.interval;
        let (gap, low, high) = if first { (self.pooled, low, high) } else { (-self.pooled, -high, -low) };
        let is_ruled_out = high < ERRORS_MARGIN && gap < ERRORS_MARGIN;
        (!is_ruled_out).then_some(MoreErrors { of_first: first, gap, is_shown: low > ERRORS_MARGIN })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn run(errors: u64) -> RunResult {
        RunResult::exactly(1.0, errors, 10_000)
    }

    #[test]
    fn no_errors_give_no_gap() {
        let gap = ErrorGap::over(&[[run(0), run(0)]; 8], 0).unwrap();
        assert_eq!(gap, ErrorGap { pooled: 0.0, interval: [0.0, 0.0] });
        assert_eq!((gap.against(true), gap.against(false)), (None, None));
        assert_eq!(ErrorGap::over(&[], 0), None);
    }

    #[test]
    fn many_errors_on_one_side_are_shown() {
        let gap = ErrorGap::over(&[[run(50), run(3)]; 8], 0).unwrap();
        let more = gap.against(true).unwrap();
        assert!(more.is_shown && more.of_first && (more.gap - 0.0047).abs() < 1e-12);
        assert_eq!(gap.against(false), None);
        let turned = ErrorGap::over(&[[run(3), run(50)]; 8], 0).unwrap();
        assert_eq!(turned.against(false), Some(MoreErrors { of_first: false, ..more }));
    }

    #[test]
    fn one_bad_run_is_not_shown_and_not_ruled_out() {
        let mut blocks = vec![[run(0), run(0)]; 16];
        blocks[5][0] = run(50);
        let early = ErrorGap::over(&blocks[..8], 0).unwrap().against(true).unwrap();
        assert!(!early.is_shown);
        // Over 16 blocks, one bad run changes neither the median nor the sum by 0.1 %.
        assert_eq!(ErrorGap::over(&blocks, 20).unwrap().against(true), None);
        blocks[5][0] = run(5_000);
        let more = ErrorGap::over(&blocks, 20).unwrap().against(true).unwrap();
        assert!(!more.is_shown && more.gap > 0.03);
    }
}
