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

    /// What is left of it: zero when it is over.
    pub(crate) fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    pub(crate) fn is_over(self) -> bool {
        self.left().is_zero()
    }
}
