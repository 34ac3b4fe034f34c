//! A system that runs.

use crate::deadline::Deadline;
use crate::disks::Disk;
use crate::folder::Folder;
use crate::hosts::Namespace;
use crate::kept_process::{Ended, KeptProcess, Setting};
use crate::limits::Groups;
use crate::steady::Steady;
use crate::{Command, Failure, Output, Process, Stage};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Where one process of a system can be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The process's name.
    pub name: String,
    /// The keeper above it: everything that the process starts is below this pid.
    pub keeper_pid: u32,
    /// It is no part of what is measured.
    pub is_aside: bool,
}

/// What was left to say when a system had been stopped.
#[derive(Clone, Debug, Default)]
pub struct Stopped {
    /// What did not go as it should. The system is gone all the same, unless a failure says otherwise.
    pub failures: Vec<Failure>,
    /// What every process and command wrote: first the processes in the order of their start.
    pub outputs: Vec<Output>,
}

/// How long processes are stopped at most, whatever becomes of Tenbin.
const HELD_MAX: Duration = Duration::from_secs(3600);
/// How long a keeper may take to answer on a busy machine.
const ANSWER: Duration = Duration::from_secs(5);

/// What to do when a system needs more memory than it may have.
pub(crate) const MEMORY_WAY_OUT: &str = "raise `memory` in `resources`, or let the system use less";

/// A system whose processes were all ready once. Dropping it stops it too, but does not report how that went.
#[derive(Debug)]
pub struct System {
    pub(crate) setting: Setting,
    pub(crate) limits: Groups,
    /// Of its host.
    pub(crate) namespace: Option<Namespace>,
    pub(crate) disk: Option<Disk>,
    /// How many such ends have been told.
    pub(crate) killed_for_memory: u64,
    pub(crate) running: Vec<Running>,
    /// What commands left running that were run before the start, or by an event.
    pub(crate) background: Background,
    pub(crate) after: Vec<Command>,
    pub(crate) ports: Vec<u16>,
    pub(crate) folder: Option<Folder>,
    /// What commands wrote that have ended.
    pub(crate) outputs: Vec<Output>,
    pub(crate) steady: Option<Steady>,
}

/// One process, and how it is stopped.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) kept: Arc<KeptProcess>,
    pub(crate) process: Arc<Process>,
    /// Its death was reported.
    pub(crate) is_mourned: bool,
}

/// Processes that outlive the command that started them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Background(Arc<Mutex<Vec<KeptProcess>>>);

impl Background {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<KeptProcess>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl System {
    /// The processes, in the order of their start.
    pub fn roots(&self) -> Vec<Root> {
        let root = |running: &Running| Root {
            name: running.kept.name.clone(),
            keeper_pid: running.kept.keeper_pid(),
            is_aside: running.process.is_aside,
        };
        self.running.iter().map(root).collect()
    }

    /// A process that has ended although nobody asked it to. Each is returned once.
    ///
    /// A process that exits with 0 and leaves others behind has detached itself, and counts as running as long as they do.
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

    /// How long its start waited for it to be steady; `None` if it did not.
    pub fn steady(&self) -> Option<Steady> {
        self.steady
    }

    /// The groups that hold it to its limits.
    pub fn limits(&self) -> &Groups {
        &self.limits
    }

    /// Says so if the kernel has killed processes for memory since that was told last.
    pub(crate) fn explain_memory(&mut self, failure: &mut Failure) {
        let killed = self.limits.killed_for_memory();
        if killed > self.killed_for_memory {
            self.killed_for_memory = killed;
            failure.what = format!("{} ({})", self.limits.killed_words(), failure.what);
            failure.way_out = MEMORY_WAY_OUT.to_owned();
        }
    }

    /// Stops every process by SIGSTOP; says whether all of them did. Their keepers let them go on if Tenbin ends.
    pub fn hold(&self) -> bool {
        let background = self.background.lock();
        let kept = || self.running.iter().map(|running| &*running.kept).chain(background.iter());
        kept().for_each(|kept| kept.pause(HELD_MAX));
        let until = Deadline::after(ANSWER);
        kept().all(|kept| {
            kept.wait(until, |state| state.paused.is_some() || state.is_lost);
            kept.state().paused.is_some()
        })
    }

    /// Lets every process go on that [`Self::hold`] has stopped.
    pub fn go_on(&self) {
        let background = self.background.lock();
        let kept = || self.running.iter().map(|running| &*running.kept).chain(background.iter());
        kept().for_each(KeptProcess::go_on);
        let until = Deadline::after(ANSWER);
        kept().for_each(|kept| kept.wait(until, |state| state.is_continued || state.is_lost));
    }

    /// Stops everything, in reverse order, and runs the commands after.
    ///
    /// Nothing is left of the system then: what does not end in its time is killed, its ports are free, its folder is gone.
    /// Where that did not go smoothly, a failure says so.
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
        // After a stop there is nothing left to take down.
        if self.folder.is_some() {
            self.take_down();
        }
    }
}
