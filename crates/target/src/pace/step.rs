//! Step: a permanent change of the hold times, as after a dropped index or with a noisy neighbor.

use std::time::Duration;

use super::is_factor;
use crate::settings::{DAY, Faults};

/// Permanent change of the hold times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaceStep {
    /// Time of the change after the first request; at most 24h.
    pub after: Duration,
    /// Factor on hold times from then on; 0.01 to 100.
    pub factor: f64,
}

impl PaceStep {
    pub(super) fn factor_at(&self, at: Duration) -> f64 {
        if at < self.after { 1.0 } else { self.factor }
    }

    pub(super) fn check(&self, faults: &mut Faults) {
        let Self { after, factor } = self;
        faults.require(*after <= DAY, "step", || format!("after must be at most 24h, found {after:?}"));
        faults.require(is_factor(*factor), "step", || {
            format!("factor must be from 0.01 to 100, found {factor}")
        });
    }
}
