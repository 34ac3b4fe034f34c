//! Users of a closed load with scheduled start times.

use std::ops::Range;

use load::{Arrivals, Schedule};

/// Scheduled send times that each user of one worker has not reached yet, by user.
pub(crate) struct UserSchedules(Vec<UserSchedule>);

struct UserSchedule {
    next_ns: Option<u64>,
    rest: Arrivals,
}

impl UserSchedules {
    /// Creates the schedules of `users`, numbered over all workers.
    pub(super) fn new(schedule: &Schedule, users: Range<u32>) -> Self {
        let numbers = users.start.into()..users.end.into();
        let of_user = |mut rest: Arrivals| UserSchedule { next_ns: rest.next(), rest };
        Self(schedule.of_users(numbers).into_iter().map(of_user).collect())
    }

    /// Returns the intended start of a user's next iteration. `None` after the last.
    pub(crate) fn next_ns(&self, user: u32) -> Option<u64> {
        self.0[user as usize].next_ns
    }

    /// Returns the earliest intended start over all users. `None` after the last.
    pub(crate) fn earliest_ns(&self) -> Option<u64> {
        self.0.iter().filter_map(|own| own.next_ns).min()
    }

    /// Moves a user to its next scheduled iteration.
    pub(crate) fn advance(&mut self, user: u32) {
        let own = &mut self.0[user as usize];
        own.next_ns = own.rest.next();
    }

    /// Drops the remaining iterations of a user.
    pub(crate) fn end(&mut self, user: u32) {
        self.0[user as usize].rest = Arrivals::none();
        self.0[user as usize].next_ns = None;
    }
}
