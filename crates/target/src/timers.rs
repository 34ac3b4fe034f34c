//! Timers of a reactor, earliest first.

use crate::slab::Token;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

/// Kind of a timer.
#[derive(Debug)]
pub(crate) enum TimerKind {
    /// A hold has ended.
    Held(Hold),
    /// A scan for idle connections is due.
    Sweep,
    /// A closing connection has had enough time to read its last reply.
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

/// Timers by time. Simultaneous timers keep their order.
#[derive(Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Entry>,
    pushed: u64,
}

struct Entry {
    at: Instant,
    number: u64,
    kind: TimerKind,
}

impl Timers {
    pub(crate) fn push(&mut self, at: Instant, kind: TimerKind) {
        self.heap.push(Entry { at, number: self.pushed, kind });
        self.pushed += 1;
    }

    /// Removes and returns the next timer that is due at `now`.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<TimerKind> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|entry| entry.kind)
    }

    pub(crate) fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|entry| entry.at)
    }
}

/// Delay of this thread's wake-ups, learned from its timeouts. Waits are shortened by it, and the last microseconds are spent
/// polling, so that a hold takes exactly the drawn time.
#[derive(Default)]
pub(crate) struct WakeUpLead(Duration);

/// Maximum time of polling before a timer. A later wake-up is compensated only in part.
const LEAD_MAX: Duration = Duration::from_micros(150);

impl WakeUpLead {
    /// Learns from a timeout that was `late`.
    pub(crate) fn learn(&mut self, late: Duration) {
        self.0 = (self.0 * 7 + late.min(LEAD_MAX)) / 8;
    }

    /// Returns the time to wait for a timer that is due after `left`.
    pub(crate) fn shorten(&self, left: Duration) -> Duration {
        left.saturating_sub(self.0)
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        // Reversed, because the heap returns its greatest element, and the earliest is needed.
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
    fn waits_are_shortened_by_the_learned_delay() {
        let (mut lead, us) = (WakeUpLead::default(), Duration::from_micros);
        assert_eq!(lead.shorten(us(500)), us(500));
        (0..100).for_each(|_| lead.learn(us(40)));
        assert!((us(455)..us(465)).contains(&lead.shorten(us(500))));
        assert_eq!(lead.shorten(us(10)), Duration::ZERO);
        (0..100).for_each(|_| lead.learn(us(90_000)));
        assert!(lead.shorten(us(500)) >= us(500) - LEAD_MAX);
    }

    #[test]
    fn timers_expire_in_order_and_never_early() {
        let start = Instant::now();
        let mut timers = Timers::default();
        for (ms, slot) in [(30, 3), (10, 1), (20, 2), (10, 9)] {
            let kind = TimerKind::Linger(Token { slot, generation: 0 });
            timers.push(start + Duration::from_millis(ms), kind);
        }
        let mut due = |ms| {
            std::iter::from_fn(|| match timers.pop(start + Duration::from_millis(ms)) {
                Some(TimerKind::Linger(token)) => Some(token.slot),
                _ => None,
            })
            .collect::<Vec<_>>()
        };
        assert_eq!(due(9), [] as [u32; 0]);
        assert_eq!(due(20), [1, 9, 2]);
        assert_eq!(due(40), [3]);
    }
}
