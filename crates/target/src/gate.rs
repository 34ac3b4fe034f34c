//! Concurrency limit of a worker: a limited number of requests in execution, and a FIFO queue that rejects when full. A growing
//! pool admits another request for each one that blocks.

use crate::endpoints::Computation;
use crate::request::ParsedRequest;
use crate::settings::ThreadPool;
use crate::slab::Token;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

/// Request that a worker has received but not yet answered.
pub(crate) struct Job {
    pub(crate) token: Token,
    pub(crate) parsed_request: ParsedRequest,
    pub(crate) arrived: Instant,
}

/// Decision about a new request.
pub(crate) enum Admission {
    /// The request has a slot and can be executed.
    Start(Job),
    /// The request is queued, and will be returned by [`Gate::release`].
    Queued,
    /// All slots are taken, and the queue is full.
    Full,
}

/// State of a request in execution. A blocked one needs no CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Running,
    Blocked,
}

/// Slots of one worker, shared by its reactor and its handler threads.
pub(crate) struct Gate {
    /// Maximum number of running requests.
    slots: usize,
    /// Maximum number of running and blocked requests. Equals `slots` if the pool does not grow.
    limit: usize,
    queue_limit: usize,
    state: Mutex<GateState>,
    work: Condvar,
}

#[derive(Default)]
struct GateState {
    running: usize,
    blocked: usize,
    waiting: VecDeque<Job>,
    /// Requests that have a slot and need a handler thread.
    assigned: VecDeque<(Token, Computation)>,
    closed: bool,
}

impl Gate {
    /// Creates a gate. `threads` 0 and `queue` `None` mean unlimited.
    pub(crate) fn new(threads: usize, pool: ThreadPool, queue: Option<usize>) -> Self {
        let slots = if threads == 0 { usize::MAX } else { threads };
        Self {
            slots,
            limit: match pool {
                ThreadPool::Fixed => slots,
                ThreadPool::Growing { limit } => limit,
            },
            queue_limit: queue.unwrap_or(usize::MAX),
            state: Mutex::default(),
            work: Condvar::new(),
        }
    }

    pub(crate) fn admit(&self, job: Job) -> Admission {
        let mut state = self.lock();
        if self.has_room(&state) {
            state.running += 1;
            Admission::Start(job)
        } else if state.waiting.len() < self.queue_limit {
            state.waiting.push_back(job);
            Admission::Queued
        } else {
            Admission::Full
        }
    }

    /// Marks a running request as blocked. If that admits the oldest queued request, the caller must start it.
    pub(crate) fn block(&self) -> Option<Job> {
        let mut state = self.lock();
        state.running -= 1;
        state.blocked += 1;
        self.next(&mut state)
    }

    /// Releases a slot. Returns the oldest queued request if it gets the slot; the caller must start it.
    pub(crate) fn release(&self, slot: Slot) -> Option<Job> {
        let mut state = self.lock();
        match slot {
            Slot::Running => state.running -= 1,
            Slot::Blocked => state.blocked -= 1,
        }
        self.next(&mut state)
    }

    /// Passes the work of a started request to a handler thread.
    pub(crate) fn assign(&self, token: Token, task: Computation) {
        self.lock().assigned.push_back((token, task));
        self.work.notify_one();
    }

    /// Waits for work. `None` once the gate is closed.
    pub(crate) fn next_assigned(&self) -> Option<(Token, Computation)> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(work) = state.assigned.pop_front() {
                return Some(work);
            }
            state = self.work.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    /// Ends the handler threads.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.work.notify_all();
    }

    fn has_room(&self, state: &GateState) -> bool {
        state.running < self.slots && state.running + state.blocked < self.limit
    }

    fn next(&self, state: &mut GateState) -> Option<Job> {
        if !self.has_room(state) {
            return None;
        }
        let next = state.waiting.pop_front()?;
        state.running += 1;
        Some(next)
    }

    fn lock(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{RequestParser, RequestProgress};

    fn job(slot: u32) -> Job {
        let RequestProgress::Complete(parsed_request) =
            RequestParser::default().take(b"GET /status HTTP/1.0\r\n\r\n").1
        else {
            panic!("a whole request");
        };
        Job { token: Token { slot, generation: 0 }, parsed_request, arrived: Instant::now() }
    }

    #[test]
    fn fills_slots_then_queue_then_rejects_in_fifo_order() {
        let gate = Gate::new(1, ThreadPool::Fixed, Some(2));
        assert!(matches!(gate.admit(job(0)), Admission::Start(_)));
        assert!(matches!(gate.admit(job(1)), Admission::Queued));
        assert!(matches!(gate.admit(job(2)), Admission::Queued));
        assert!(matches!(gate.admit(job(3)), Admission::Full));
        let next: Vec<_> = (0..3).map(|_| gate.release(Slot::Running).map(|job| job.token.slot)).collect();
        assert_eq!(next, [Some(1), Some(2), None]);
        assert!(matches!(gate.admit(job(4)), Admission::Start(_)));
    }

    #[test]
    fn only_a_growing_pool_admits_one_for_each_blocked() {
        let fixed = Gate::new(1, ThreadPool::Fixed, None);
        assert!(matches!(fixed.admit(job(0)), Admission::Start(_)));
        assert!(matches!(fixed.admit(job(1)), Admission::Queued));
        assert!(fixed.block().is_none());
        assert_eq!(fixed.release(Slot::Blocked).map(|job| job.token.slot), Some(1));

        let growing = Gate::new(1, ThreadPool::Growing { limit: 3 }, Some(2));
        assert!(matches!(growing.admit(job(0)), Admission::Start(_)));
        assert!(matches!(growing.admit(job(1)), Admission::Queued));
        assert_eq!(growing.block().map(|job| job.token.slot), Some(1), "one slot is free for another to run");
        assert!(growing.block().is_none(), "nobody waits");
        assert!(matches!(growing.admit(job(2)), Admission::Start(_)));
        assert!(matches!(growing.admit(job(3)), Admission::Queued));
        assert!(growing.block().is_none(), "the limit is reached");
        assert_eq!(growing.release(Slot::Blocked).map(|job| job.token.slot), Some(3));
    }
}
