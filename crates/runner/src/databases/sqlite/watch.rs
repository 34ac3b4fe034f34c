//! Monitor of SQLite in this process: what the call of each connection does, forty times a second, and how often calls waited for the
//! lock of the file.

use std::fs;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use lab::probes::{NotAvailable, Reading};
use sqlite::{ConnectionSnapshot, LockCounters, State};

use crate::database_watch::tally::Sample;
use crate::database_watch::{Counter, DatabaseWatch, Shared};

/// Pause between samples.
const PAUSE: Duration = Duration::from_millis(25);
/// Number of samples between two readings of counters.
const SAMPLES_OF_COUNTERS: u32 = 40;

/// System calls that wait until data is on the disk: `fsync` and `fdatasync`.
#[cfg(target_arch = "x86_64")]
const SYNCS: [&str; 2] = ["74", "75"];
#[cfg(not(target_arch = "x86_64"))]
const SYNCS: [&str; 2] = ["82", "83"];

#[derive(Debug)]
pub(crate) struct InProcessWatch {
    shared: Arc<Shared>,
    /// Dropped to end the thread.
    pauses: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl InProcessWatch {
    pub(super) fn begin() -> Self {
        let shared = Arc::new(Shared::default());
        let (pauses, ends) = mpsc::channel();
        let theirs = Arc::clone(&shared);
        let spawned = thread::Builder::new().name("database".into()).spawn(move || run(&theirs, &ends));
        if let Err(error) = &spawned {
            shared.lacks("", &format!("no thread can be started for it: {error}"));
        }
        Self { shared, pauses: Some(pauses), thread: spawned.ok() }
    }

    fn close(&mut self) {
        self.pauses = None;
        // A panicked thread has no readings left to deliver.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl DatabaseWatch for InProcessWatch {
    fn take(&mut self) -> Vec<Reading> {
        self.shared.tally().take()
    }

    fn end(mut self: Box<Self>) -> (Vec<Reading>, Vec<NotAvailable>) {
        self.close();
        (self.take(), self.shared.take_missing())
    }
}

impl Drop for InProcessWatch {
    fn drop(&mut self) {
        self.close();
    }
}

fn run(shared: &Shared, ends: &Receiver<()>) {
    shared.tally().count(counters(sqlite::lock_counters()), true);
    let mut number = 0_u32;
    while matches!(ends.recv_timeout(PAUSE), Err(RecvTimeoutError::Timeout)) {
        let samples = sqlite::connections().iter().map(sample).collect();
        let mut tally = shared.tally();
        tally.add(samples);
        number = number.wrapping_add(1);
        if number.is_multiple_of(SAMPLES_OF_COUNTERS) {
            tally.count(counters(sqlite::lock_counters()), false);
        }
    }
    shared.tally().count(counters(sqlite::lock_counters()), false);
}

fn counters(LockCounters { waits, tries, rejected }: LockCounters) -> Vec<Counter> {
    let counter = |metric, value, grows| Counter { metric, label: String::new(), value, grows };
    vec![
        counter("db_lock_waits", waits as f64, true),
        counter("db_lock_tries", tries as f64, true),
        counter("db_lock_rejections", rejected as f64, true),
        counter("db_in_process", 1.0, false),
    ]
}

/// State of a connection, and of the call of its thread.
fn sample(seen: &ConnectionSnapshot) -> Sample {
    let wait = match seen.state {
        State::Idle => None,
        State::WaitsForLock => Some("Lock:file"),
        State::Executing if seen.thread.is_some_and(is_syncing) => Some("IO:fsync"),
        State::Executing => Some("CPU"),
    };
    let state = if wait.is_some() { "active" } else { "idle" };
    Sample { state: state.to_owned(), wait: wait.map(str::to_owned), statement: String::new(), sessions: 1.0 }
}

/// Whether a thread of this process waits until data is on the disk.
fn is_syncing(thread: u32) -> bool {
    let call = fs::read_to_string(format!("/proc/self/task/{thread}/syscall")).unwrap_or_default();
    call.split(' ').next().is_some_and(|number| SYNCS.contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_and_computing_calls_are_distinguished() {
        let wait = |state| sample(&ConnectionSnapshot { state, thread: None }).wait;
        assert_eq!(wait(State::Idle), None);
        assert_eq!(wait(State::WaitsForLock).as_deref(), Some("Lock:file"));
        assert_eq!(wait(State::Executing).as_deref(), Some("CPU"));
    }
}
