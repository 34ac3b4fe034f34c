//! A server that stands still for a while.

/// From one instant to another nothing is begun, and what is being served takes that much longer. Nanoseconds since the load began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freeze {
    /// When it begins.
    pub from_ns: u64,
    /// When it is over.
    pub to_ns: u64,
}

impl Freeze {
    /// When a request is done that would be served from one instant to another.
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
    fn what_meets_the_freeze_takes_longer_by_what_it_meets_of_it() {
        let freeze = Freeze { from_ns: 100, to_ns: 150 };
        let done = [(0, 90), (0, 100), (60, 110), (120, 130), (150, 160)];
        assert_eq!(done.map(|(begun, done)| freeze.done_ns(begun, done)), [90, 100, 160, 160, 160]);
        assert_eq!(Freeze::default().done_ns(0, 10), 10);
    }
}
