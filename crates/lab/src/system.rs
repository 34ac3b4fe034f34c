//! A running system.

use crate::deadline::Deadline;
use crate::disks::Disk;
use crate::folder::Folder;
use crate::hosts::Namespace;
use crate::kept_process::{Ended, KeeperOptions, KeptProcess};
use crate::limits::Groups;
use crate::steady::Steady;
use crate::{Command, Copied, Failure, Output, Process, Stage};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Location of one process of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Name of the process.
    pub name: String,
    /// Process ID of its keeper. All its processes are descendants of the keeper.
    pub keeper_pid: u32,
    /// Whether the process is not part of the measured system.
    pub is_aside: bool,
}

/// Result of stopping a system.
#[derive(Clone, Debug, Default)]
pub struct Stopped {
    /// Failures of the stop. All processes have ended nevertheless, unless a failure states otherwise.
    pub failures: Vec<Failure>,
    /// Output of each process and command: first the processes, in start order.
    pub outputs: Vec<Output>,
    /// Copy of the folder. `None` if the recipe requests no copy, or if copying failed.
    pub copied: Option<Copied>,
}

/// Max pause of processes, even if Tenbin never resumes them.
const PAUSE_MAX: Duration = Duration::from_secs(3600);
/// Timeout for the answer of a keeper on a busy machine.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Remedy if a system exceeds its memory limit.
pub(crate) const RAISE_MEMORY_LIMIT: &str = "raise `memory` in `resources`, or let the system use less";

/// Running system, after all processes were ready. Dropping it stops it too, without reporting failures.
#[derive(Debug)]
pub struct System {
    pub(crate) setting: KeeperOptions,
    pub(crate) limits: Groups,
    /// Namespace of its host. `None` if it runs on this host.
    pub(crate) namespace: Option<Namespace>,
    pub(crate) disk: Option<Disk>,
    /// Number of memory kills that have been reported.
    pub(crate) killed_for_memory: u64,
    pub(crate) running: Vec<Running>,
    /// Processes that commands left running, before the start or in an event.
    pub(crate) background: Background,
    pub(crate) after: Vec<Command>,
    pub(crate) ports: Vec<u16>,
    pub(crate) folder: Option<Folder>,
    /// Folder to which its folder is copied when all processes have ended. `None` for no copy.
    pub(crate) copy_to: Option<PathBuf>,
    /// Output of commands that have ended.
    pub(crate) outputs: Vec<Output>,
    pub(crate) steady: Option<Steady>,
}

/// A process with its keeper and its description.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) kept: Arc<KeptProcess>,
    pub(crate) process: Arc<Process>,
    /// Whether the death of the process was reported.
    pub(crate) is_mourned: bool,
}

/// Processes that outlived the command that started them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Background(Arc<Mutex<Vec<KeptProcess>>>);

impl Background {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<KeptProcess>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl System {
    /// Keepers of the processes, in start order.
    pub fn roots(&self) -> Vec<Root> {
        let root = |running: &Running| Root {
            name: running.kept.name.clone(),
            keeper_pid: running.kept.keeper_pid(),
            is_aside: running.process.is_aside,
        };
        self.running.iter().map(root).collect()
    }

    /// Returns a process that ended unexpectedly. Each is returned once.
    ///
    /// A process that exits with 0 and leaves descendants has daemonized. It counts as running as long as they do.
    pub fn died(&mut self) -> Option<Failure> {
        let running = self
            .running
            .iter_mut()
            .find(|running| !running.is_mourned && running.kept.state().died().is_some())?;
        running.is_mourned = true;
        let name = running.kept.name.clone();
        let ended = running.kept.state().ended()?;
        let (what, way_out) = match ended {
            Ended::Exit(exit) => (format!("{exit} while it should run"), exit.hint()),
            Ended::KeeperLost => {
                ("its keeper was killed while it should run".to_owned(), "find out who kills processes here")
            }
        };
        let way_out = way_out.to_owned();
        let outputs = self.outputs_so_far();
        let mut failure = Failure { stage: Stage::Died, process: Some(name), what, way_out, outputs };
        self.explain_memory(&mut failure);
        Some(failure)
    }

    /// Result of the wait for a steady state. `None` if the start did not wait.
    pub fn steady(&self) -> Option<Steady> {
        self.steady
    }

    /// Control groups that enforce its limits.
    pub fn limits(&self) -> &Groups {
        &self.limits
    }

    /// Adds the cause to a failure if the kernel has killed processes for memory since the last report.
    pub(crate) fn explain_memory(&mut self, failure: &mut Failure) {
        let killed = self.limits.killed_for_memory();
        if killed > self.killed_for_memory {
            self.killed_for_memory = killed;
            failure.what = format!("{} ({})", self.limits.killed_words(), failure.what);
            failure.way_out = RAISE_MEMORY_LIMIT.to_owned();
        }
    }

    /// Pauses every process with SIGSTOP. Returns whether all were paused. Their keepers resume them if Tenbin ends.
    pub fn hold(&self) -> bool {
        let background = self.background.lock();
        let kept = || self.running.iter().map(|running| &*running.kept).chain(background.iter());
        kept().for_each(|kept| kept.pause(PAUSE_MAX));
        let until = Deadline::after(ANSWER_TIMEOUT);
        kept().all(|kept| {
            kept.wait(until, |state| state.paused.is_some() || state.is_lost);
            kept.state().paused.is_some()
        })
    }

    /// Resumes every process that [`Self::hold`] has paused.
    pub fn go_on(&self) {
        let background = self.background.lock();
        let kept = || self.running.iter().map(|running| &*running.kept).chain(background.iter());
        kept().for_each(KeptProcess::go_on);
        let until = Deadline::after(ANSWER_TIMEOUT);
        kept().for_each(|kept| kept.wait(until, |state| state.is_continued || state.is_lost));
    }

    /// Stops everything in reverse order, and runs the commands after.
    ///
    /// Afterwards, processes that exceeded their timeout are killed, ports are free, and the folder is removed. A failure reports any step
    /// that did not succeed.
    pub fn stop(mut self) -> Stopped {
        self.take_down()
    }

    pub(crate) fn outputs_so_far(&self) -> Vec<Output> {
        let processes = self.running.iter().map(|running| running.kept.output());
        let background: Vec<Output> = self.background.lock().iter().map(KeptProcess::output).collect();
        processes.chain(background).chain(self.outputs.iter().cloned()).collect()
    }
}

impl Drop for System {
    fn drop(&mut self) {
        // A stopped system needs no further cleanup.
        if self.folder.is_some() {
            self.take_down();
        }
    }
}
