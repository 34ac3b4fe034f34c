//! Time and space that the trials may use.

use std::time::Duration;

/// Number, duration, and size of trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Number of trials per figure.
    pub repetitions: u32,
    /// Duration of each trial. Memory trials take a fraction of it, because there are many.
    pub slice: Duration,
    /// Maximum size of the file of disk trials, in bytes.
    pub file_bytes_max: u64,
}

impl Effort {
    /// At most 30 s in total.
    pub const FULL: Self =
        Self { repetitions: 5, slice: Duration::from_millis(200), file_bytes_max: 256 << 20 };
    /// At most 10 s in total.
    pub const QUICK: Self =
        Self { repetitions: 5, slice: Duration::from_millis(40), file_bytes_max: 64 << 20 };
    /// For the figures stored with studies: at most 2 s in total.
    pub const BRIEF: Self = Self { repetitions: 5, slice: Duration::from_millis(30), file_bytes_max: 0 };
}
