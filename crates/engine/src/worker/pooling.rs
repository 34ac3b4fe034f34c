//! Users who wait for a link: for a lane of the pool, or for room on shared links.

use super::{LATE_SENDING_NS, Worker};
use crate::driver::Driver;
use crate::running::StopLevel;
use crate::timers::Reason;
use crate::user::NO_LANE;

impl Worker<'_> {
    /// Queues a user of a pool for its next iteration, which counts as planned from now on, whether or not a lane is free.
    pub(super) fn queue_ready_user(&mut self, number: u32, now_ns: u64) {
        let may_start = self.signal.level(now_ns) == StopLevel::Go;
        let user = &self.users[number as usize];
        let intended_ns = user.next_ns;
        if !(may_start && self.stop.admits(intended_ns, self.planned)) {
            self.note_user_stopped();
            return;
        }
        let step = self.iterations.next_step(user);
        self.advance_schedule(number);
        let Some(pool) = &mut self.dispatch.pool else { return };
        pool.waiting.push_back(number);
        let lane = pool.idle.pop_front();
        self.accounts[usize::from(step)].note_due(intended_ns);
        self.note_planned(intended_ns);
        if let Some(lane) = lane {
            self.take_next_user(lane, now_ns);
        }
    }

    /// Gives a free lane to the user who has waited longest, if any. Users who still wait when the load ends have
    /// [`LATE_SENDING_NS`] left, like due requests of an open load. After that their requests count as planned and not sent.
    pub(super) fn take_next_user(&mut self, lane: u32, now_ns: u64) {
        let may_start = self.may_assign_links(now_ns);
        let Some(pool) = &mut self.dispatch.pool else { return };
        let Some(number) = pool.waiting.pop_front_if(|_| may_start) else {
            pool.idle.push_back(lane);
            return;
        };
        let user = &mut self.users[number as usize];
        (user.lane, user.free_ns) = (lane, pool.free_ns[lane as usize]);
        let intended_ns = user.next_ns;
        self.begin_iteration(number, None, true, intended_ns, now_ns);
    }

    /// Ends the iteration of a pool user and frees its lane, after a pause if `back_off_ns` is not 0. `next` gives the intended
    /// time of its next iteration, and the time at which it is ready for it. `None`: the user has no more iterations.
    pub(super) fn leave_lane(&mut self, number: u32, next: Option<(u64, u64)>, at_ns: u64, back_off_ns: u64) {
        let next = next.filter(|(intended_ns, _)| self.stop.admits(*intended_ns, self.planned));
        let Some(pool) = &mut self.dispatch.pool else { return };
        let user = &mut self.users[number as usize];
        let lane = std::mem::replace(&mut user.lane, NO_LANE);
        if let Some((intended_ns, _)) = next {
            user.next_ns = intended_ns;
        }
        pool.free_ns[lane as usize] = user.free_ns;
        if next.is_none() {
            self.note_user_stopped();
        }
        if back_off_ns > 0 {
            let free_ns = at_ns.saturating_add(back_off_ns);
            if let Some(pool) = &mut self.dispatch.pool {
                pool.free_ns[lane as usize] = free_ns;
            }
            self.timers.set(free_ns, lane, Reason::Lane);
        } else {
            self.take_next_user(lane, at_ns);
        }
        // After a failure, in a later turn: connections that cannot be opened would otherwise fail recursively.
        match next {
            Some((_, ready_ns)) if ready_ns <= at_ns && back_off_ns == 0 => {
                self.queue_ready_user(number, at_ns)
            }
            Some((_, ready_ns)) => self.timers.set(ready_ns, number, Reason::Wake),
            None => {}
        }
    }

    /// Counts a user of a closed load who makes no further request.
    pub(super) fn note_user_stopped(&mut self) {
        if let Driver::Closed { active, .. } = &mut self.driver {
            *active -= 1;
        }
    }

    /// Returns whether waiting users may still get a link.
    pub(super) fn may_assign_links(&self, now_ns: u64) -> bool {
        let may_at = |at_ns: u64| now_ns < at_ns.saturating_add(LATE_SENDING_NS);
        self.signal.level(now_ns) == StopLevel::Go && self.stop.at_ns.is_none_or(may_at)
    }

    /// Queues an exchange that finds no room at its peer. It counts as planned from its intended time on.
    #[cold]
    pub(super) fn wait_for_room(
        &mut self,
        number: u32,
        (step, peer): (u16, u16),
        was_due: bool,
        intended_ns: u64,
    ) {
        if !was_due {
            self.accounts[usize::from(step)].note_due(intended_ns);
            self.note_planned(intended_ns);
        }
        self.users[number as usize].next_ns = intended_ns;
        self.dispatch.wait_for_room(peer, number, step);
    }

    /// Begins exchanges that wait for room at a peer, as far as there is room.
    pub(super) fn fill_room(&mut self, peer: u16, now_ns: u64) {
        while self.dispatch.has_waiting_at(peer) && self.may_assign_links(now_ns) {
            let Some((number, step)) = self.dispatch.take_waiting(&self.links, peer) else { return };
            let user = &mut self.users[number as usize];
            user.free_ns = now_ns;
            let intended_ns = user.next_ns;
            self.begin(number, step, true, intended_ns, now_ns);
        }
    }
}
