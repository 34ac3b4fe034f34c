//! Interval that contains the capacity, and the rate to run next to narrow it.

use alloc::vec::Vec;

use libm::sqrt;

use super::SearchRules;
use super::level::{SearchStage, rounded};
use super::level_runs::LevelVerdict;

/// Maximum number of halvings of a downward search.
const HALVINGS_MAX: u32 = 6;
/// Highest rate that is tried, per second.
const PER_S_MAX: f64 = 1e9;

/// End of the interval that contains the capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct End {
    pub(super) per_s: f64,
    pub(super) is_confirmed: bool,
}

/// Verdicts on rates so far.
#[derive(Clone, Debug)]
pub(super) struct RateVerdicts {
    rules: SearchRules,
    /// First rate to run. `None` before it is known.
    pub(super) start_per_s: Option<f64>,
    pub(super) low: Option<End>,
    pub(super) high: Option<End>,
    /// Rates that were decided to pass, to fall back on.
    held: Vec<f64>,
    /// Rates that were decided to fail, to fall back on.
    failed: Vec<f64>,
    /// Rates that were undecided.
    pub(super) neither: Vec<f64>,
    /// Lowest rate at which the generator cannot measure.
    pub(super) unmeasurable_per_s: Option<f64>,
    halvings: u32,
    /// Number of times confirmation runs were undecided at the lower and at the upper end.
    steps: [u32; 2],
}

/// Next need of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Need {
    /// Decide this rate.
    Rate { per_s: f64, stage: SearchStage },
    /// The ends are found, and can be confirmed. There may be only one.
    Confirmation,
    /// No rate passes.
    NothingHolds,
}

impl RateVerdicts {
    pub(super) fn new(rules: SearchRules) -> Self {
        let start_per_s = rules.from_per_s;
        Self {
            rules,
            start_per_s,
            low: None,
            high: None,
            held: Vec::new(),
            failed: Vec::new(),
            neither: Vec::new(),
            unmeasurable_per_s: None,
            halvings: 0,
            steps: [0; 2],
        }
    }

    /// Returns the rate that narrows the interval most, or what comes after the rates.
    pub(super) fn need(&self) -> Need {
        match (self.low, self.high) {
            (Some(low), Some(high)) => self.need_between(low.per_s, high.per_s),
            (Some(low), None) => self.need_above(low.per_s),
            (None, _) => self.below(),
        }
    }

    /// Returns the range of undecided rates between the ends. `None` if there are none.
    fn noise(&self, low: f64, high: f64) -> Option<(f64, f64)> {
        let inside = || self.neither.iter().copied().filter(|per_s| low < *per_s && *per_s < high);
        inside().min_by(f64::total_cmp).zip(inside().max_by(f64::total_cmp))
    }

    fn need_between(&self, low: f64, high: f64) -> Need {
        let is_wide = |low: f64, high: f64| high / low > 1.0 + self.rules.resolution;
        let middle = |low: f64, high: f64, stage| {
            let per_s = rounded(sqrt(low) * sqrt(high), self.rules.resolution);
            (is_wide(low, high) && low < per_s && per_s < high).then_some(Need::Rate { per_s, stage })
        };
        let next = match self.noise(low, high) {
            None => middle(low, high, SearchStage::Bisect),
            Some((bottom, top)) => {
                middle(low, bottom, SearchStage::Edge).or(middle(top, high, SearchStage::Edge))
            }
        };
        next.unwrap_or(Need::Confirmation)
    }

    fn need_above(&self, low: f64) -> Need {
        let most = self.rules.to_per_s.unwrap_or(PER_S_MAX);
        let reached = self.neither.iter().copied().fold(low, f64::max);
        let mut per_s = (reached * 2.0).min(most);
        if let Some(limit) = self.unmeasurable_per_s.filter(|limit| *limit <= per_s) {
            if limit / reached <= 1.0 + self.rules.resolution {
                return Need::Confirmation;
            }
            per_s = sqrt(reached) * sqrt(limit);
        }
        let per_s = rounded(per_s, self.rules.resolution).min(most);
        if per_s > reached { Need::Rate { per_s, stage: SearchStage::Bracket } } else { Need::Confirmation }
    }

    fn below(&self) -> Need {
        let Some(start) = self.start_per_s else { return Need::NothingHolds };
        let tried =
            self.neither.iter().copied().chain(self.high.map(|end| end.per_s)).chain(self.unmeasurable_per_s);
        let Some(lowest) = tried.min_by(f64::total_cmp) else {
            return Need::Rate { per_s: start, stage: SearchStage::Bracket };
        };
        let per_s = rounded(lowest / 2.0, self.rules.resolution);
        let is_allowed = self.rules.from_per_s.is_none() && self.halvings < HALVINGS_MAX && per_s > 0.0;
        if is_allowed { Need::Rate { per_s, stage: SearchStage::Bracket } } else { Need::NothingHolds }
    }

    /// Records the verdict on a rate.
    pub(super) fn note_verdict(&mut self, per_s: f64, told: LevelVerdict, stage: SearchStage) {
        if self.low.is_none() && told != LevelVerdict::Holds {
            self.halvings += 1;
        }
        let is_above_noise =
            self.low.is_some_and(|low| self.neither.iter().any(|at| low.per_s < *at && *at < per_s));
        match told {
            // A rate on the wrong side of undecided rates belongs to the noise band.
            LevelVerdict::Holds if stage == SearchStage::Edge && is_above_noise => self.neither.push(per_s),
            LevelVerdict::Fails if stage == SearchStage::Edge && !is_above_noise => self.neither.push(per_s),
            LevelVerdict::Holds => {
                self.held.push(per_s);
                self.low = Some(End { per_s, is_confirmed: false });
            }
            LevelVerdict::Fails => {
                self.failed.push(per_s);
                self.high = Some(End { per_s, is_confirmed: false });
            }
            LevelVerdict::Neither => self.neither.push(per_s),
        }
    }

    /// Records that a rate cannot be measured. Returns true if the search can continue without it.
    pub(super) fn drop_unmeasurable(&mut self, per_s: f64) -> bool {
        self.unmeasurable_per_s = Some(self.unmeasurable_per_s.map_or(per_s, |limit| limit.min(per_s)));
        self.halvings += u32::from(self.low.is_none()) * 2;
        self.high.is_none()
    }

    /// Applies the verdicts of confirmation runs. If both ends are contradicted, the end with the opposite verdict counts.
    pub(super) fn confirm(&mut self, low: Option<LevelVerdict>, high: Option<LevelVerdict>) {
        if let Some(told) =
            low.filter(|_| high != Some(LevelVerdict::Holds) || low == Some(LevelVerdict::Fails))
        {
            self.confirm_low(told);
        }
        if let Some(told) = high.filter(|_| low != Some(LevelVerdict::Fails)) {
            self.confirm_high(told);
        }
    }

    /// Returns the lowest and highest undecided rate. `None` if there are none.
    pub(super) fn noise_band(&self) -> Option<(f64, f64)> {
        self.noise(0.0, f64::INFINITY)
    }

    /// Applies the verdict of confirmation runs at the lower end.
    fn confirm_low(&mut self, told: LevelVerdict) {
        let Some(low) = self.low.as_mut() else { return };
        let per_s = low.per_s;
        match told {
            LevelVerdict::Holds => low.is_confirmed = true,
            LevelVerdict::Neither => {
                self.neither.push(per_s);
                let lower = rounded(per_s / self.step(0), self.rules.resolution);
                let least = self.rules.from_per_s.unwrap_or(0.0);
                self.low = (lower > least.min(per_s)).then_some(End { per_s: lower, is_confirmed: false });
            }
            LevelVerdict::Fails => {
                self.high = Some(End { per_s, is_confirmed: true });
                self.failed.push(per_s);
                self.held.retain(|held| *held < per_s);
                self.low = self.held.iter().copied().max_by(f64::total_cmp).map(unconfirmed);
            }
        }
    }

    /// Applies the verdict of confirmation runs at the upper end.
    fn confirm_high(&mut self, told: LevelVerdict) {
        let Some(high) = self.high.as_mut() else { return };
        let per_s = high.per_s;
        match told {
            LevelVerdict::Fails => high.is_confirmed = true,
            LevelVerdict::Neither => {
                self.neither.push(per_s);
                let higher = rounded(per_s * self.step(1), self.rules.resolution);
                let most = self.rules.to_per_s.unwrap_or(PER_S_MAX);
                self.high = (higher <= most).then_some(End { per_s: higher, is_confirmed: false });
            }
            LevelVerdict::Holds => {
                self.low = Some(End { per_s, is_confirmed: true });
                self.held.push(per_s);
                self.failed.retain(|failed| *failed > per_s);
                self.high = self.failed.iter().copied().min_by(f64::total_cmp).map(unconfirmed);
            }
        }
    }

    /// Returns the factor of the next outward step of an end. From the fourth step on, each is twice as wide as the one before, so that a
    /// wide noise band is left in few steps.
    fn step(&mut self, side: usize) -> f64 {
        let doublings = self.steps[side].saturating_sub(2).min(6);
        self.steps[side] += 1;
        1.0 + self.rules.resolution * STEP * f64::from(1u32 << doublings)
    }
}

/// Outward step of an end that was not confirmed, as a share of the resolution.
const STEP: f64 = 1.0 / 3.0;

fn unconfirmed(per_s: f64) -> End {
    End { per_s, is_confirmed: false }
}
