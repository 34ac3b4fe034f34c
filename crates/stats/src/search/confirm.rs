//! Confirmation runs at both ends, in random order, so that drift over time affects both alike.

use alloc::vec::Vec;

use super::SearchRules;
use super::level_runs::LevelVerdict;
use crate::chance::Chance;

/// End of the interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Low,
    High,
}

/// Confirmation in progress.
#[derive(Clone, Debug)]
pub(super) struct Confirmation {
    /// Runs to make, in reverse order.
    left: Vec<Side>,
    low: Option<EndRuns>,
    high: Option<EndRuns>,
}

/// Confirmation runs at one end.
#[derive(Clone, Copy, Debug)]
struct EndRuns {
    /// Verdict of the end before confirmation.
    expected: LevelVerdict,
    /// Lead needed to overrule that verdict.
    overruled_by: u32,
    passed: u32,
    runs: u32,
    is_doubled: bool,
}

impl Confirmation {
    /// Plans the number of runs from the rules for each end that exists.
    pub(super) fn of(has_low: bool, has_high: bool, rules: &SearchRules, chance: &mut Chance) -> Self {
        let (runs, overruled_by) = (rules.confirm_runs, rules.overruled_by);
        let fresh = |expected| EndRuns { expected, overruled_by, passed: 0, runs, is_doubled: false };
        let low = has_low.then(|| fresh(LevelVerdict::Holds));
        let mut confirmation =
            Self { left: Vec::new(), low, high: has_high.then(|| fresh(LevelVerdict::Fails)) };
        confirmation.plan(has_low.then_some(runs), has_high.then_some(runs), chance);
        confirmation
    }

    fn plan(&mut self, low: Option<u32>, high: Option<u32>, chance: &mut Chance) {
        for (runs, side) in [(low, Side::Low), (high, Side::High)] {
            self.left.extend(core::iter::repeat_n(side, runs.unwrap_or(0) as usize));
        }
        chance.shuffle(&mut self.left);
    }

    pub(super) fn next(&self) -> Option<Side> {
        self.left.last().copied()
    }

    /// Notes the result of the run of [`next`](Self::next). If all runs are made and one of five contradicts the others, plans as
    /// many runs again.
    pub(super) fn note(&mut self, has_passed: bool, chance: &mut Chance) {
        let end = match self.left.pop() {
            Some(Side::Low) => &mut self.low,
            Some(Side::High) => &mut self.high,
            None => return,
        };
        if let Some(fresh) = end {
            fresh.passed += u32::from(has_passed);
        }
        if self.left.is_empty() {
            let low = self.low.as_mut().and_then(|fresh| fresh.double());
            let high = self.high.as_mut().and_then(|fresh| fresh.double());
            self.plan(low, high, chance);
        }
    }

    /// Returns the verdict of the runs at the lower end. `None` without runs.
    pub(super) fn low(&self) -> Option<LevelVerdict> {
        self.low.map(|fresh| fresh.told())
    }

    /// Returns the verdict of the runs at the upper end. `None` without runs.
    pub(super) fn high(&self) -> Option<LevelVerdict> {
        self.high.map(|fresh| fresh.told())
    }
}

impl EndRuns {
    /// Returns the verdict of the runs: at least four of five must agree. One or two runs do not overrule the larger number that decided
    /// the end.
    fn told(&self) -> LevelVerdict {
        let told = match (u64::from(self.passed) * 5, u64::from(self.runs)) {
            (passed, runs) if passed >= runs * 4 => LevelVerdict::Holds,
            (passed, runs) if passed <= runs => LevelVerdict::Fails,
            _ => LevelVerdict::Neither,
        };
        let lead = self.passed.abs_diff(self.runs.saturating_sub(self.passed));
        if told == self.expected || lead >= self.overruled_by { told } else { LevelVerdict::Neither }
    }

    /// Returns the number of additional runs if the runs agree with the expected verdict, but not unanimously. Extends only once.
    fn double(&mut self) -> Option<u32> {
        let is_unanimous = self.passed == 0 || self.passed == self.runs;
        if self.is_doubled || is_unanimous || self.told() != self.expected {
            return None;
        }
        let more = self.runs;
        *self = Self { runs: self.runs.saturating_mul(2), is_doubled: true, ..*self };
        Some(more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::OVERRULE_LEAD;

    #[test]
    fn four_of_five_passes_and_one_of_five_fails() {
        let of = |passed, runs| fresh(LevelVerdict::Neither, passed, runs).told();
        let told = [0, 1, 2, 3, 4, 5].map(|passed| of(passed, 5));
        assert_eq!(told[..2], [LevelVerdict::Fails; 2]);
        assert_eq!(told[2..4], [LevelVerdict::Neither; 2]);
        assert_eq!(told[4..], [LevelVerdict::Holds; 2]);
        assert_eq!([of(3, 4), of(8, 10)], [LevelVerdict::Neither, LevelVerdict::Holds]);
    }

    fn fresh(expected: LevelVerdict, passed: u32, runs: u32) -> EndRuns {
        EndRuns { expected, overruled_by: OVERRULE_LEAD, passed, runs, is_doubled: false }
    }

    #[test]
    fn one_or_two_runs_confirm_but_do_not_overrule() {
        for runs in [1, 2] {
            let [low, high] = [LevelVerdict::Holds, LevelVerdict::Fails]
                .map(|expected| [0, runs].map(|passed| fresh(expected, passed, runs).told()));
            assert_eq!(low, [LevelVerdict::Neither, LevelVerdict::Holds], "{runs}");
            assert_eq!(high, [LevelVerdict::Fails, LevelVerdict::Neither], "{runs}");
        }
        for (expected, runs) in
            [LevelVerdict::Holds, LevelVerdict::Fails].into_iter().flat_map(|told| [(told, 3), (told, 5)])
        {
            let told = [0, runs].map(|passed| fresh(expected, passed, runs).told());
            assert_eq!(told, [LevelVerdict::Fails, LevelVerdict::Holds], "{runs}");
        }
        assert_eq!(fresh(LevelVerdict::Fails, 4, 5).told(), LevelVerdict::Holds, "a lead of three");
        let old = EndRuns { overruled_by: 0, ..fresh(LevelVerdict::Fails, 1, 1) };
        assert_eq!(old.told(), LevelVerdict::Holds, "as earlier versions had it");
    }

    /// Returns the order of the runs if the first `low_passes` runs at the lower end pass, and the runs at the upper end fail.
    fn order(low_passes: usize) -> (Vec<Side>, Confirmation) {
        let (mut chance, mut order) = (Chance::of(1), Vec::new());
        let mut confirmation = Confirmation::of(true, true, &SearchRules::default(), &mut chance);
        while let Some(side) = confirmation.next() {
            let lows = order.iter().filter(|side| **side == Side::Low).count();
            order.push(side);
            confirmation.note(side == Side::Low && lows < low_passes, &mut chance);
        }
        (order, confirmation)
    }

    #[test]
    fn both_ends_get_equal_runs_in_mixed_order() {
        let (order, confirmation) = order(5);
        assert_eq!((order.len(), order.iter().filter(|side| **side == Side::Low).count()), (10, 5));
        assert!(order[..5].contains(&Side::Low) && order[..5].contains(&Side::High), "{order:?}");
        assert_eq!(
            (confirmation.low(), confirmation.high()),
            (Some(LevelVerdict::Holds), Some(LevelVerdict::Fails))
        );
    }

    #[test]
    fn four_of_five_gets_five_more_runs() {
        let (order, confirmation) = order(4);
        assert_eq!((order.len(), confirmation.low()), (15, Some(LevelVerdict::Neither)));
        assert_eq!(order[10..], [Side::Low; 5]);
        assert_eq!(self::order(3).0.len(), 10);
    }
}
