//! The last resort: a thread that ends the process when a run does not end by itself.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Armed as long as it lives.
#[derive(Debug)]
pub(crate) struct Watchdog {
    _alive: Option<Sender<()>>,
}

impl Watchdog {
    /// Ends the process with `exit_code` unless dropped within `limit`. Without a limit it does nothing.
    pub(crate) fn arm(limit: Option<Duration>, exit_code: i32) -> Self {
        let Some(limit) = limit else { return Self { _alive: None } };
        let (alive, over) = mpsc::channel();
        thread::spawn(move || {
            if over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                // Nothing else can be relied upon here: the terminal, the store or a lock may be what hangs.
                rustix::io::write(
                    rustix::stdio::stderr(),
                    b"tenbin: the run did not end in time and is ended by force; what was kept is a partial run\n",
                )
                .ok();
                std::process::exit(exit_code);
            }
        });
        Self { _alive: Some(alive) }
    }
}
