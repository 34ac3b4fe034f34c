//! What comes after a request: the next step of its iteration, a pause, or the next iteration.

use load::Load;
use wire::{Conversation, Refusal, Script};

use super::Worker;
use crate::connection::InFlight;
use crate::driver::Driver;
use crate::running::StopLevel;
use crate::timers::Reason;

impl<S: Script> Worker<'_, S> {
    /// Starts an iteration on a slot that carries no request; in an open load it is that of an arrival. One that was due was
    /// counted as planned when it fell due.
    #[inline]
    pub(super) fn begin_iteration(
        &mut self,
        slot: u32,
        arrival: Option<u64>,
        was_due: bool,
        intended_ns: u64,
        now_ns: u64,
    ) {
        let step = match self.iterations.only_step {
            Some(step) => step,
            None => self.choose(slot, arrival, intended_ns),
        };
        self.begin(slot, step, was_due, intended_ns, now_ns);
    }

    /// Draws the way and the values of an iteration; returns its first step.
    fn choose(&mut self, slot: u32, arrival: Option<u64>, intended_ns: u64) -> u16 {
        let connection = &mut self.connections[slot as usize];
        if let Some(number) = arrival {
            connection.way.chance = self.iterations.chance(number);
        }
        let talk = &mut connection.talk;
        let set = |variable: u16, value: &[u8]| talk.set(variable, value);
        let step = self.iterations.begin(&mut connection.way, intended_ns, set);
        self.turn_to(slot, step);
        step
    }

    /// A request has ended, well or not: its slot goes on, after a pause if `back_off_ns` is not 0.
    #[inline]
    pub(super) fn go_on(&mut self, slot: u32, request: &InFlight, at_ns: u64, is_ok: bool, back_off_ns: u64) {
        if self.iterations.only_step.is_some() {
            self.end_iteration(slot, request.intended_ns, at_ns, at_ns, back_off_ns);
        } else if let Some(over_ns) = self.go_on_within(slot, request, at_ns, is_ok) {
            let begun_ns = self.connections[slot as usize].way.begun_ns;
            self.end_iteration(slot, begun_ns, over_ns, at_ns, back_off_ns);
        }
    }

    /// The user of a slot makes no further request, and whoever is the last of a closed load ends it. Arrivals have no users.
    #[cold]
    pub(super) fn stop_user(&mut self, slot: u32, refusal: Refusal, request: &InFlight, at_ns: u64) {
        let Load::Closed(closed) = &self.job.load else {
            return self.go_on(slot, request, at_ns, false, 0);
        };
        let words = self.connections[slot as usize].talk.explain(refusal);
        match &mut self.driver {
            Driver::Closed { active, pool: Some(pool), .. } => {
                let connection = &mut self.connections[slot as usize];
                std::mem::swap(&mut pool.users[connection.user as usize].way, &mut connection.way);
                *active -= 1;
                self.take_next_user(slot, at_ns);
            }
            Driver::Closed { active, .. } => *active -= 1,
            Driver::Open(_) => {}
        }
        let users = self.job.share.of_total(u64::from(closed.users));
        if u64::from(self.signal.user_is_gone()) == users {
            self.break_off(words);
        }
    }

    /// Goes on within an iteration, or answers when it is over.
    fn go_on_within(&mut self, slot: u32, request: &InFlight, at_ns: u64, is_ok: bool) -> Option<u64> {
        let is_open = matches!(self.driver, Driver::Open(_));
        let connection = &mut self.connections[slot as usize];
        let way = &mut connection.way;
        let think_time = self.iterations.visit(way.place).think;
        // An arrival that was late here goes on as if it had not been, and as fast as its target was.
        let late_ns = request.begun_ns.saturating_sub(request.intended_ns);
        let ended_ns = if is_open && is_ok { at_ns.saturating_sub(late_ns) } else { at_ns };
        let intended_ns = ended_ns.saturating_add(think_time.draw(&mut way.pauses));
        let Some(next) = self.iterations.after(way.place).filter(|_| is_ok) else { return Some(intended_ns) };
        if !self.stop.admits(intended_ns.max(at_ns), self.planned) {
            // The iteration is cut short; what is still due may have its slot at once.
            return Some(if is_open { at_ns } else { intended_ns });
        }
        (way.place, way.carried_lag_ns) = (next, request.lag_ns);
        if intended_ns <= at_ns {
            let step = self.iterations.visit(next).step;
            self.turn_to(slot, step);
            self.begin(slot, step, false, intended_ns, at_ns);
        } else {
            way.is_paused = true;
            (connection.next_ns, connection.free_ns) = (intended_ns, intended_ns);
            self.paused += 1;
            self.timers.set(intended_ns, slot, Reason::Wake);
        }
        None
    }

    /// An iteration that began at `begun_ns` is over at `over_ns`, which may lie ahead: the last pause belongs to it.
    #[inline]
    fn end_iteration(&mut self, slot: u32, begun_ns: u64, over_ns: u64, at_ns: u64, back_off_ns: u64) {
        let ready_ns = over_ns.max(at_ns.saturating_add(back_off_ns));
        match &mut self.driver {
            Driver::Open(open) if ready_ns <= at_ns => open.idle.push_back(slot),
            Driver::Open(_) => {
                self.connections[slot as usize].free_ns = ready_ns;
                self.timers.set(ready_ns, slot, Reason::Wake);
            }
            Driver::Closed { cadence, pool: Some(_), .. } => {
                let next_ns = cadence.next(begun_ns, over_ns).max(over_ns);
                self.leave_connection(slot, next_ns, at_ns, back_off_ns);
            }
            Driver::Closed { cadence, active, pool: None } => {
                let next_ns = cadence.next(begun_ns, over_ns).max(ready_ns);
                if !self.stop.admits(next_ns, self.planned) {
                    *active -= 1;
                } else if next_ns <= at_ns {
                    self.begin_iteration(slot, None, false, next_ns, at_ns);
                } else {
                    self.connections[slot as usize].next_ns = next_ns;
                    self.timers.set(next_ns, slot, Reason::Wake);
                }
            }
        }
    }

    /// A user's pause, or a connection's back-off, is over.
    pub(super) fn wake(&mut self, slot: u32, now_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        let (intended_ns, place) = (connection.next_ns, connection.way.place);
        let was_paused = std::mem::take(&mut connection.way.is_paused);
        self.paused -= u32::from(was_paused);
        let may_start =
            self.stop.admits(intended_ns, self.planned) && self.signal.level(now_ns) == StopLevel::Go;
        match &mut self.driver {
            _ if was_paused && may_start => {
                let step = self.iterations.visit(place).step;
                self.turn_to(slot, step);
                self.begin(slot, step, false, intended_ns, now_ns);
            }
            Driver::Open(open) => open.idle.push_back(slot),
            Driver::Closed { pool: Some(_), .. } if was_paused => {
                self.leave_connection(slot, intended_ns, now_ns, 0);
            }
            Driver::Closed { pool: Some(_), .. } => self.take_next_user(slot, now_ns),
            Driver::Closed { .. } if may_start => {
                self.begin_iteration(slot, None, false, intended_ns, now_ns)
            }
            Driver::Closed { active, .. } => *active -= 1,
        }
    }
}
