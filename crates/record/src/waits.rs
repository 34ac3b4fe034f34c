//! Long waits of users for an ok reply.

/// Waits of users, by length and by how they ended. Merging is exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waits {
    /// Total time in nanoseconds, by the power of two below the length of the wait.
    broken_ns: [u64; 64],
    slow_ns: [u64; 64],
}

impl Default for Waits {
    fn default() -> Self {
        Self { broken_ns: [0; 64], slow_ns: [0; 64] }
    }
}

impl Waits {
    /// Shortest wait that is recorded.
    pub const SHORTEST_NS: u64 = 250_000_000;

    /// Records a wait of a user for an ok reply. `is_broken` is true if a request in that time was rejected, failed, or was never
    /// answered. It is false if one reply took that long.
    #[inline]
    pub fn note(&mut self, wait_ns: u64, is_broken: bool) {
        if wait_ns >= Self::SHORTEST_NS {
            let waits = if is_broken { &mut self.broken_ns } else { &mut self.slow_ns };
            let sum = &mut waits[wait_ns.ilog2() as usize];
            *sum = sum.saturating_add(wait_ns);
        }
    }

    /// Adds the waits of another worker.
    pub fn merge(&mut self, more: &Self) {
        let sums = self.broken_ns.iter_mut().zip(&more.broken_ns);
        sums.chain(self.slow_ns.iter_mut().zip(&more.slow_ns))
            .for_each(|(sum, more)| *sum = sum.saturating_add(*more));
    }

    /// Total time of broken and of slow waits longer than their limits, in nanoseconds. A wait shorter than twice its limit may be
    /// missed.
    pub fn longer_than_ns(&self, broken_limit_ns: u64, slow_limit_ns: u64) -> u64 {
        let sum = |waits: &[u64; 64], limit_ns: u64| {
            let from = limit_ns.max(Self::SHORTEST_NS).ilog2() as usize;
            // The shortest class begins at a power of two below the shortest wait, and all of it counts.
            let is_all = limit_ns <= Self::SHORTEST_NS;
            waits
                .iter()
                .skip(if is_all { from } else { from + 1 })
                .fold(0u64, |sum, ns| sum.saturating_add(*ns))
        };
        sum(&self.broken_ns, broken_limit_ns).saturating_add(sum(&self.slow_ns, slow_limit_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_waits_beyond_their_limit_count() {
        const MS: u64 = 1_000_000;
        let mut waits = Waits::default();
        waits.note(249 * MS, true);
        waits.note(300 * MS, true);
        waits.note(2_000 * MS, true);
        waits.note(1_500 * MS, false);
        assert_eq!(waits.longer_than_ns(0, u64::MAX), 2_300 * MS);
        assert_eq!(waits.longer_than_ns(600 * MS, u64::MAX), 2_000 * MS);
        assert_eq!(waits.longer_than_ns(u64::MAX, 1_000 * MS), 1_500 * MS);
        let mut both = waits.clone();
        both.merge(&waits);
        assert_eq!(both.longer_than_ns(0, 0), 2 * 3_800 * MS);
    }
}
