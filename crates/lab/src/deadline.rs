//! How long something may take: the only place of the lab, besides the probes, that reads a clock.

use std::time::{Duration, Instant};

/// An instant after which there is no more waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// From now on.
    pub(crate) fn after(within: Duration) -> Deadline {
        let now = Instant::now();
        // A plan may say any number of years.
        Deadline(now.checked_add(within).unwrap_or(now + Duration::from_secs(1 << 30)))
    }

    /// Some time after an instant that another clock has read.
    pub(crate) fn since(origin: Instant, after: Duration) -> Deadline {
        Deadline(origin.checked_add(after).unwrap_or(origin + Duration::from_secs(1 << 30)))
    }

    /// What is left of it: zero when it is over.
    pub(crate) fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// How long ago an instant was, in nanoseconds.
    pub(crate) fn elapsed_ns(origin: Instant) -> u64 {
        u64::try_from(Instant::now().saturating_duration_since(origin).as_nanos()).unwrap_or(u64::MAX)
    }

    pub(crate) fn is_over(self) -> bool {
        self.left().is_zero()
    }
}
