//! How well a worker itself kept time: the first witness when its numbers are doubted.

use crate::histogram::Histogram;
use crate::tail::Tail;
use crate::waits::Waits;

/// A worker's own signals over the load, warm-up included where nothing else is said.
#[derive(Clone, Debug, Default)]
pub struct Health {
    /// How much later than asked for the worker woke up, whenever a timer and not a socket woke it.
    pub wake_lag: Histogram,
    /// CPU time of its thread, user and system.
    pub cpu_ns: u64,
    /// From the beginning of the load to the worker's end.
    pub wall_ns: u64,
    /// How long its thread was ready to run and had no core; `None` where the kernel does not tell
    /// (`/proc/thread-self/schedstat`).
    pub run_queue_wait_ns: Option<u64>,
    /// How often its thread was taken off its core; `None` where the system does not tell.
    pub involuntary_switches: Option<u64>,
    /// The longest time from one turn of the worker's loop to the next, beyond what it had asked to wait: stopped, without a
    /// core, or busy with one turn. Calls into a system in this process do not count. Turns after the warm-up only. A stop while
    /// the worker waited for sockets alone shows shorter than it was, by 20 ms at most while a request is in flight and by 100 ms
    /// otherwise.
    pub heartbeat_max_ns: u64,
    /// The sum of such times of 50 ms and more: how long it was away, and not merely late.
    pub stalled_ns: u64,
    /// Measured requests in flight × time, from *sent* to *finished*: divided by the measured time it is their mean number. The
    /// worker's own count, made apart from the service times that it must agree with; requests that were left unfinished count
    /// until they were left.
    pub in_flight_ns: u64,
    /// Measured requests that ended, by response time, with what of it was this worker's own lag: what passed between their
    /// intended start and *sent* while a connection was free, and what passed before a reply was read because the worker was
    /// back later than it had asked for. Waiting for a connection is no lag.
    pub tail: Tail,
    /// How long replies to measured requests had lain in the kernel when this worker read them, of a sample of its reads. Empty where
    /// the response times leave it out, or the kernel does not tell.
    pub read_delay: Histogram,
    /// Bytes of the replies to measured requests, before TLS, as the conversations counted them.
    pub reply_bytes: u64,
    /// Replies on connections over which a reply came later that no request asked for: each may have answered another request
    /// than the one it was counted for.
    pub doubted_replies: u64,
    /// Of connections, how long each went without an ok answer while it was asked for one; within the measured window.
    pub waits: Waits,
}

impl Health {
    /// The share of one core that the thread used, 0 to 1; `None` before any time has passed.
    pub fn cpu_share(&self) -> Option<f64> {
        (self.wall_ns > 0).then(|| self.cpu_ns as f64 / self.wall_ns as f64)
    }
}
