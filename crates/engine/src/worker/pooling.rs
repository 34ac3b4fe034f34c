//! Users who share connections: each takes a free one for an iteration, and waits for it as long as there is none.

use std::collections::VecDeque;

use wire::Script;

use super::{LATE_SENDING_NS, Worker};
use crate::driver::Driver;
use crate::iterations::Way;
use crate::running::StopLevel;
use crate::timers::Reason;

/// The users of one worker, if they are more than its connections.
pub(crate) struct Pool {
    pub(super) users: Vec<User>,
    /// Slots that nobody uses.
    idle: VecDeque<u32>,
    /// Users who are ready, in the order in which they came to be.
    waiting: VecDeque<u32>,
}

pub(super) struct User {
    /// Where the user is; that of the connection while the user has one.
    pub(super) way: Way,
    /// When the next iteration is intended.
    next_ns: u64,
}

impl Pool {
    pub(super) fn new(ways: impl Iterator<Item = Way>, slots: u32) -> Self {
        let users = ways.map(|way| User { way, next_ns: 0 }).collect();
        Self { users, idle: (0..slots).collect(), waiting: VecDeque::new() }
    }

    /// How many users there are.
    pub(super) fn users(&self) -> u32 {
        self.users.len() as u32
    }

    /// Says when the next iteration of a user is intended.
    pub(super) fn expect(&mut self, user: u32, next_ns: u64) {
        self.users[user as usize].next_ns = next_ns;
    }

    /// Whether somebody waits for a connection.
    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }
}

impl<S: Script> Worker<'_, S> {
    /// A user is ready for the next iteration: it counts as planned from now on, whether or not a connection is free.
    pub(super) fn user_is_ready(&mut self, user: u32, now_ns: u64) {
        let may_start = self.signal.level(now_ns) == StopLevel::Go;
        let Driver::Closed { pool: Some(pool), active, .. } = &mut self.driver else { return };
        let User { way, next_ns } = &pool.users[user as usize];
        let intended_ns = *next_ns;
        if !(may_start && self.stop.admits(intended_ns, self.planned)) {
            *active -= 1;
            return;
        }
        let step = self.iterations.next_step(way);
        pool.waiting.push_back(user);
        let slot = pool.idle.pop_front();
        self.books[usize::from(step)].note_due(intended_ns);
        self.note_planned(intended_ns);
        if let Some(slot) = slot {
            self.take_next_user(slot, now_ns);
        }
    }

    /// Gives a slot that carries nothing to the user who has waited longest, if there is one. Whoever waits when the load ends
    /// has a little time left, as what is due in an open load; after that it was planned and is not sent.
    pub(super) fn take_next_user(&mut self, slot: u32, now_ns: u64) {
        let may_start = self.may_seat(now_ns);
        let Driver::Closed { pool: Some(pool), .. } = &mut self.driver else { return };
        let Some(user) = pool.waiting.pop_front_if(|_| may_start) else {
            pool.idle.push_back(slot);
            return;
        };
        let User { way, next_ns } = &mut pool.users[user as usize];
        let (connection, intended_ns) = (&mut self.connections[slot as usize], *next_ns);
        std::mem::swap(way, &mut connection.way);
        connection.user = user;
        self.begin_iteration(slot, None, true, intended_ns, now_ns);
    }

    /// The iteration of a slot's user is over: the slot serves others, after a pause if `back_off_ns` is not 0, and the user is
    /// ready again at `next_ns`.
    pub(super) fn leave_connection(&mut self, slot: u32, next_ns: u64, at_ns: u64, back_off_ns: u64) {
        let goes_on = self.stop.admits(next_ns, self.planned);
        let Driver::Closed { pool: Some(pool), active, .. } = &mut self.driver else { return };
        let connection = &mut self.connections[slot as usize];
        let (user, next) = (connection.user, &mut pool.users[connection.user as usize]);
        std::mem::swap(&mut next.way, &mut connection.way);
        next.next_ns = next_ns;
        *active -= u32::from(!goes_on);
        if back_off_ns > 0 {
            connection.free_ns = at_ns.saturating_add(back_off_ns);
            self.timers.set(connection.free_ns, slot, Reason::Wake);
        } else {
            self.take_next_user(slot, at_ns);
        }
        // After a failure in the next turn: connections that cannot be opened would be taken one from within the other.
        if goes_on && next_ns <= at_ns && back_off_ns == 0 {
            self.user_is_ready(user, at_ns);
        } else if goes_on {
            self.timers.set(next_ns, user, Reason::User);
        }
    }

    /// Whether users who wait for a connection may still have one.
    pub(super) fn may_seat(&self, now_ns: u64) -> bool {
        let may_at = |at_ns: u64| now_ns < at_ns.saturating_add(LATE_SENDING_NS);
        self.signal.level(now_ns) == StopLevel::Go && self.stop.at_ns.is_none_or(may_at)
    }
}
