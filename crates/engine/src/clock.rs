//! The only place that reads the time.

use std::time::{Duration, Instant};

use rustix::thread::clock_nanosleep_relative;
use rustix::time::{ClockId, Timespec, clock_gettime};

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

    /// Sleeps for so long, or until a signal comes.
    pub(crate) fn sleep(wait_ns: u64) {
        let wait =
            Timespec { tv_sec: (wait_ns / 1_000_000_000) as i64, tv_nsec: (wait_ns % 1_000_000_000) as i64 };
        let _ = clock_nanosleep_relative(rustix::thread::ClockId::Monotonic, &wait);
    }

    /// What the real-time clock shows, in nanoseconds since 1970.
    pub(crate) fn real_time_ns() -> i64 {
        let time = clock_gettime(ClockId::Realtime);
        unix_ns(time.tv_sec, time.tv_nsec)
    }

    /// Waits without letting go of the core: only for the last few microseconds before an instant.
    pub(crate) fn spin_until(&self, at_ns: u64) {
        while self.now() < at_ns {
            std::hint::spin_loop();
        }
    }

    /// How long until it begins.
    pub(crate) fn until_begin(&self) -> Duration {
        self.origin.saturating_duration_since(Instant::now())
    }
}

/// A time of the real-time clock in nanoseconds, which reach from 1677 to 2262; any other date is the nearest of these.
pub(crate) fn unix_ns(seconds: i64, nanoseconds: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}

/// CPU time of the calling thread, user and system, in nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
