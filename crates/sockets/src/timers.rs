//! Timers in a binary heap with lazy deletion: the caller ignores outdated entries.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Min-heap of times, each with an owner and a reason. An entry stays until it is due, even if it is outdated.
#[derive(Debug)]
pub struct Timers<Owner, Reason> {
    heap: BinaryHeap<Reverse<(u64, Owner, Reason)>>,
}

impl<Owner: Ord, Reason: Ord> Default for Timers<Owner, Reason> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new() }
    }
}

impl<Owner: Ord, Reason: Ord> Timers<Owner, Reason> {
    /// Creates a heap with capacity for `entries`, because growth leaves freed memory behind.
    pub fn with_capacity(entries: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(entries) }
    }

    /// Adds an entry.
    #[inline]
    pub fn set(&mut self, at_ns: u64, owner: Owner, reason: Reason) {
        self.heap.push(Reverse((at_ns, owner, reason)));
    }

    /// Returns the earliest time. `None` if there is no entry.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((at_ns, ..))| *at_ns)
    }

    /// Removes and returns the earliest entry if it is due.
    #[inline]
    pub fn pop_due(&mut self, now_ns: u64) -> Option<(u64, Owner, Reason)> {
        if self.next_ns()? > now_ns {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry)
    }

    /// Returns the number of entries, including outdated ones.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Returns true if there is no entry.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Keeps only the entries whose owner satisfies `is_kept`.
    pub fn retain(&mut self, is_kept: impl Fn(&Owner) -> bool) {
        self.heap.retain(|Reverse((_, owner, _))| is_kept(owner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_up_in_order_and_not_early() {
        let mut timers = Timers::default();
        timers.set(30, 3, 'b');
        timers.set(10, 1, 'a');
        timers.set(20, 2, 'b');
        assert_eq!(timers.next_ns(), Some(10));
        assert_eq!(timers.pop_due(9), None);
        assert_eq!(timers.pop_due(20), Some((10, 1, 'a')));
        assert_eq!(timers.pop_due(20), Some((20, 2, 'b')));
        assert_eq!(timers.pop_due(20), None);
        assert_eq!((timers.pop_due(40), timers.pop_due(40)), (Some((30, 3, 'b')), None));
    }
}
