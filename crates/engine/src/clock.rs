//! The only place that reads the time.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the monotonic clock since an origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    /// A clock that begins at this instant, which may lie ahead: until then it shows 0.
    pub(crate) fn from(origin: Instant) -> Self {
        Self { origin }
    }

    /// Now. Answered from user space (vDSO): no system call.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        Instant::now().saturating_duration_since(self.origin).as_nanos() as u64
    }

    /// How long until it begins.
    pub(crate) fn until_begin(&self) -> Duration {
        self.origin.saturating_duration_since(Instant::now())
    }
}

/// CPU time of the calling thread, user and system, in nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
