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
    /// Time to look for idle connections.
    Sweep,
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

/// Alarms by time; equal times keep their order.
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

/// How late the kernel wakes this thread, learned from its time-outs; waits are made shorter by it.
/// The last microseconds are then spent polling, which is what makes a hold as long as it was drawn.
#[derive(Default)]
pub(crate) struct Lead(Duration);

/// Longest polling before an alarm; a machine that wakes later than this is only partly made up for.
const LONGEST_LEAD: Duration = Duration::from_micros(150);

impl Lead {
    /// Takes note of a time-out that ended so much too late.
    pub(crate) fn learn(&mut self, late: Duration) {
        self.0 = (self.0 * 7 + late.min(LONGEST_LEAD)) / 8;
    }

    /// How long to wait for something that is due after `left`.
    pub(crate) fn shorten(&self, left: Duration) -> Duration {
        left.saturating_sub(self.0)
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
    fn waits_are_shortened_by_the_usual_lateness_and_no_more() {
        let (mut lead, us) = (Lead::default(), Duration::from_micros);
        assert_eq!(lead.shorten(us(500)), us(500));
        (0..100).for_each(|_| lead.learn(us(40)));
        assert!((us(455)..us(465)).contains(&lead.shorten(us(500))));
        assert_eq!(lead.shorten(us(10)), Duration::ZERO);
        (0..100).for_each(|_| lead.learn(us(90_000)));
        assert!(lead.shorten(us(500)) >= us(500) - LONGEST_LEAD);
    }

    #[test]
    fn alarms_come_soonest_first_and_never_early() {
        let start = Instant::now();
        let mut timers = Timers::default();
        for (ms, slot) in [(30, 3), (10, 1), (20, 2), (10, 9)] {
            let alarm = Alarm::Linger(Token { slot, generation: 0 });
            timers.push(start + Duration::from_millis(ms), alarm);
        }
        let mut due = |ms| {
            std::iter::from_fn(|| match timers.pop(start + Duration::from_millis(ms)) {
                Some(Alarm::Linger(token)) => Some(token.slot),
                _ => None,
            })
            .collect::<Vec<_>>()
        };
        assert_eq!(due(9), [] as [u32; 0]);
        assert_eq!(due(20), [1, 9, 2]);
        assert_eq!(due(40), [3]);
    }
}
