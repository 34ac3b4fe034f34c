//! Watchdog: a thread that ends the process if a run does not end by itself.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use judge::CommandEnding;

/// Watchdog that is armed until dropped.
#[derive(Debug)]
pub struct Watchdog {
    limits: Sender<Option<Duration>>,
}

impl Watchdog {
    /// Watchdog without a thread.
    pub fn unarmed() -> Self {
        Self { limits: mpsc::channel().0 }
    }

    /// Ends the process unless dropped within `limit`. Without a limit it is not armed yet.
    ///
    /// # Errors
    /// Its thread could not be started.
    pub(crate) fn arm(limit: Option<Duration>) -> io::Result<Self> {
        let (limits, heard) = mpsc::channel();
        thread::Builder::new().name("watchdog".to_owned()).spawn(move || watch(limit, &heard))?;
        Ok(Self { limits })
    }

    /// Replaces the limit. `None` disarms the watchdog.
    pub(crate) fn rearm(&self, limit: Option<Duration>) {
        // The thread receives until this is dropped.
        let _ = self.limits.send(limit);
    }
}

fn watch(first: Option<Duration>, limits: &Receiver<Option<Duration>>) {
    let mut limit = first;
    loop {
        let next = match limit {
            Some(limit) => limits.recv_timeout(limit),
            None => limits.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match next {
            Ok(next) => limit = next,
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                // Uses a plain system call, because the terminal, the store, or a lock may be the cause of the hang.
                rustix::io::write(
                    rustix::stdio::stderr(),
                    b"error: the run did not end in time and is ended by force\n  help: what was kept is a partial run: see tenbin report\n",
                )
                .ok();
                std::process::exit(CommandEnding::CouldNotRun.code().into());
            }
        }
    }
}
