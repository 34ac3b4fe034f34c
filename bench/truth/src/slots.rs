//! Limits the number of parallel runs, and starts waiting runs in order.

use std::sync::{Condvar, Mutex, MutexGuard};

/// Slots for parallel runs, granted in request order.
pub(crate) struct Slots {
    state: Mutex<State>,
    freed: Condvar,
}

struct State {
    free: u32,
    /// Ticket number of the next call of [`Slots::take`].
    next: u64,
    /// Ticket number that gets the next free slot.
    turn: u64,
}

/// A taken slot, released when dropped.
pub(crate) struct Slot<'a>(&'a Slots);

impl Slots {
    pub(crate) fn new(count: u32) -> Self {
        Self { state: Mutex::new(State { free: count.max(1), next: 0, turn: 0 }), freed: Condvar::new() }
    }

    /// Waits for a free slot.
    pub(crate) fn take(&self) -> Slot<'_> {
        let mut state = self.lock();
        let own = state.next;
        state.next += 1;
        while state.free == 0 || state.turn != own {
            state = self.freed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        state.free -= 1;
        state.turn += 1;
        drop(state);
        // Another slot may be free for the next ticket.
        self.freed.notify_all();
        Slot(self)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.lock().free += 1;
        self.0.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_given_back_and_given_out_in_order() {
        let slots = Slots::new(1);
        let first = slots.take();
        let order = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for number in 0..3 {
                let asked = slots.lock().next;
                let (slots, order) = (&slots, &order);
                scope.spawn(move || {
                    let _slot = slots.take();
                    order.lock().unwrap().push(number);
                });
                while slots.lock().next == asked {
                    std::thread::yield_now();
                }
            }
            drop(first);
        });
        assert_eq!(*order.lock().unwrap(), [0, 1, 2]);
        assert_eq!(slots.lock().free, 1);
    }
}
