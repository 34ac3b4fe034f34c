//! Ctrl-C: the children are stopped, and what was measured so far is shown.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Whether the program was asked to end.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens for the rest of the program's life.
    pub fn listen() -> anyhow::Result<Self> {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&interrupt.0))
                .context("cannot listen to signals")?;
        }
        Ok(interrupt)
    }

    /// Whether a signal has come.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
