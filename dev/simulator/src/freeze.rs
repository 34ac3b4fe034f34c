//! Freeze of a server for a period.

/// Period in which no service begins, and running service is suspended. Nanoseconds since the load began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freeze {
    /// Start of the freeze.
    pub from_ns: u64,
    /// End of the freeze.
    pub to_ns: u64,
}

impl Freeze {
    /// Returns the actual end of a service that would last from `begun_ns` to `done_ns` without the freeze.
    #[inline]
    pub(crate) fn done_ns(self, begun_ns: u64, done_ns: u64) -> u64 {
        if begun_ns >= self.to_ns || done_ns <= self.from_ns {
            return done_ns;
        }
        done_ns + self.to_ns.saturating_sub(self.from_ns.max(begun_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_is_prolonged_by_its_overlap_with_the_freeze() {
        let freeze = Freeze { from_ns: 100, to_ns: 150 };
        let done = [(0, 90), (0, 100), (60, 110), (120, 130), (150, 160)];
        assert_eq!(done.map(|(begun, done)| freeze.done_ns(begun, done)), [90, 100, 160, 160, 160]);
        assert_eq!(Freeze::default().done_ns(0, 10), 10);
    }
}
