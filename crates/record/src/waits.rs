//! Long waits of users for an ok reply.

/// Result of a user's wait for an ok reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// The only request of the wait got an ok reply.
    Answer,
    /// Each request of the wait timed out, or was never answered.
    Silence,
    /// A request of the wait was rejected or failed.
    Failure,
}

/// Waits of users, by length and by ending. Merging is exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waits {
    /// Total time in nanoseconds, by the power of two below the length of the wait.
    failed_ns: [u64; 64],
    silent_ns: [u64; 64],
    slow_ns: [u64; 64],
    longest_ns: u64,
}

impl Default for Waits {
    fn default() -> Self {
        Self { failed_ns: [0; 64], silent_ns: [0; 64], slow_ns: [0; 64], longest_ns: 0 }
    }
}

impl Waits {
    /// Shortest wait that is recorded.
    pub const SHORTEST_NS: u64 = 250_000_000;

    /// Records a wait of a user for an ok reply, without think time and pauses.
    #[inline]
    pub fn note(&mut self, wait_ns: u64, end: WaitEnd) {
        if wait_ns >= Self::SHORTEST_NS {
            let waits = match end {
                WaitEnd::Answer => &mut self.slow_ns,
                WaitEnd::Silence => &mut self.silent_ns,
                WaitEnd::Failure => &mut self.failed_ns,
            };
            let sum = &mut waits[wait_ns.ilog2() as usize];
            *sum = sum.saturating_add(wait_ns);
            if end != WaitEnd::Failure {
                self.longest_ns = self.longest_ns.max(wait_ns);
            }
        }
    }

    /// Adds the waits of another worker.
    pub fn merge(&mut self, more: &Self) {
        let sums = [(&mut self.failed_ns, &more.failed_ns), (&mut self.silent_ns, &more.silent_ns)];
        for (sums, more) in sums.into_iter().chain([(&mut self.slow_ns, &more.slow_ns)]) {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
        }
        self.longest_ns = self.longest_ns.max(more.longest_ns);
    }

    /// Returns the total time of waits with a failure that lasted longer than `limit_ns`, in nanoseconds. Waits shorter than twice the
    /// limit may be omitted, here and in [`Waits::unanswered_ns`].
    pub fn failed_ns(&self, limit_ns: u64) -> u64 {
        sum_above_ns(&self.failed_ns, limit_ns)
    }

    /// Returns the total time of waits without a failure, silent or slow, that lasted longer than their limit, in nanoseconds.
    pub fn unanswered_ns(&self, silent_limit_ns: u64, slow_limit_ns: u64) -> u64 {
        let slow_ns = sum_above_ns(&self.slow_ns, slow_limit_ns);
        sum_above_ns(&self.silent_ns, silent_limit_ns).saturating_add(slow_ns)
    }

    /// Returns the longest wait without a failure, in nanoseconds. 0 if none was recorded.
    pub fn longest_unanswered_ns(&self) -> u64 {
        self.longest_ns
    }
}

fn sum_above_ns(waits: &[u64; 64], limit_ns: u64) -> u64 {
    let from = limit_ns.max(Waits::SHORTEST_NS).ilog2() as usize;
    // The lowest class begins at a power of two below the shortest recorded wait, and counts as a whole.
    let skipped = if limit_ns <= Waits::SHORTEST_NS { from } else { from + 1 };
    waits.iter().skip(skipped).fold(0, |sum, ns| sum.saturating_add(*ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_waits_beyond_their_limit_count() {
        const MS: u64 = 1_000_000;
        let mut waits = Waits::default();
        waits.note(249 * MS, WaitEnd::Failure);
        waits.note(300 * MS, WaitEnd::Failure);
        waits.note(2_000 * MS, WaitEnd::Failure);
        waits.note(1_500 * MS, WaitEnd::Answer);
        waits.note(1_000 * MS, WaitEnd::Silence);
        assert_eq!(waits.failed_ns(0), 2_300 * MS);
        assert_eq!(waits.failed_ns(600 * MS), 2_000 * MS);
        assert_eq!(waits.unanswered_ns(u64::MAX, 1_000 * MS), 1_500 * MS);
        assert_eq!(waits.unanswered_ns(250 * MS, u64::MAX), 1_000 * MS);
        assert_eq!(waits.longest_unanswered_ns(), 1_500 * MS);
        let mut both = waits.clone();
        both.merge(&waits);
        assert_eq!((both.failed_ns(0), both.unanswered_ns(0, 0)), (2 * 2_300 * MS, 2 * 2_500 * MS));
    }
}
