//! What a worker must look at, and when: a heap that is corrected lazily.
//!
//! A request's deadline is not taken out when the reply comes: a user keeps at most one live entry, which, when it
//! comes up, is checked against the user's present deadline and put back if that is later. So a request costs the
//! heap nothing, and a user one entry per time-out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No deadline, or no timer.
pub(crate) const NEVER: u64 = u64::MAX;

/// Who is to be looked at, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// The deadline of a user's request may have passed.
    Deadline,
    /// A user's next request is due, or its back-off is over.
    Wake,
    /// A pause within a user's request is over.
    GoOn,
    /// The back-off of a lane of the pool is over.
    Lane,
    /// There may be room for exchanges that wait at a peer.
    Room,
}

/// Times in order, with the number of the user, link or lane, and the reason.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(u64, u32, Reason)>>,
}

impl Timers {
    pub(crate) fn set(&mut self, at_ns: u64, number: u32, reason: Reason) {
        self.heap.push(Reverse((at_ns, number, reason)));
    }

    /// The earliest instant.
    #[inline]
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((at_ns, ..))| *at_ns)
    }

    /// The earliest entry that has come.
    #[inline]
    pub(crate) fn pop_due(&mut self, now_ns: u64) -> Option<(u64, u32, Reason)> {
        if self.next_ns()? > now_ns {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_in_order_and_not_before_their_time() {
        let mut timers = Timers::default();
        timers.set(30, 3, Reason::Wake);
        timers.set(10, 1, Reason::Deadline);
        timers.set(20, 2, Reason::Wake);
        assert_eq!(timers.next_ns(), Some(10));
        assert_eq!(timers.pop_due(9), None);
        assert_eq!(timers.pop_due(20), Some((10, 1, Reason::Deadline)));
        assert_eq!(timers.pop_due(20), Some((20, 2, Reason::Wake)));
        assert_eq!(timers.pop_due(20), None);
    }
}
