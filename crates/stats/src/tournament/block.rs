//! A block that is being made: who still has no figure in it, and how often that was tried.

use alloc::vec::Vec;

use super::rows::{Row, usable};
use crate::Seen;

/// A block in progress.
#[derive(Clone, Debug)]
pub(super) struct Block {
    has: Vec<(usize, Seen)>,
    /// Who has no figure yet, and after how many tries.
    missing: Vec<(usize, u32)>,
}

/// A setting that was run again and again and gave no figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lost {
    pub(super) setting: usize,
    /// Whether its last run was invalid.
    pub(super) is_invalid: bool,
}

impl Block {
    pub(super) fn of(field: &[usize]) -> Self {
        Self { has: Vec::new(), missing: field.iter().map(|setting| (*setting, 0)).collect() }
    }

    /// The settings that are to be run.
    pub(super) fn missing(&self) -> Vec<usize> {
        self.missing.iter().map(|(setting, _)| *setting).collect()
    }

    pub(super) fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }

    /// Takes in what the runs say; returns who is given up after it was run again `again_max` times.
    pub(super) fn note(&mut self, said: impl Fn(usize) -> Seen, again_max: u32) -> Vec<Lost> {
        let (mut missing, mut lost) = (Vec::new(), Vec::new());
        for (setting, tries) in self.missing.drain(..) {
            let seen = said(setting);
            if usable(&seen).is_some() {
                self.has.push((setting, seen));
            } else if tries >= again_max {
                lost.push(Lost { setting, is_invalid: seen == Seen::Invalid });
            } else {
                missing.push((setting, tries + 1));
            }
        }
        self.missing = missing;
        lost
    }

    /// What each of so many settings said.
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

    const FIGURE: Seen = Seen::Figure { value: 2.0, errors: 0, planned: 1 };

    #[test]
    fn who_has_no_figure_is_run_again_and_given_up_in_the_end() {
        let mut block = Block::of(&[0, 2, 3]);
        let said = |setting| if setting == 2 { Seen::Invalid } else { FIGURE };
        for _ in 0..3 {
            assert_eq!(block.note(said, 3), []);
            assert_eq!((block.missing(), block.is_complete()), (Vec::from([2]), false));
        }
        assert_eq!(block.note(said, 3), [Lost { setting: 2, is_invalid: true }]);
        assert!(block.is_complete());
        assert_eq!(block.row(4), [Some(FIGURE), None, None, Some(FIGURE)]);
    }

    #[test]
    fn a_figure_without_a_logarithm_is_none() {
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut block = Block::of(&[0]);
            block.note(|_| Seen::Figure { value, errors: 0, planned: 1 }, 3);
            assert!(!block.is_complete());
        }
    }
}
