//! Ctrl-C and its relatives: once to drain and report, twice to end at once.

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

/// A second signal ends the program within a second, whatever hangs: so long for the run to end by itself, and so long to tidy up.
const PATIENCE: Duration = Duration::from_millis(800);
const TIDYING: Duration = Duration::from_millis(150);

/// What was heard so far.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    first: Arc<AtomicI32>,
    has_begun: Arc<AtomicBool>,
}

impl Heard {
    /// From now on a first signal is for the run, not for the program.
    pub(crate) fn run_begins(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
    }

    /// How the command ends that would end so by itself: the first signal decides, if there was one. A run that ended early without
    /// one did not finish.
    pub(crate) fn or_by_itself(&self, ending: Exit) -> Exit {
        self.exit().unwrap_or(if ending == Exit::Interrupted { Exit::CouldNotRun } else { ending })
    }

    /// How the command ends that could not print its report. A closed terminal is one that cannot be written, and its signal is why.
    pub(crate) fn or_error(&self, error: anyhow::Error) -> anyhow::Result<Exit> {
        let Some(exit) = self.exit() else { return Err(error) };
        output::complain(&error);
        Ok(exit)
    }

    /// The ending that the first signal asks for, if there was one.
    pub(crate) fn exit(&self) -> Option<Exit> {
        match self.first.load(Ordering::Relaxed) {
            0 => None,
            SIGINT => Some(Exit::Interrupted),
            _ => Some(Exit::Terminated),
        }
    }
}

/// Whether this process was started with a signal ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask =
        status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 << (signal - 1) != 0)
}

/// Listens for the rest of the program's life.
pub(crate) fn listen(stopper: Stopper) -> anyhow::Result<Heard> {
    // A program under nohup outlives its terminal.
    let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup))?;
    let heard = Heard { first: Arc::default(), has_begun: Arc::default() };
    let hearing = heard.clone();
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
                thread::sleep(PATIENCE);
                tidy_up();
                std::process::exit(exit.code().into());
            }
        }
    })?;
    Ok(heard)
}

/// Removes the folders of systems, unless that takes too long: then the next study does.
fn tidy_up() {
    let (is_done, done) = mpsc::channel();
    let tidying = thread::Builder::new().name("tidying".to_owned()).spawn(move || {
        runner::abandon();
        is_done.send(())
    });
    if tidying.is_ok() {
        let _ = done.recv_timeout(TIDYING);
    }
}
