//! Since when users want a reply: from the intended start of a request to its end, and while something other than their own pause
//! keeps the next one from being sent.

use record::{Outcome, WaitEnd};

use super::Worker;
use crate::driver::Driver;
use crate::timers::NEVER;

impl Worker<'_> {
    /// A user waits for the reply to a request that was intended at this instant.
    #[inline]
    pub(super) fn wants(&mut self, number: u32, intended_ns: u64) {
        let user = &mut self.users[number as usize];
        if user.asking_since_ns == NEVER {
            user.asking_since_ns = intended_ns;
        } else {
            self.retries(number, intended_ns);
        }
    }

    /// A user who got no ok answer asks again.
    #[cold]
    fn retries(&mut self, number: u32, intended_ns: u64) {
        self.retrying = self.retrying.saturating_sub(1);
        let user = &mut self.users[number as usize];
        user.asking_since_ns = user.asking_since_ns.min(intended_ns);
        let since_ns = user.asking_since_ns;
        self.signals.waiting(since_ns);
    }

    /// A user has got its ok answer.
    #[inline]
    pub(super) fn is_answered_ok(&mut self, number: u32, intended_ns: u64, at_ns: u64) {
        self.signals.answered_ok(intended_ns, at_ns);
        let to_ns = at_ns.min(self.stop.at_ns.unwrap_or(NEVER));
        let user = &mut self.users[number as usize];
        let wait_ns = user.waited_ns() + self.signals.wait_ns(user.asking_since_ns, to_ns);
        self.signals.waited(wait_ns, user.wait_end);
        (user.asking_since_ns, user.waited_units, user.wait_end) = (NEVER, 0, WaitEnd::Answer);
    }

    /// The request of a user has ended without an ok answer.
    pub(super) fn is_not_answered(&mut self, number: u32, outcome: Outcome) {
        let user = &mut self.users[number as usize];
        if let Driver::Open(_) = self.driver {
            // The next arrival is another user.
            user.asking_since_ns = NEVER;
            return;
        }
        user.wait_end = match outcome {
            Outcome::TimedOut if user.wait_end != WaitEnd::Failure => WaitEnd::Silence,
            _ => WaitEnd::Failure,
        };
    }

    /// A user of a closed load whose request ended at `at_ns` waits for the next reply from `wanted_ns` on, even if a back-off makes it
    /// send later. Between them it waits for none, if it has had no ok answer.
    #[inline]
    pub(super) fn pauses(&mut self, number: u32, at_ns: u64, wanted_ns: u64) {
        let user = &mut self.users[number as usize];
        if user.wait_end != WaitEnd::Answer && wanted_ns > at_ns {
            let to_ns = at_ns.min(self.stop.at_ns.unwrap_or(NEVER));
            user.note_waited(self.signals.wait_ns(user.asking_since_ns, to_ns));
            user.asking_since_ns = wanted_ns;
        }
    }

    /// A user of a closed load will ask again, if it has had no ok answer.
    #[inline]
    pub(super) fn will_retry(&mut self, number: u32) {
        self.retrying += u32::from(self.users[number as usize].wait_end != WaitEnd::Answer);
    }

    /// Tells the signals since when requests wait to be sent, if any do.
    pub(super) fn note_waiting(&mut self, now_ns: u64) -> bool {
        let since_ns = self.waiting_since_ns().filter(|since_ns| *since_ns <= now_ns);
        if let Some(since_ns) = since_ns {
            self.signals.waiting(since_ns);
        }
        since_ns.is_some()
    }

    /// The intended start of the first request that is not sent yet, which may lie ahead: arrivals without a connection, users
    /// without one, and users who are held up by a back-off.
    fn waiting_since_ns(&self) -> Option<u64> {
        let arrival_ns = match &self.driver {
            Driver::Open(open) => open.next_start_ns(),
            Driver::Closed { .. } => None,
        };
        let pooled = self.dispatch.pool.as_ref().and_then(|pool| pool.waiting.front().copied());
        let waiting = pooled.into_iter().chain(self.dispatch.first_waiting());
        let waiting_ns = waiting.map(|user| self.users[user as usize].next_ns);
        let held_up = self.users.iter().filter(|user| self.retrying > 0 && user.exchange.is_none());
        let held_up_ns = held_up.map(|user| user.asking_since_ns).min();
        arrival_ns.into_iter().chain(waiting_ns).chain(held_up_ns).min()
    }

    /// Users who still wanted an ok answer when the load ended have waited for it in vain.
    pub(super) fn end_waits(&mut self, now_ns: u64) {
        let to_ns = now_ns.min(self.stop.at_ns.unwrap_or(NEVER));
        for user in &self.users {
            let wait_ns = user.waited_ns() + self.signals.wait_ns(user.asking_since_ns, to_ns);
            let end = if user.wait_end == WaitEnd::Failure { WaitEnd::Failure } else { WaitEnd::Silence };
            self.signals.waited(wait_ns, end);
        }
    }
}
