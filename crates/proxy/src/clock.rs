//! Clock of the proxy: the only module that reads the time.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// Maximum plausible age of a kernel timestamp. An older one is ignored, because the real-time clock may have been set.
const STAMP_AGE_MAX_NS: u64 = 1_000_000;

/// Monotonic clock, in nanoseconds since the proxy started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { origin: Instant::now() }
    }

    /// Returns the current time. The clock is read from user space (vDSO) without a system call.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }
}

/// Converts the kernel's real-time timestamp of data to its arrival time on the monotonic clock. The real-time clock showed
/// `real_ns` at `now_ns`.
///
/// Arrival is assumed to be at most a millisecond ago. If the proxy reads later than that, the delay counts from the read. That
/// includes data that waited because the proxy's buffer was full.
pub(crate) fn arrival_ns(now_ns: u64, real_ns: i64, stamp_ns: Option<i64>) -> u64 {
    let age_ns = stamp_ns.and_then(|stamp_ns| u64::try_from(real_ns.saturating_sub(stamp_ns)).ok());
    now_ns.saturating_sub(age_ns.filter(|age_ns| *age_ns <= STAMP_AGE_MAX_NS).unwrap_or(0))
}

/// Returns the time of the real-time clock, which the kernel uses for timestamps, in nanoseconds.
pub(crate) fn real_ns() -> i64 {
    let time = clock_gettime(ClockId::Realtime);
    time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec)
}

/// Returns the CPU time of the calling thread, user and system, in nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrival_follows_the_timestamp_if_plausible() {
        let now_ns = 5_000_000;
        let came = |stamp_ns| arrival_ns(now_ns, 1_000_000_000, stamp_ns);
        assert_eq!(came(None), now_ns);
        assert_eq!(came(Some(1_000_000_000 - 40_000)), now_ns - 40_000);
        assert_eq!(came(Some(1_000_000_001)), now_ns, "in the future");
        assert_eq!(came(Some(0)), now_ns, "too long ago");
        assert_eq!(came(Some(i64::MIN)), now_ns);
        assert_eq!(arrival_ns(10, 1_000, Some(0)), 0);
    }
}
