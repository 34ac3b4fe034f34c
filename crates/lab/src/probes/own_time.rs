//! CPU time of the observing thread.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU time of this thread since it began.
pub(crate) fn own_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_increases_own_time() {
        let before = own_time();
        while own_time() <= before {
            std::hint::black_box(std::fs::exists("/proc/self").unwrap());
        }
    }
}
