//! The model of a worker: at most so many requests in execution, the others first in, first out, and a full queue refuses.

use crate::endpoints::Computation;
use crate::request::Order;
use crate::slab::Token;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

/// A request on its way through a worker.
pub(crate) struct Job {
    pub(crate) token: Token,
    pub(crate) order: Order,
    pub(crate) arrived: Instant,
}

/// What the gate decided about a new request.
pub(crate) enum Admission {
    /// It has a slot: execute it.
    Start(Job),
    /// It waits and will be handed out by [`Gate::release`].
    Waits,
    /// Neither slot nor place in the queue.
    Full,
}

/// The slots of one worker, shared by its reactor and its handler threads.
pub(crate) struct Gate {
    slots: usize,
    places: usize,
    inside: Mutex<Inside>,
    work: Condvar,
}

#[derive(Default)]
struct Inside {
    running: usize,
    waiting: VecDeque<Job>,
    /// Have a slot and need a handler thread.
    assigned: VecDeque<(Token, Computation)>,
    closed: bool,
}

impl Gate {
    /// `threads` 0 and `queue` none are unlimited.
    pub(crate) fn new(threads: usize, queue: Option<usize>) -> Self {
        Self {
            slots: if threads == 0 { usize::MAX } else { threads },
            places: queue.unwrap_or(usize::MAX),
            inside: Mutex::default(),
            work: Condvar::new(),
        }
    }

    pub(crate) fn admit(&self, job: Job) -> Admission {
        let mut inside = self.lock();
        if inside.running < self.slots {
            inside.running += 1;
            Admission::Start(job)
        } else if inside.waiting.len() < self.places {
            inside.waiting.push_back(job);
            Admission::Waits
        } else {
            Admission::Full
        }
    }

    /// Gives a slot back; it passes to the oldest waiting request, which the caller must start.
    pub(crate) fn release(&self) -> Option<Job> {
        let mut inside = self.lock();
        let next = inside.waiting.pop_front();
        if next.is_none() {
            inside.running -= 1;
        }
        next
    }

    /// Leaves the work of a started request to a handler thread.
    pub(crate) fn assign(&self, token: Token, task: Computation) {
        self.lock().assigned.push_back((token, task));
        self.work.notify_one();
    }

    /// Waits for work; none once the gate is closed.
    pub(crate) fn next_assigned(&self) -> Option<(Token, Computation)> {
        let mut inside = self.lock();
        loop {
            if inside.closed {
                return None;
            }
            if let Some(work) = inside.assigned.pop_front() {
                return Some(work);
            }
            inside = self.work.wait(inside).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    /// Sends the handler threads home.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.work.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Intake, Step};

    fn job(slot: u32) -> Job {
        let Step::Complete(order) = Intake::default().take(b"GET /status HTTP/1.0\r\n\r\n").1 else {
            panic!("a whole request");
        };
        Job { token: Token { slot, generation: 0 }, order, arrived: Instant::now() }
    }

    #[test]
    fn slots_then_queue_then_refusal_and_first_in_first_out() {
        let gate = Gate::new(1, Some(2));
        assert!(matches!(gate.admit(job(0)), Admission::Start(_)));
        assert!(matches!(gate.admit(job(1)), Admission::Waits));
        assert!(matches!(gate.admit(job(2)), Admission::Waits));
        assert!(matches!(gate.admit(job(3)), Admission::Full));
        let next: Vec<_> = (0..3).map(|_| gate.release().map(|job| job.token.slot)).collect();
        assert_eq!(next, [Some(1), Some(2), None]);
        assert!(matches!(gate.admit(job(4)), Admission::Start(_)));
    }
}
