//! Users of a closed load with scheduled start times. The intended time of an iteration is its scheduled time, however late the
//! user starts it. In an unpaced load, it is the time at which the user is ready: no schedule asks for more.

use super::Worker;
use crate::driver::Driver;
use crate::timers::{NEVER, Reason};

impl Worker<'_> {
    /// Ends the iteration of a user who can start the next one at `ready_ns`. An iteration whose scheduled time has passed by then
    /// starts immediately, late.
    #[cold]
    pub(super) fn follow_schedule(&mut self, number: u32, ready_ns: u64, at_ns: u64, back_off_ns: u64) {
        let Driver::Closed { schedules: Some(schedules), .. } = &self.driver else { return };
        let is_unpaced = matches!(&self.job.load, load::Load::Closed(closed) if closed.is_unpaced);
        let due_ns = |next_ns: u64| if is_unpaced { next_ns.max(ready_ns) } else { next_ns };
        let next_ns = schedules.next_ns(number).map(due_ns);
        if let Some(next_ns) = next_ns {
            self.pauses(number, at_ns, next_ns.max(ready_ns));
            self.count_retry(number);
        }
        if self.dispatch.pool.is_some() {
            let next = next_ns.map(|next_ns| (next_ns, next_ns.max(ready_ns)));
            return self.leave_lane(number, next, at_ns, back_off_ns);
        }
        let Some(next_ns) = next_ns else { return self.note_user_stopped() };
        let ready_ns = ready_ns.max(at_ns.saturating_add(back_off_ns));
        let user = &mut self.users[number as usize];
        user.next_ns = next_ns;
        user.free_ns = user.free_ns.max(ready_ns);
        let start_ns = next_ns.max(ready_ns);
        if start_ns <= at_ns {
            self.start_scheduled(number, at_ns);
        } else {
            self.timers.set(start_ns, number, Reason::Wake);
        }
    }

    /// Starts the next iteration of a user. After the end of the load, late users have [`LATE_SENDING_NS`](super::LATE_SENDING_NS)
    /// left, like due requests of an open load.
    pub(super) fn start_scheduled(&mut self, number: u32, now_ns: u64) {
        let next_ns = self.users[number as usize].next_ns;
        if !(self.stop.admits(next_ns, self.planned) && self.may_assign_links(now_ns)) {
            return self.note_user_stopped();
        }
        self.advance_schedule(number);
        self.begin_iteration(number, None, false, next_ns, now_ns);
    }

    /// Moves a user to its next scheduled time, when the current one counts as planned.
    pub(super) fn advance_schedule(&mut self, number: u32) {
        if let Driver::Closed { schedules: Some(schedules), .. } = &mut self.driver {
            schedules.advance(number);
        }
    }

    /// Returns whether a user may still start an iteration scheduled before the end of the load. Timers for scheduled times may fire after
    /// the end.
    #[cold]
    pub(super) fn has_scheduled(&self, now_ns: u64) -> bool {
        let Driver::Closed { schedules: Some(schedules), .. } = &self.driver else { return false };
        let next_ns = schedules.earliest_ns();
        next_ns.is_some_and(|next_ns| self.stop.admits(next_ns, self.planned))
            && self.may_assign_links(now_ns)
    }

    /// Counts scheduled iterations that their users did not reach as planned; they are not sent.
    pub(super) fn count_rest_of_schedules(&mut self, now_ns: u64) {
        let until_ns = now_ns.min(self.stop.at_ns.unwrap_or(NEVER));
        for number in 0..self.users.len() as u32 {
            while let Driver::Closed { schedules: Some(schedules), .. } = &mut self.driver
                && let Some(next_ns) = schedules.next_ns(number)
                && next_ns < until_ns
                && self.stop.admits(next_ns, self.planned)
            {
                schedules.advance(number);
                let step = self.iterations.next_step(&self.users[number as usize]);
                self.accounts[usize::from(step)].note_due(next_ns);
                self.note_planned(next_ns);
            }
        }
    }
}
