//! How much time the trials take.

use std::time::Duration;

/// How often, how long, and how large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Trials of each figure.
    pub repetitions: u32,
    /// How long each trial lasts. Trials of memory last a part of it: there are many.
    pub slice: Duration,
    /// The file of the disk's trials is no larger than this.
    pub file_bytes_max: u64,
}

impl Effort {
    /// At most 30 s in all.
    pub const FULL: Self =
        Self { repetitions: 5, slice: Duration::from_millis(200), file_bytes_max: 256 << 20 };
    /// At most 10 s in all.
    pub const QUICK: Self =
        Self { repetitions: 5, slice: Duration::from_millis(40), file_bytes_max: 64 << 20 };
    /// What is kept with studies: at most 2 s in all.
    pub const BRIEF: Self = Self { repetitions: 5, slice: Duration::from_millis(30), file_bytes_max: 0 };
}
