//! Rate limit: a token bucket, represented by the time at which it will be full again (GCRA).

use crate::settings::RateLimit;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Token bucket shared by all workers.
pub(crate) struct Limiter {
    /// Time in which one token is refilled.
    interval_ns: u128,
    /// Refill time of `burst - 1` tokens. A token is available if at most this much refill time is outstanding.
    tolerance_ns: u128,
    started: Instant,
    /// Time at which the bucket will be full again, relative to `started`.
    full_at_ns: Mutex<u128>,
}

impl Limiter {
    pub(crate) fn new(limit: RateLimit, started: Instant) -> Self {
        let interval_ns = ((1e9 / limit.per_s).round() as u128).max(1);
        let tolerance_ns = interval_ns * u128::from(limit.burst - 1);
        Self { interval_ns, tolerance_ns, started, full_at_ns: Mutex::new(0) }
    }

    /// Takes a token, or returns the time until one is available.
    pub(crate) fn take(&self, now: Instant) -> Result<(), Duration> {
        let now_ns = now.saturating_duration_since(self.started).as_nanos();
        let mut full_at_ns = self.full_at_ns.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let owed_ns = full_at_ns.saturating_sub(now_ns);
        if owed_ns > self.tolerance_ns {
            return Err(Duration::from_nanos(u64::try_from(owed_ns - self.tolerance_ns).unwrap_or(u64::MAX)));
        }
        *full_at_ns = now_ns.max(*full_at_ns) + self.interval_ns;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn burst_passes_at_once_then_the_rate_limits() {
        let start = Instant::now();
        let limiter = Limiter::new(RateLimit { per_s: 100.0, burst: 50 }, start);
        let passed = |at_ms: u64, asked: usize| {
            (0..asked).filter(|_| limiter.take(start + Duration::from_millis(at_ms)).is_ok()).count()
        };
        assert_eq!(passed(0, 80), 50);
        assert_eq!(passed(100, 80), 10);
        // Ten seconds in steps of 3 ms, with a token every 10 ms.
        assert_eq!((0..3335).map(|step| passed(100 + step * 3, 1)).sum::<usize>(), 1000);
        assert_eq!(passed(60_000, 80), 50);
    }

    #[test]
    fn rejection_returns_the_time_of_the_next_token() {
        let start = Instant::now();
        let limiter = Limiter::new(RateLimit { per_s: 10.0, burst: 1 }, start);
        assert_eq!(limiter.take(start), Ok(()));
        assert_eq!(limiter.take(start), Err(Duration::from_millis(100)));
    }
}
