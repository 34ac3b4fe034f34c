//! Fresh runs at both ends, in random order, so that what drifts with time meets both alike.

use alloc::vec::Vec;

use super::lead::Told;
use crate::chance::Chance;

/// Which end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Low,
    High,
}

/// A confirmation in progress.
#[derive(Clone, Debug)]
pub(super) struct Confirmation {
    /// The runs still to be made, the last first.
    left: Vec<Side>,
    low_passed: Option<u32>,
    high_passed: Option<u32>,
    runs: u32,
}

impl Confirmation {
    /// So many runs of each end that is named.
    pub(super) fn of(has_low: bool, has_high: bool, runs: u32, chance: &mut Chance) -> Self {
        let mut left = Vec::new();
        for (has, side) in [(has_low, Side::Low), (has_high, Side::High)] {
            left.extend(core::iter::repeat_n(side, if has { runs as usize } else { 0 }));
        }
        chance.shuffle(&mut left);
        Self { left, low_passed: has_low.then_some(0), high_passed: has_high.then_some(0), runs }
    }

    pub(super) fn next(&self) -> Option<Side> {
        self.left.last().copied()
    }

    pub(super) fn note(&mut self, has_passed: bool) {
        let passed = match self.left.pop() {
            Some(Side::Low) => &mut self.low_passed,
            Some(Side::High) => &mut self.high_passed,
            None => return,
        };
        *passed = passed.map(|passed| passed + u32::from(has_passed));
    }

    /// What the runs at the lower end say; `None` if there were none.
    pub(super) fn low(&self) -> Option<Told> {
        self.low_passed.map(|passed| told(passed, self.runs))
    }

    /// What the runs at the upper end say.
    pub(super) fn high(&self) -> Option<Told> {
        self.high_passed.map(|passed| told(passed, self.runs))
    }
}

/// Four of five must agree.
fn told(passed: u32, runs: u32) -> Told {
    match (u64::from(passed) * 5, u64::from(runs)) {
        (passed, runs) if passed >= runs * 4 => Told::Holds,
        (passed, runs) if passed <= runs => Told::Fails,
        _ => Told::Neither,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_of_five_hold_and_one_of_five_fails() {
        let of = |passed| told(passed, 5);
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(of),
            [Told::Fails, Told::Fails, Told::Neither, Told::Neither, Told::Holds, Told::Holds]
        );
        assert_eq!([told(0, 1), told(1, 1)], [Told::Fails, Told::Holds]);
    }

    #[test]
    fn both_ends_are_run_as_often_and_mixed() {
        let mut confirmation = Confirmation::of(true, true, 5, &mut Chance::of(1));
        let mut order = Vec::new();
        while let Some(side) = confirmation.next() {
            order.push(side);
            confirmation.note(side == Side::Low);
        }
        assert_eq!(order.iter().filter(|side| **side == Side::Low).count(), 5);
        assert!(order[..5].contains(&Side::Low) && order[..5].contains(&Side::High), "{order:?}");
        assert_eq!((confirmation.low(), confirmation.high()), (Some(Told::Holds), Some(Told::Fails)));
    }
}
