//! Seeds of loads without one: each load has its own, so that no run finds in a cache, or as a key, what the one before it left.

use std::hash::{BuildHasher, RandomState};

/// Short enough to be typed again.
const SEEDS: u64 = 1_000_000_000;

/// A seed that was not used before, as far as chance goes.
pub(crate) fn fresh() -> u64 {
    RandomState::new().hash_one(()) % SEEDS
}
