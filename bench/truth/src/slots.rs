//! How many runs may go on at the same time.

use std::sync::{Condvar, Mutex, MutexGuard};

/// Places for runs.
pub(crate) struct Slots {
    free: Mutex<u32>,
    freed: Condvar,
}

/// A place, given back when it is dropped.
pub(crate) struct Slot<'a>(&'a Slots);

impl Slots {
    pub(crate) fn new(count: u32) -> Self {
        Self { free: Mutex::new(count.max(1)), freed: Condvar::new() }
    }

    /// Waits for a place.
    pub(crate) fn take(&self) -> Slot<'_> {
        let mut free = self.lock();
        while *free == 0 {
            free = self.freed.wait(free).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        *free -= 1;
        Slot(self)
    }

    fn lock(&self) -> MutexGuard<'_, u32> {
        self.free.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        *self.0.lock() += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_given_back() {
        let slots = Slots::new(1);
        drop(slots.take());
        let _again = slots.take();
        assert_eq!(*slots.lock(), 0);
    }
}
