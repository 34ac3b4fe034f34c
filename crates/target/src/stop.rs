//! Stop flag that ends all threads of a server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

/// Flag that is set once, and never cleared.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    /// Lock-free copy of `flag` for frequent checks.
    fast_flag: AtomicBool,
    flag: Mutex<bool>,
    sleepers: Condvar,
}

impl Stop {
    pub(crate) fn set(&self) {
        self.fast_flag.store(true, Ordering::Release);
        *self.lock() = true;
        self.sleepers.notify_all();
    }

    pub(crate) fn is_set(&self) -> bool {
        self.fast_flag.load(Ordering::Acquire)
    }

    /// Sleeps until `deadline`, or until the flag is set.
    pub(crate) fn sleep_until(&self, deadline: Instant) {
        let mut flag = self.lock();
        while !*flag {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            flag = self.sleepers.wait_timeout(flag, left).unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
    }

    /// Sleeps until the flag is set.
    pub(crate) fn sleep(&self) {
        let mut flag = self.lock();
        while !*flag {
            flag = self.sleepers.wait(flag).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.flag.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn sleepers_wake_at_the_deadline_or_at_the_stop() {
        let stop = Arc::new(Stop::default());
        let deadline = Instant::now() + Duration::from_millis(20);
        stop.sleep_until(deadline);
        assert!(Instant::now() >= deadline && !stop.is_set());
        let sleeper = std::thread::spawn({
            let stop = Arc::clone(&stop);
            move || {
                stop.sleep();
                stop.sleep_until(Instant::now() + Duration::from_secs(3600));
            }
        });
        stop.set();
        sleeper.join().expect("woken");
    }
}
