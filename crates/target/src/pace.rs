//! Changes of the hold times while the target runs, as test cases for steady-state detection.

mod drift;
mod slow_start;
mod step;

pub use drift::Drift;
pub use slow_start::SlowStart;
pub use step::PaceStep;

use std::time::Duration;

use crate::settings::Faults;

/// Factors that multiply the drawn hold times. Times count from the first request. Default: none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Initially longer holds.
    pub slow_start: Option<SlowStart>,
    /// Continuously longer holds.
    pub drift: Option<Drift>,
    /// Permanent change at a given time.
    pub step: Option<PaceStep>,
}

impl Pace {
    /// Returns the actual hold time for a drawn time, for a hold that starts `at` after the first request.
    pub(crate) fn stretch(&self, drawn: Duration, at: Duration) -> Duration {
        if *self == Self::default() {
            return drawn;
        }
        let factor = self.slow_start.map_or(1.0, |slow| slow.factor_at(at))
            * self.drift.map_or(1.0, |drift| drift.factor_at(at))
            * self.step.map_or(1.0, |step| step.factor_at(at));
        Duration::try_from_secs_f64(drawn.as_secs_f64() * factor).unwrap_or(drawn)
    }

    pub(crate) fn check(&self, faults: &mut Faults) {
        if let Some(slow) = self.slow_start {
            slow.check(faults);
        }
        if let Some(drift) = self.drift {
            drift.check(faults);
        }
        if let Some(step) = self.step {
            step.check(faults);
        }
    }
}

/// Returns true for a factor that keeps hold times at a reasonable length.
fn is_factor(factor: f64) -> bool {
    (0.01..=100.0).contains(&factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Duration = Duration::from_secs;

    #[test]
    fn default_changes_nothing() {
        let odd = Duration::from_nanos(1_234_567);
        assert_eq!(Pace::default().stretch(odd, S(1_000_000)), odd);
    }

    #[test]
    fn factors_are_multiplied() {
        let pace = Pace {
            slow_start: Some(SlowStart { factor: 3.0, lasting: S(20) }),
            drift: Some(Drift { share_per_10_s: 0.5 }),
            step: Some(PaceStep { after: S(30), factor: 2.0 }),
        };
        let ms = Duration::from_millis;
        assert_eq!(pace.stretch(ms(10), S(10)), ms(45));
        assert_eq!(pace.stretch(ms(10), S(20)), ms(20), "no longer slow");
        assert_eq!(pace.stretch(ms(10), S(40)), ms(60));
    }

    #[test]
    fn extreme_factors_are_rejected() {
        let pace = Pace {
            slow_start: Some(SlowStart { factor: 0.0, lasting: Duration::ZERO }),
            drift: Some(Drift { share_per_10_s: f64::NAN }),
            step: Some(PaceStep { after: Duration::MAX, factor: f64::INFINITY }),
        };
        let mut faults = Faults::default();
        pace.check(&mut faults);
        let invalid_settings: Vec<&str> = faults.0.iter().map(|fault| fault.setting).collect();
        assert_eq!(invalid_settings, ["slow_start", "slow_start", "drift", "step", "step"]);
    }
}
