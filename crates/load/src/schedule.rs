//! When the requests of a load start: at a rate over time.

use core::fmt;

use crate::open::{EVEN, POISSON, Places, Process, Profile};
use crate::share::Share;

/// Send times of a whole load.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// A rate over time, and how its send times are spaced.
    Rate(Profile, Spacing),
}

impl Schedule {
    /// The send times of one worker: every `share.of`-th of the whole load's.
    pub fn arrivals(&self, share: Share) -> Arrivals {
        let Self::Rate(profile, spacing) = self;
        let mut places = (spacing.process.places)(spacing.seed);
        for _ in 0..share.index {
            places();
        }
        Arrivals { profile: profile.clone(), places, step: share.of }
    }

    /// The highest rate at any instant.
    pub fn peak_per_s(&self) -> f64 {
        let Self::Rate(profile, _) = self;
        profile.peak_per_s()
    }

    /// Whether the rate is the same at any instant.
    pub fn is_constant(&self) -> bool {
        let Self::Rate(profile, _) = self;
        profile.is_constant()
    }
}

/// How the send times of a load are spaced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spacing {
    /// The arrival process.
    pub process: &'static Process,
    /// The same seed gives the same send times, for any number of workers.
    pub seed: u64,
}

impl Spacing {
    /// At equal distances (where the rate is constant).
    pub const EVEN: Self = Self { process: &EVEN, seed: 0 };

    /// As independent users would come: exponential gaps, drawn from a seed.
    pub const fn poisson(seed: u64) -> Self {
        Self { process: &POISSON, seed }
    }
}

/// The scheduled send times of a load, in order.
pub struct Arrivals {
    profile: Profile,
    places: Places,
    step: u32,
}

impl fmt::Debug for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arrivals").field("profile", &self.profile).finish_non_exhaustive()
    }
}

impl Iterator for Arrivals {
    /// Nanoseconds since the load began.
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let place = (self.places)();
        for _ in 1..self.step {
            (self.places)();
        }
        self.profile.time_of(place)
    }
}
