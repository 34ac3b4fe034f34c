//! What other threads tell the proxy while it runs.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};

use crate::counters::Tally;
use crate::settings::Settings;

/// One thing to do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    Change(Settings),
    Stall(Duration),
    ResetAll,
    Stop,
}

/// What the proxy's thread and its owner share.
pub(crate) struct Shared {
    orders: Mutex<Vec<Order>>,
    tally: Mutex<Tally>,
    bell: OwnedFd,
}

impl Shared {
    pub(crate) fn new() -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Self { orders: Mutex::default(), tally: Mutex::default(), bell })
    }

    pub(crate) fn post(&self, order: Order) {
        lock(&self.orders).push(order);
        // It can fail only when the counter is full, and then the bell is ringing already.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    pub(crate) fn take(&self) -> Vec<Order> {
        std::mem::take(&mut *lock(&self.orders))
    }

    /// For edge-triggered waiting: every ring is a new edge, so the counter is never read.
    pub(crate) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    pub(crate) fn tally(&self) -> MutexGuard<'_, Tally> {
        lock(&self.tally)
    }
}

/// A thread that panicked leaves counts behind that are as good as any.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
