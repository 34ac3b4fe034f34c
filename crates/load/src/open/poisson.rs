//! Exponential gaps: a Poisson process of rate 1, stretched by the profile.

use crate::chance::Chance;

/// Places whose gaps are exponential with mean 1. Sent through the inverse of a rate's integral they are a Poisson
/// process of that rate, constant or not (the time-change theorem).
#[derive(Clone, Debug)]
pub(super) struct Poisson {
    chance: Chance,
    place: f64,
}

impl Poisson {
    pub(super) fn new(seed: u64) -> Self {
        Self { chance: Chance::stream(seed, 0), place: 0.0 }
    }

    pub(super) fn next_place(&mut self) -> f64 {
        self.place += self.chance.exponential();
        self.place
    }
}
