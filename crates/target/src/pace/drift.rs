//! Drift: continuously longer holds, like a program whose tables only grow.

use std::time::Duration;

use crate::settings::Faults;

/// Linear growth of the hold times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Growth in ten seconds as a share of the drawn time; above 0, at most 10.
    pub share_per_10_s: f64,
}

impl Drift {
    pub(super) fn factor_at(&self, at: Duration) -> f64 {
        1.0 + self.share_per_10_s * at.as_secs_f64() / 10.0
    }

    pub(super) fn check(&self, faults: &mut Faults) {
        let share = self.share_per_10_s;
        faults.require(share > 0.0 && share <= 10.0, "drift", || {
            format!("must be above 0 and at most 1000% in ten seconds, found {}%", share * 100.0)
        });
    }
}
