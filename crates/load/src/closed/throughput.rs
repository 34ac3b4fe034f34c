//! Constant throughput timer: users take evenly spaced start times in turn.

use crate::SECOND_NS;
use crate::share::Share;

/// Start times of one worker: every `share.of`-th of all start times.
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

    /// Takes the next free start time for a user that is ready at `ready_ns`. Unused start times are lost, so the limit never leads
    /// to a catch-up burst.
    pub(super) fn take(&mut self, ready_ns: u64) -> u64 {
        let start_ns = self.next_ns.max(ready_ns as f64);
        self.next_ns = start_ns + self.distance_ns;
        libm::round(start_ns) as u64
    }
}
