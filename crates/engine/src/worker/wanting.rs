//! Waits of users for OK answers: from the intended start of a request to its end, and while anything except the user's own pause
//! delays the next request.

use record::{Outcome, WaitEnd};

use super::Worker;
use crate::driver::Driver;
use crate::timers::NEVER;

impl Worker<'_> {
    /// Starts the wait of a user for the reply to a request intended at `intended_ns`.
    #[inline]
    pub(super) fn begin_wait(&mut self, number: u32, intended_ns: u64) {
        let user = &mut self.users[number as usize];
        if user.asking_since_ns == NEVER {
            user.asking_since_ns = intended_ns;
        } else {
            self.resume_wait(number, intended_ns);
        }
    }

    /// Continues the wait of a user whose last request got no OK answer.
    #[cold]
    fn resume_wait(&mut self, number: u32, intended_ns: u64) {
        self.retrying = self.retrying.saturating_sub(1);
        let user = &mut self.users[number as usize];
        user.asking_since_ns = user.asking_since_ns.min(intended_ns);
        let since_ns = user.asking_since_ns;
        self.signals.waiting(since_ns);
    }

    /// Ends the wait of a user with an OK answer.
    #[inline]
    pub(super) fn end_wait(&mut self, number: u32, intended_ns: u64, at_ns: u64) {
        self.signals.count_ok(intended_ns, at_ns);
        let to_ns = at_ns.min(self.stop.at_ns.unwrap_or(NEVER));
        let user = &mut self.users[number as usize];
        let wait_ns = user.waited_ns() + self.signals.wait_ns(user.asking_since_ns, to_ns);
        self.signals.record_wait(wait_ns, user.wait_end);
        (user.asking_since_ns, user.waited_units, user.wait_end) = (NEVER, 0, WaitEnd::Answer);
    }

    /// Notes that the request of a user ended without an OK answer.
    pub(super) fn note_unanswered(&mut self, number: u32, outcome: Outcome) {
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

    /// Interrupts the wait of a closed-load user without an OK answer, from `at_ns` to `wanted_ns`, for the user's own pause. A
    /// back-off after `wanted_ns` counts as waiting.
    #[inline]
    pub(super) fn pauses(&mut self, number: u32, at_ns: u64, wanted_ns: u64) {
        let user = &mut self.users[number as usize];
        if user.wait_end != WaitEnd::Answer && wanted_ns > at_ns {
            let to_ns = at_ns.min(self.stop.at_ns.unwrap_or(NEVER));
            user.note_waited(self.signals.wait_ns(user.asking_since_ns, to_ns));
            user.asking_since_ns = wanted_ns;
        }
    }

    /// Counts a user of a closed load who will retry, because it got no OK answer.
    #[inline]
    pub(super) fn count_retry(&mut self, number: u32) {
        self.retrying += u32::from(self.users[number as usize].wait_end != WaitEnd::Answer);
    }

    /// Passes the time since which requests wait to be sent to the signals. Returns whether any wait.
    pub(super) fn note_waiting(&mut self, now_ns: u64) -> bool {
        let since_ns = self.waiting_since_ns().filter(|since_ns| *since_ns <= now_ns);
        if let Some(since_ns) = since_ns {
            self.signals.waiting(since_ns);
        }
        since_ns.is_some()
    }

    /// Returns the intended start of the first unsent request, which may lie in the future. Considers arrivals without a user, users
    /// without a link, and users in a back-off.
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

    /// Records the waits of users who still had no OK answer when the load ended.
    pub(super) fn end_waits(&mut self, now_ns: u64) {
        let to_ns = now_ns.min(self.stop.at_ns.unwrap_or(NEVER));
        for user in &self.users {
            let wait_ns = user.waited_ns() + self.signals.wait_ns(user.asking_since_ns, to_ns);
            let end = if user.wait_end == WaitEnd::Failure { WaitEnd::Failure } else { WaitEnd::Silence };
            self.signals.record_wait(wait_ns, end);
        }
    }
}
