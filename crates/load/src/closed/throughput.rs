//! The constant throughput timer: users wait for a place in a row of evenly spaced starts.

use crate::SECOND_NS;
use crate::share::Share;

/// One worker's places: every `share.of`-th of the whole row.
#[derive(Clone, Debug)]
pub(super) struct Throughput {
    distance_ns: f64,
    next_ns: f64,
}

impl Throughput {
    pub(super) fn new(per_s: f64, share: Share) -> Self {
        let distance_ns = SECOND_NS as f64 / per_s;
        Self { distance_ns: distance_ns * f64::from(share.of), next_ns: distance_ns * f64::from(share.index) }
    }

    /// The next free place for a user who is ready at `ready_ns`. Places that passed unused are lost: a limit, not a debt.
    pub(super) fn take(&mut self, ready_ns: u64) -> u64 {
        let start_ns = self.next_ns.max(ready_ns as f64);
        self.next_ns = start_ns + self.distance_ns;
        libm::round(start_ns) as u64
    }
}
