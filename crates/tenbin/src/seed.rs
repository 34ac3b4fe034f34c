//! Seeds for loads that name none. Each load draws its own, so that no run meets keys or cache entries of an earlier one.

use std::hash::{BuildHasher, RandomState};

/// Exclusive upper bound of seeds: short enough to be typed.
const SEEDS: u64 = 1_000_000_000;

/// Random seed, which has very probably not been used before.
pub(crate) fn random_seed() -> u64 {
    RandomState::new().hash_one(()) % SEEDS
}
