//! From one instant on another service time, as after an index was lost or a neighbour moved in.

use std::time::Duration;

use super::is_factor;
use crate::settings::{DAY, Faults};

/// A change that stays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaceStep {
    /// When, from the first request; at most 24h.
    pub after: Duration,
    /// How many times as long holds are from then on; 0.01 to 100.
    pub factor: f64,
}

impl PaceStep {
    pub(super) fn factor_at(&self, at: Duration) -> f64 {
        if at < self.after { 1.0 } else { self.factor }
    }

    pub(super) fn check(&self, faults: &mut Faults) {
        let Self { after, factor } = self;
        faults.unless(*after <= DAY, "step", || format!("after must be at most 24h, found {after:?}"));
        faults.unless(is_factor(*factor), "step", || {
            format!("factor must be from 0.01 to 100, found {factor}")
        });
    }
}
