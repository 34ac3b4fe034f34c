//! What a reactor must do at a known instant, soonest first.

use crate::slab::Token;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

/// What is due.
#[derive(Debug)]
pub(crate) enum Alarm {
    /// A hold is over.
    Held(Hold),
    /// Is this connection idle too long?
    Idle(Token),
    /// A closing connection has had time enough to read its last reply.
    Linger(Token),
}

/// A hold in execution.
#[derive(Debug)]
pub(crate) struct Hold {
    pub(crate) token: Token,
    pub(crate) queued: Duration,
    pub(crate) started: Instant,
    pub(crate) drawn: Duration,
}

/// Alarms by instant; equal instants keep their order.
#[derive(Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Entry>,
    pushed: u64,
}

struct Entry {
    at: Instant,
    number: u64,
    alarm: Alarm,
}

impl Timers {
    pub(crate) fn push(&mut self, at: Instant, alarm: Alarm) {
        self.heap.push(Entry { at, number: self.pushed, alarm });
        self.pushed += 1;
    }

    /// The next alarm that is due at `now`.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<Alarm> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|entry| entry.alarm)
    }

    pub(crate) fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|entry| entry.at)
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        // Reversed: the heap gives its greatest, and the soonest is wanted.
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alarms_come_soonest_first_and_never_early() {
        let start = Instant::now();
        let mut timers = Timers::default();
        for (ms, slot) in [(30, 3), (10, 1), (20, 2), (10, 9)] {
            let alarm = Alarm::Idle(Token { slot, generation: 0 });
            timers.push(start + Duration::from_millis(ms), alarm);
        }
        let mut due = |ms| {
            std::iter::from_fn(|| match timers.pop(start + Duration::from_millis(ms)) {
                Some(Alarm::Idle(token)) => Some(token.slot),
                _ => None,
            })
            .collect::<Vec<_>>()
        };
        assert_eq!(due(9), [] as [u32; 0]);
        assert_eq!(due(20), [1, 9, 2]);
        assert_eq!(due(40), [3]);
    }
}
