//! Block in progress: variants that still have no figure in it, and the number of attempts for each.

use alloc::vec::Vec;

use super::rows::{Row, usable_figure};
use crate::RunResult;

/// Block in progress.
#[derive(Clone, Debug)]
pub(super) struct Block {
    has: Vec<(usize, RunResult)>,
    /// Variants without a figure, each with the number of attempts.
    missing: Vec<(usize, u32)>,
}

/// Variant that gave no figure in any of its repeated runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lost {
    pub(super) setting: usize,
    /// True if its last run was invalid.
    pub(super) is_invalid: bool,
}

impl Block {
    pub(super) fn of(field: &[usize]) -> Self {
        Self { has: Vec::new(), missing: field.iter().map(|setting| (*setting, 0)).collect() }
    }

    /// Returns the variants to run.
    pub(super) fn missing(&self) -> Vec<usize> {
        self.missing.iter().map(|(setting, _)| *setting).collect()
    }

    pub(super) fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }

    /// Notes the results of the runs. Returns the variants that are given up after `again_max` repeated runs.
    pub(super) fn note(&mut self, said: impl Fn(usize) -> RunResult, again_max: u32) -> Vec<Lost> {
        let (mut missing, mut lost) = (Vec::new(), Vec::new());
        for (setting, tries) in self.missing.drain(..) {
            let seen = said(setting);
            if usable_figure(&seen).is_some() {
                self.has.push((setting, seen));
            } else if tries >= again_max {
                lost.push(Lost { setting, is_invalid: seen == RunResult::Invalid });
            } else {
                missing.push((setting, tries + 1));
            }
        }
        self.missing = missing;
        lost
    }

    /// Returns the results by variant number, for `settings` variants.
    pub(super) fn row(&self, settings: usize) -> Row {
        let mut row = Vec::from_iter(core::iter::repeat_n(None, settings));
        for (setting, seen) in &self.has {
            row[*setting] = Some(*seen);
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURE: RunResult = RunResult::exactly(2.0, 0, 1);

    #[test]
    fn variant_without_figure_is_repeated_then_given_up() {
        let mut block = Block::of(&[0, 2, 3]);
        let said = |setting| if setting == 2 { RunResult::Invalid } else { FIGURE };
        for _ in 0..3 {
            assert_eq!(block.note(said, 3), []);
            assert_eq!((block.missing(), block.is_complete()), (Vec::from([2]), false));
        }
        assert_eq!(block.note(said, 3), [Lost { setting: 2, is_invalid: true }]);
        assert!(block.is_complete());
        assert_eq!(block.row(4), [Some(FIGURE), None, None, Some(FIGURE)]);
    }

    #[test]
    fn figure_without_logarithm_is_missing() {
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut block = Block::of(&[0]);
            block.note(|_| RunResult::exactly(value, 0, 1), 3);
            assert!(!block.is_complete());
        }
    }
}
