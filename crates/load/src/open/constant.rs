//! Constant rate without end.

use super::profile::{Profile, Segment};

impl Profile {
    /// Creates a constant rate of `per_s` requests per second, without end.
    pub fn constant(per_s: f64) -> Self {
        Self::new([Segment { from_per_s: per_s, to_per_s: per_s, for_ns: u64::MAX }])
    }
}
