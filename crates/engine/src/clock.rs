//! Access to all clocks: monotonic time, wall-clock time, and CPU time.

use std::time::{Duration, Instant};

use rustix::thread::clock_nanosleep_relative;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Monotonic clock in nanoseconds since an origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    /// Creates a clock that starts at `origin`, which may lie ahead. Until then it reads 0.
    pub(crate) fn from(origin: Instant) -> Self {
        Self { origin }
    }

    /// Returns the time since the origin. Read through the vDSO, without a system call.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        Instant::now().saturating_duration_since(self.origin).as_nanos() as u64
    }

    /// Sleeps for `wait_ns`, or until a signal arrives.
    pub(crate) fn sleep(wait_ns: u64) {
        let wait =
            Timespec { tv_sec: (wait_ns / 1_000_000_000) as i64, tv_nsec: (wait_ns % 1_000_000_000) as i64 };
        let _ = clock_nanosleep_relative(rustix::thread::ClockId::Monotonic, &wait);
    }

    /// Returns the time of the real-time clock in nanoseconds since 1970.
    pub(crate) fn real_time_ns() -> i64 {
        let time = clock_gettime(ClockId::Realtime);
        unix_ns(time.tv_sec, time.tv_nsec)
    }

    /// Spins until `at_ns`. Meant for the last few microseconds before an event, since it keeps the core busy.
    pub(crate) fn spin_until(&self, at_ns: u64) {
        while self.now() < at_ns {
            std::hint::spin_loop();
        }
    }

    /// Returns the time until the origin; zero if it has passed.
    pub(crate) fn time_to_start(&self) -> Duration {
        self.origin.saturating_duration_since(Instant::now())
    }
}

/// Converts a time of the real-time clock to nanoseconds since 1970. The range is 1677 to 2262; times outside it are clamped.
pub(crate) fn unix_ns(seconds: i64, nanoseconds: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}

/// Returns the CPU time of the calling thread, user and system, in nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
