//! Replies of an open load need not be read at once: the kernel notes when they come.
//!
//! Waking up for each reply costs as much as sending a request. As long as there are connections to spare, a worker with
//! a dense open load therefore sleeps until the next requests are due, and reads whatever replies have come by then. Their
//! times are the kernel's receive timestamps: closer to the truth than the instant at which a thread got round to them.

use load::Load;
use wire::{Reply, Script};

use super::Worker;
use crate::clock::Clock;
use crate::driver::Driver;
use crate::job::{Endpoint, Job};
use crate::net::stamped::Control;

/// A reply may lie in the kernel for this long.
const WAIT_MAX_NS: u64 = 600_000;
/// Larger replies would fill the socket's buffer, and wait for us.
const REPLY_BYTES_MAX: u64 = 16 * 1024;

/// What is needed to read late.
#[derive(Debug)]
pub(super) struct LateReading {
    pub(super) control: Control,
    /// What the real-time clock shows beyond the load's.
    real_time_ahead_ns: u64,
    /// The load's time when that was looked up.
    now_ns: u64,
    saw_unfit_reply: bool,
}

impl LateReading {
    /// For an open load on one peer over TCP whose replies lead to nothing; other loads go on when a reply comes, and other sockets have
    /// no timestamps.
    pub(super) fn for_job(job: &Job) -> Option<Self> {
        let is_tcp = job.peer.endpoints.iter().all(|endpoint| matches!(endpoint, Endpoint::Tcp(_)));
        let is_alone = job.beside.is_none();
        let is_fit = matches!(&job.load, Load::Open(_)) && is_tcp && is_alone && !job.scenarios.has_sequels();
        is_fit.then(|| Self {
            control: Control::new(),
            real_time_ahead_ns: 0,
            now_ns: 0,
            saw_unfit_reply: false,
        })
    }

    /// Looks up how the clocks stand, once a turn: the real-time clock may be set while we run.
    pub(super) fn set_clock(&mut self, clock: &Clock) {
        self.now_ns = clock.now();
        self.real_time_ahead_ns = Clock::real_time_ns().saturating_sub(self.now_ns);
    }

    /// The load's time of a timestamp. A clock that was set in between cannot send it into the future.
    pub(super) fn time_of(&self, real_time_ns: u64, clock: &Clock) -> u64 {
        let at_ns = real_time_ns.saturating_sub(self.real_time_ahead_ns);
        if at_ns <= self.now_ns { at_ns } else { at_ns.min(clock.now()) }
    }

    /// Notes a reply that was not fit to lie in the kernel: too large for its buffer, or followed by a close, which has no
    /// timestamp and leads to a new connection.
    pub(super) fn note_reply(&mut self, reply: &Reply) {
        self.saw_unfit_reply |= reply.received_bytes > REPLY_BYTES_MAX || !reply.reusable;
    }
}

impl<S: Script> Worker<'_, S> {
    /// Whether the thread may sleep for so long without looking at replies.
    pub(super) fn may_read_late(&self, wait_ns: u64) -> bool {
        let (Driver::Open(open), Some(late_reading)) = (&self.driver, &self.late_reading) else {
            return false;
        };
        self.unread.is_empty()
            && self.in_flight > 0
            && self.dialling == 0
            && wait_ns <= WAIT_MAX_NS
            && !late_reading.saw_unfit_reply
            && open.idle.len() * 2 >= self.connections.len()
    }
}
