//! Random moments that can be repeated: `TENBIN_SEED` selects them, and `TENBIN_KILLS` is their number.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seed in the environment, or a new one from the clock.
pub(crate) fn seed() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).expect("a later year");
    setting("TENBIN_SEED").unwrap_or(since_1970.as_millis() as u64)
}

/// Number of kills in the environment. `None` if it is not set.
pub(crate) fn kills() -> Option<u64> {
    setting("TENBIN_KILLS")
}

/// Next number of a linear congruential generator with Knuth's MMIX multiplier. Only the upper bits are used.
pub(crate) fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}")))
}
