//! Continuation after a request: the next step of the iteration, a pause, or the next iteration.

use load::{Load, SECOND_NS};

use super::Worker;
use crate::driver::Driver;
use crate::exchange::Exchange;
use crate::running::StopLevel;
use crate::timers::Reason;
use crate::user::NO_LANE;

/// Back-off of a user whose steps before the first iteration failed, such as a rejected log-in.
const ONCE_BACK_OFF_NS: u64 = SECOND_NS / 10;

impl Worker<'_> {
    /// Starts an iteration of a user without a request in flight; in an open load, the iteration of `arrival`. `was_due`: the
    /// request was counted as planned before.
    #[inline]
    pub(super) fn begin_iteration(
        &mut self,
        number: u32,
        arrival: Option<u64>,
        was_due: bool,
        intended_ns: u64,
        now_ns: u64,
    ) {
        let step = match self.iterations.only_step {
            Some(step) => step,
            None => self.choose(number, arrival, intended_ns),
        };
        self.begin(number, step, was_due, intended_ns, now_ns);
    }

    /// Chooses the scenario and draws the values of an iteration. Returns its first step.
    fn choose(&mut self, number: u32, arrival: Option<u64>, intended_ns: u64) -> u16 {
        let user = &mut self.users[number as usize];
        if let Some(arrival) = arrival {
            user.chance = self.iterations.chance(arrival);
        }
        self.iterations.begin(number, user, intended_ns)
    }

    /// Continues a user whose request has ended, after a pause if `back_off_ns` is not 0.
    #[inline]
    pub(super) fn resume_user(
        &mut self,
        number: u32,
        exchange: &Exchange,
        at_ns: u64,
        is_ok: bool,
        back_off_ns: u64,
    ) {
        if self.iterations.only_step.is_some() {
            self.end_iteration(number, exchange.intended_ns, at_ns, at_ns, back_off_ns);
        } else if let Some(iteration_end_ns) = self.continue_iteration(number, exchange, at_ns, is_ok) {
            let begun_ns = self.users[number as usize].begun_ns;
            self.end_iteration(number, begun_ns, iteration_end_ns, at_ns, back_off_ns);
        }
    }

    /// Stops a user of a closed load for the reason `words`. The last user to stop ends the load. In an open load the user
    /// continues, because arrivals are not tied to users.
    #[cold]
    pub(super) fn stop_user(&mut self, number: u32, words: String, exchange: &Exchange, at_ns: u64) {
        let Load::Closed(closed) = &self.job.load else {
            return self.resume_user(number, exchange, at_ns, false, 0);
        };
        self.note_user_stopped();
        if let Driver::Closed { schedules: Some(schedules), .. } = &mut self.driver {
            schedules.end(number);
        }
        let user = &mut self.users[number as usize];
        if let Some(pool) = &mut self.dispatch.pool {
            let lane = std::mem::replace(&mut user.lane, NO_LANE);
            pool.free_ns[lane as usize] = user.free_ns;
            self.take_next_user(lane, at_ns);
        }
        let users = self.job.share.of_total(u64::from(closed.users));
        if u64::from(self.signal.count_stopped_user()) == users {
            self.abort_load(words);
        }
    }

    /// Continues within an iteration. Returns the end of the iteration if it is over, otherwise `None`.
    fn continue_iteration(
        &mut self,
        number: u32,
        exchange: &Exchange,
        at_ns: u64,
        is_ok: bool,
    ) -> Option<u64> {
        let is_open = matches!(self.driver, Driver::Open(_));
        let user = &mut self.users[number as usize];
        let think_time = self.iterations.visit(user.place).think;
        // In an open load, Tenbin's own delay in starting a request does not delay the next step.
        let late_ns = exchange.begun_ns.saturating_sub(exchange.intended_ns);
        let ended_ns = if is_open && is_ok { at_ns.saturating_sub(late_ns) } else { at_ns };
        let intended_ns = ended_ns.saturating_add(think_time.draw(&mut user.pauses));
        let Some(next) = self.iterations.after(user).filter(|_| is_ok) else {
            let once_start = self.iterations.once_start().map(|place| place.scenario);
            user.has_run_once_steps |= is_ok && Some(user.place.scenario) == once_start;
            return Some(intended_ns);
        };
        if !self.stop.admits(intended_ns.max(at_ns), self.planned) {
            // The iteration is cut short; a due arrival may have the user immediately.
            return Some(if is_open { at_ns } else { intended_ns });
        }
        user.place = next;
        if intended_ns <= at_ns {
            let step = self.iterations.visit(next).step;
            self.begin(number, step, false, intended_ns, at_ns);
        } else {
            user.is_paused = true;
            (user.next_ns, user.free_ns) = (intended_ns, intended_ns);
            self.paused += 1;
            self.timers.set(intended_ns, number, Reason::Wake);
        }
        None
    }

    /// Ends an iteration that began at `begun_ns`. `iteration_end_ns` may lie ahead, since the last pause belongs to the iteration.
    #[inline]
    fn end_iteration(
        &mut self,
        number: u32,
        begun_ns: u64,
        iteration_end_ns: u64,
        at_ns: u64,
        back_off_ns: u64,
    ) {
        let back_off_ns = match self.iterations.once_start() {
            None => back_off_ns,
            Some(_) => self.once_back_off_ns(number, back_off_ns),
        };
        let ready_ns = iteration_end_ns.max(at_ns.saturating_add(back_off_ns));
        match &mut self.driver {
            Driver::Open(open) if ready_ns <= at_ns => open.idle.push_back(number),
            Driver::Open(_) => {
                self.users[number as usize].free_ns = ready_ns;
                self.timers.set(ready_ns, number, Reason::Wake);
            }
            Driver::Closed { schedules: Some(_), .. } => {
                self.follow_schedule(number, iteration_end_ns, at_ns, back_off_ns);
            }
            Driver::Closed { cadence, .. } if self.dispatch.pool.is_some() => {
                let next_ns = cadence.next(begun_ns, iteration_end_ns).max(iteration_end_ns);
                self.pauses(number, at_ns, next_ns);
                self.count_retry(number);
                self.leave_lane(number, Some((next_ns, next_ns)), at_ns, back_off_ns);
            }
            Driver::Closed { cadence, .. } => {
                let wanted_ns = cadence.next(begun_ns, iteration_end_ns).max(iteration_end_ns);
                self.schedule_next_iteration(number, wanted_ns, wanted_ns.max(ready_ns), at_ns);
            }
        }
    }

    /// Schedules the next iteration of a user of a closed load at `next_ns`, which is later than `wanted_ns` after a back-off.
    #[inline]
    fn schedule_next_iteration(&mut self, number: u32, wanted_ns: u64, next_ns: u64, at_ns: u64) {
        self.pauses(number, at_ns, wanted_ns);
        if !self.stop.admits(next_ns, self.planned) {
            return self.note_user_stopped();
        }
        self.count_retry(number);
        if next_ns <= at_ns {
            self.begin_iteration(number, None, false, next_ns, at_ns);
        } else {
            self.users[number as usize].next_ns = next_ns;
            self.timers.set(next_ns, number, Reason::Wake);
        }
    }

    /// Returns the back-off of a user, at least [`ONCE_BACK_OFF_NS`] if the steps before its first iteration failed.
    #[cold]
    fn once_back_off_ns(&self, number: u32, back_off_ns: u64) -> u64 {
        let has_run_once_steps = self.users[number as usize].has_run_once_steps;
        if has_run_once_steps { back_off_ns } else { back_off_ns.max(ONCE_BACK_OFF_NS) }
    }

    /// Continues a user whose pause or back-off is over.
    pub(super) fn wake(&mut self, number: u32, now_ns: u64) {
        let user = &mut self.users[number as usize];
        if user.lane == NO_LANE {
            return self.queue_ready_user(number, now_ns);
        }
        let (intended_ns, place) = (user.next_ns, user.place);
        let was_paused = std::mem::take(&mut user.is_paused);
        self.paused -= u32::from(was_paused);
        let may_start =
            self.stop.admits(intended_ns, self.planned) && self.signal.level(now_ns) == StopLevel::Go;
        match &mut self.driver {
            _ if was_paused && may_start => {
                let step = self.iterations.visit(place).step;
                self.begin(number, step, false, intended_ns, now_ns);
            }
            Driver::Open(_) if !self.users[number as usize].has_run_once_steps => {
                if may_start {
                    self.begin_iteration(number, None, false, intended_ns.max(now_ns), now_ns);
                }
            }
            Driver::Open(open) => open.idle.push_back(number),
            Driver::Closed { .. } if self.dispatch.pool.is_some() => {
                self.leave_lane(number, Some((intended_ns, intended_ns)), now_ns, 0);
            }
            Driver::Closed { schedules: Some(_), .. } => self.start_scheduled(number, now_ns),
            Driver::Closed { .. } if may_start => {
                self.begin_iteration(number, None, false, intended_ns, now_ns);
            }
            Driver::Closed { active, .. } => *active -= 1,
        }
    }
}
