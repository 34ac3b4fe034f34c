//! Timing health of a worker: the evidence for or against the validity of its numbers.

use crate::histogram::Histogram;
use crate::tail::Tail;
use crate::waits::Waits;

/// Signals of a worker about itself over the load. They include the warm-up unless stated otherwise.
#[derive(Clone, Debug, Default)]
pub struct Health {
    /// Delay of wake-ups by a timer rather than by a socket.
    pub wake_lag: Histogram,
    /// CPU time of the worker's thread, user and system.
    pub cpu_ns: u64,
    /// Time from the beginning of the load to the end of the worker.
    pub wall_ns: u64,
    /// Time in which the thread was runnable but had no core (`/proc/thread-self/schedstat`). `None` if the kernel does not report
    /// it.
    pub run_queue_wait_ns: Option<u64>,
    /// Number of involuntary context switches of the thread. `None` if the system does not report it.
    pub involuntary_switches: Option<u64>,
    /// Longest time between two turns of the event loop beyond the requested wait, after the warm-up: stopped, without a core, or
    /// busy in one turn. Calls into an in-process system do not count. A stop while the worker only waited for sockets is
    /// underestimated: by at most 20 ms while a request is in flight, and by at most 100 ms otherwise.
    pub heartbeat_max_ns: u64,
    /// Sum of stalls: delays of at least 50 ms between two turns of the event loop, beyond the requested wait. Shorter delays only count as
    /// late.
    pub stalled_ns: u64,
    /// Integral of measured requests in flight over time, from *sent* to *finished*. Divided by the measured time, it is their mean number.
    /// Counted independently of the service times, as a cross-check. Unfinished requests count until they were abandoned.
    pub in_flight_ns: u64,
    /// Measured requests that ended, by response time, with the part that was this worker's own lag. Lag is the time between the
    /// scheduled start and *sent* while a connection was free, and the time before a reply was read because the worker was back
    /// late. Waiting for a connection is no lag.
    pub tail: Tail,
    /// Time that replies to measured requests had waited in the kernel when this worker read them, from a sample of its reads.
    /// Empty if response times exclude it, or if the kernel does not report it.
    pub read_delay: Histogram,
    /// Bytes of replies to measured requests, before TLS, as counted by the conversations.
    pub reply_bytes: u64,
    /// Number of replies on connections that later received a reply without a request. Each may belong to another request than the one it
    /// was counted for.
    pub doubted_replies: u64,
    /// Long waits of connections for an ok reply, within the measured window.
    pub waits: Waits,
}

impl Health {
    /// Returns the share of one core that the thread used, from 0 to 1. `None` before any time has passed.
    pub fn cpu_share(&self) -> Option<f64> {
        (self.wall_ns > 0).then(|| self.cpu_ns as f64 / self.wall_ns as f64)
    }
}
