//! Commands from other threads to the running proxy.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};

use crate::counters::Tally;
use crate::settings::Settings;

/// Command to the proxy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ProxyCommand {
    Change(Settings),
    Stall(Duration),
    ResetAll,
    Stop,
}

/// State shared by the proxy's thread and its owner.
pub(crate) struct Shared {
    commands: Mutex<Vec<ProxyCommand>>,
    tally: Mutex<Tally>,
    waker: OwnedFd,
}

impl Shared {
    pub(crate) fn new() -> io::Result<Self> {
        let waker = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Self { commands: Mutex::default(), tally: Mutex::default(), waker })
    }

    pub(crate) fn post(&self, command: ProxyCommand) {
        lock(&self.commands).push(command);
        // A write fails only if the counter is full, and then the event is already pending.
        let _ = rustix::io::write(&self.waker, &1u64.to_ne_bytes());
    }

    pub(crate) fn take(&self) -> Vec<ProxyCommand> {
        std::mem::take(&mut *lock(&self.commands))
    }

    /// Returns the event descriptor for edge-triggered waiting. Every write is a new edge, so the counter is never read.
    pub(crate) fn waker(&self) -> BorrowedFd<'_> {
        self.waker.as_fd()
    }

    pub(crate) fn tally(&self) -> MutexGuard<'_, Tally> {
        lock(&self.tally)
    }
}

/// Locks a mutex, even if a thread panicked while holding it: its counters are still usable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
