//! The last resort: a thread that ends the process when a run does not end by itself.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use judge::CommandEnding;

/// Armed as long as it lives.
#[derive(Debug)]
pub struct Watchdog {
    limits: Sender<Option<Duration>>,
}

impl Watchdog {
    /// One that never does anything.
    pub fn unarmed() -> Self {
        Self { limits: mpsc::channel().0 }
    }

    /// Ends the process unless dropped within `limit`. Without a limit it does nothing.
    ///
    /// # Errors
    /// No thread could be started for it.
    pub(crate) fn arm(limit: Option<Duration>) -> io::Result<Self> {
        let (limits, heard) = mpsc::channel();
        thread::Builder::new().name("watchdog".to_owned()).spawn(move || watch(limit, &heard))?;
        Ok(Self { limits })
    }

    /// From now on another limit holds.
    pub(crate) fn rearm(&self, limit: Option<Duration>) {
        // Its thread listens as long as this lives.
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
                // Nothing else can be relied upon here: the terminal, the store or a lock may be what hangs.
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
