//! Users of a closed load who start at times of their own.

use std::ops::Range;

use load::{Arrivals, Schedule};

/// By user of one worker, the scheduled send times to which it has not come yet.
pub(crate) struct UserSchedules(Vec<UserSchedule>);

struct UserSchedule {
    next_ns: Option<u64>,
    rest: Arrivals,
}

impl UserSchedules {
    /// `users` are numbered over all workers.
    pub(super) fn new(schedule: &Schedule, users: Range<u32>) -> Self {
        let numbers = users.start.into()..users.end.into();
        let of_user = |mut rest: Arrivals| UserSchedule { next_ns: rest.next(), rest };
        Self(schedule.of_users(numbers).into_iter().map(of_user).collect())
    }

    /// When the next iteration of a user is intended; `None` after the last.
    pub(crate) fn next_ns(&self, user: u32) -> Option<u64> {
        self.0[user as usize].next_ns
    }

    /// When the next iteration of any user is intended; `None` after the last of all.
    pub(crate) fn earliest_ns(&self) -> Option<u64> {
        self.0.iter().filter_map(|own| own.next_ns).min()
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
