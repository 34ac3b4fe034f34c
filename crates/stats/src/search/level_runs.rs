//! Sequential test of one level: runs until passed or failed runs lead by enough.

/// Runs at a level so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LevelRuns {
    passed: u32,
    failed: u32,
}

/// Verdict on a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LevelVerdict {
    Holds,
    Fails,
    /// Runs both pass and fail, so that more runs would not be conclusive.
    Neither,
}

impl LevelRuns {
    pub(super) fn note(&mut self, has_passed: bool) {
        *(if has_passed { &mut self.passed } else { &mut self.failed }) += 1;
    }

    pub(super) fn has_only_passes(&self) -> bool {
        self.failed == 0 && self.passed > 0
    }

    /// Returns the verdict once one side leads by `by`, or after `most` runs.
    pub(super) fn told(&self, by: u32, most: u32) -> Option<LevelVerdict> {
        if self.passed >= self.failed + by {
            Some(LevelVerdict::Holds)
        } else if self.failed >= self.passed + by {
            Some(LevelVerdict::Fails)
        } else {
            (self.passed + self.failed >= most).then_some(LevelVerdict::Neither)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the probabilities that a level with pass probability `p` is decided to hold, to fail, or neither, and its expected number of
    /// runs.
    fn chances(p: f64, by: u32, most: u32) -> ([f64; 3], f64) {
        let (mut open, mut told, mut runs) = (alloc::vec![(LevelRuns::default(), 1.0)], [0.0; 3], 0.0);
        while let Some((lead, chance)) = open.pop() {
            if chance < 1e-12 {
                continue;
            }
            match lead.told(by, most) {
                Some(what) => told[what as usize] += chance,
                None => {
                    runs += chance;
                    for (has_passed, share) in [(true, p), (false, 1.0 - p)] {
                        let mut next = lead;
                        next.note(has_passed);
                        open.push((next, chance * share));
                    }
                }
            }
        }
        (told, runs)
    }

    #[test]
    fn error_rate_matches_the_gamblers_ruin() {
        // Unlimited runs decide wrongly with probability 1 / (1 + (p/q)^d). At these values of p, few sequences are cut off.
        for (p, by, wrong, runs) in
            [(0.8, 3, 0.0154, 4.9), (0.9, 3, 0.00137, 3.7), (0.8, 2, 0.0588, 2.9), (0.9, 2, 0.0122, 2.4)]
        {
            let (told, expected) = chances(p, by, 23);
            let odds: f64 = p / (1.0 - p);
            assert!((wrong - 1.0 / (1.0 + libm::pow(odds, f64::from(by)))).abs() < 5e-5);
            assert!((told[1] - wrong).abs() < 5e-4, "{p} {by}: {told:?}");
            assert!((expected - runs).abs() < 0.06, "{p} {by}: {expected}");
        }
    }

    #[test]
    fn even_level_is_often_undecided() {
        let ([holds, fails, neither], _) = chances(0.5, 3, 9);
        assert!((holds - fails).abs() < 1e-12 && neither > 0.3, "{holds} {fails} {neither}");
    }
}
