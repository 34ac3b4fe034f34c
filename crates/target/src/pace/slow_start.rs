//! Slow start: longer holds at first, like a program with a JIT compiler or cold caches.

use std::time::Duration;

use super::is_factor;
use crate::settings::{DAY, Faults};

/// Initial period of longer holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowStart {
    /// Factor on hold times; 0.01 to 100.
    pub factor: f64,
    /// Length of the period from the first request; above 0.
    pub lasting: Duration,
}

impl SlowStart {
    pub(super) fn factor_at(&self, at: Duration) -> f64 {
        if at < self.lasting { self.factor } else { 1.0 }
    }

    pub(super) fn check(&self, faults: &mut Faults) {
        let Self { factor, lasting } = self;
        faults.require(is_factor(*factor), "slow_start", || {
            format!("factor must be from 0.01 to 100, found {factor}")
        });
        faults.require(!lasting.is_zero() && *lasting <= DAY, "slow_start", || {
            format!("lasting must be above 0 and at most 24h, found {lasting:?}")
        });
    }
}
