//! Handles SIGINT, SIGTERM, and SIGHUP: the first signal drains and reports, the second ends the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use runner::Stopper;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::Exit;
use crate::output;

/// Time that a run has to end by itself after a second signal. A second signal ends the program within 1 s, even if something
/// hangs.
const SECOND_SIGNAL_GRACE: Duration = Duration::from_millis(800);
/// Time limit for the removal of the systems' folders after [`SECOND_SIGNAL_GRACE`].
const CLEANUP_TIMEOUT: Duration = Duration::from_millis(150);

/// Signals received so far.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedSignals {
    first: Arc<AtomicI32>,
    has_begun: Arc<AtomicBool>,
}

impl ReceivedSignals {
    /// Marks the beginning of the run. From now on, the first signal stops the run, not the program.
    pub(crate) fn mark_run_started(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
    }

    /// Exit of a command that would end with `ending` by itself. The first signal decides, if there was one.
    ///
    /// A run that ended early without a signal could not run.
    pub(crate) fn exit_or(&self, ending: Exit) -> Exit {
        self.exit().unwrap_or(if ending == Exit::Interrupted { Exit::CouldNotRun } else { ending })
    }

    /// Result of a command that could not print its report. A signal takes precedence: a closed terminal sends SIGHUP, and cannot
    /// be written to.
    pub(crate) fn exit_or_error(&self, error: anyhow::Error) -> anyhow::Result<Exit> {
        let Some(exit) = self.exit() else { return Err(error) };
        output::print_error(&error);
        Ok(exit)
    }

    /// Exit that the first signal requests. `None` if no signal arrived.
    pub(crate) fn exit(&self) -> Option<Exit> {
        match self.first.load(Ordering::Relaxed) {
            0 => None,
            SIGINT => Some(Exit::Interrupted),
            _ => Some(Exit::Terminated),
        }
    }
}

/// Whether this process was started with `signal` ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask =
        status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 << (signal - 1) != 0)
}

/// Starts the thread that handles signals until the program ends.
pub(crate) fn listen(stopper: Stopper) -> anyhow::Result<ReceivedSignals> {
    // Under nohup, SIGHUP is ignored, so that the program outlives its terminal.
    let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup))?;
    let received_signals = ReceivedSignals { first: Arc::default(), has_begun: Arc::default() };
    let hearing = received_signals.clone();
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            let is_first =
                hearing.first.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed).is_ok();
            let exit = hearing.exit().unwrap_or(Exit::Interrupted);
            if !hearing.has_begun.load(Ordering::Relaxed) {
                std::process::exit(exit.code().into());
            }
            stopper.ask();
            if !is_first {
                thread::sleep(SECOND_SIGNAL_GRACE);
                remove_scratch_folders();
                std::process::exit(exit.code().into());
            }
        }
    })?;
    Ok(received_signals)
}

/// Removes the folders of systems. If that takes too long, the next study finishes it.
fn remove_scratch_folders() {
    let (is_done, done) = mpsc::channel();
    let tidying = thread::Builder::new().name("tidying".to_owned()).spawn(move || {
        runner::abandon();
        is_done.send(())
    });
    if tidying.is_ok() {
        let _ = done.recv_timeout(CLEANUP_TIMEOUT);
    }
}
