//! Deadlines for all operations that may take time. Only this module and the probes read a clock.

use std::time::{Duration, Instant};

/// Time after which waiting ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// Deadline `within` from now.
    pub(crate) fn after(within: Duration) -> Deadline {
        let now = Instant::now();
        // Caps the duration, because a plan may name any number of years.
        Deadline(now.checked_add(within).unwrap_or(now + Duration::from_secs(1 << 30)))
    }

    /// Deadline `after` a time that another clock has read.
    pub(crate) fn since(origin: Instant, after: Duration) -> Deadline {
        Deadline(origin.checked_add(after).unwrap_or(origin + Duration::from_secs(1 << 30)))
    }

    /// Remaining time; zero if the deadline has passed.
    pub(crate) fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Nanoseconds since `origin`.
    pub(crate) fn elapsed_ns(origin: Instant) -> u64 {
        u64::try_from(Instant::now().saturating_duration_since(origin).as_nanos()).unwrap_or(u64::MAX)
    }

    pub(crate) fn is_over(self) -> bool {
        self.left().is_zero()
    }
}
