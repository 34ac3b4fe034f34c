//! Time limit for work over a session of a database.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Thread that aborts a session after a timeout. Ends on drop.
pub(crate) struct TimeLimit(Option<thread::JoinHandle<()>>, Arc<AtomicBool>);

impl TimeLimit {
    /// Sets `is_canceled` after `within`. `name` is the name of the thread.
    pub(crate) fn start(name: &str, within: Duration, is_canceled: Arc<AtomicBool>) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        let wait = move || {
            thread::park_timeout(within);
            if !ends.load(Ordering::Relaxed) {
                is_canceled.store(true, Ordering::Relaxed);
            }
        };
        Self(thread::Builder::new().name(name.to_owned()).spawn(wait).ok(), is_over)
    }
}

impl Drop for TimeLimit {
    fn drop(&mut self) {
        self.1.store(true, Ordering::Relaxed);
        if let Some(thread) = self.0.take() {
            thread.thread().unpark();
            // The thread only sleeps, and cannot panic.
            let _ = thread.join();
        }
    }
}
