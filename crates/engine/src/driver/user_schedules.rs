//! Users of a closed load who start at instants of their own.

use load::{Arrivals, Schedule};

/// By user of one worker, the instants at which it has not started yet.
pub(crate) struct UserSchedules(Vec<UserSchedule>);

struct UserSchedule {
    next_ns: Option<u64>,
    rest: Arrivals,
}

impl UserSchedules {
    /// `first_user`: the number over all workers of the first of the `users` of this one.
    pub(super) fn new(schedule: &Schedule, first_user: u32, users: u32) -> Self {
        let numbers = u64::from(first_user)..u64::from(first_user) + u64::from(users);
        let of_user = |mut rest: Arrivals| UserSchedule { next_ns: rest.next(), rest };
        Self(schedule.of_users(numbers).into_iter().map(of_user).collect())
    }

    /// When the next iteration of a user is intended; `None` after the last.
    pub(crate) fn next_ns(&self, user: u32) -> Option<u64> {
        self.0[user as usize].next_ns
    }

    /// A user starts its next iteration, or never will.
    pub(crate) fn advance(&mut self, user: u32) {
        let own = &mut self.0[user as usize];
        own.next_ns = own.rest.next();
    }

    /// A user makes no further request.
    pub(crate) fn end(&mut self, user: u32) {
        self.0[user as usize].rest = Arrivals::none();
        self.0[user as usize].next_ns = None;
    }
}
