//! Which connections must be looked at, and when. An entry that no longer holds is dropped when it comes up, or when most are such.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::pair::Key;

/// Fewer entries are not worth sorting out.
const ENTRIES_MIN: usize = 1024;

/// Why a connection must be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// Bytes from this side may leave.
    Leave(usize),
    /// It is to be reset.
    Reset,
}

/// Times in order, each with a connection and a reason.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(u64, Key, Reason)>>,
}

impl Timers {
    pub(crate) fn set(&mut self, at_ns: u64, key: Key, reason: Reason) {
        self.heap.push(Reverse((at_ns, key, reason)));
    }

    /// The earliest instant.
    #[inline]
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((at_ns, ..))| *at_ns)
    }

    /// The earliest entry whose time has come.
    #[inline]
    pub(crate) fn pop_due(&mut self, now_ns: u64) -> Option<(u64, Key, Reason)> {
        if self.next_ns()? > now_ns {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry)
    }

    /// Drops the entries of connections that are gone, if there are many more entries than `open` connections can need. So
    /// connections that come and go leave nothing behind.
    pub(crate) fn tidy(&mut self, open: usize, is_open: impl Fn(Key) -> bool) {
        if self.heap.len() > ENTRIES_MIN + 8 * open {
            self.heap.retain(|Reverse((_, key, _))| is_open(*key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = Key { slot: 1, generation: 0 };

    #[test]
    fn entries_come_in_order_and_not_before_their_time() {
        let mut timers = Timers::default();
        timers.set(30, KEY, Reason::Reset);
        timers.set(10, KEY, Reason::Leave(0));
        assert_eq!(timers.pop_due(9), None);
        assert_eq!(timers.pop_due(40), Some((10, KEY, Reason::Leave(0))));
        assert_eq!(timers.pop_due(40), Some((30, KEY, Reason::Reset)));
        assert_eq!(timers.pop_due(40), None);
    }

    #[test]
    fn connections_that_are_gone_leave_nothing_behind() {
        let mut timers = Timers::default();
        for generation in 0..10_000 {
            timers.set(u64::MAX, Key { slot: 0, generation }, Reason::Reset);
            timers.tidy(1, |key| key.generation == generation);
        }
        assert!(timers.heap.len() <= 2 * ENTRIES_MIN, "{}", timers.heap.len());
    }
}
