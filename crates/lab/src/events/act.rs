//! Action in progress: the processes and resources it acts on, its deadline, and its result.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use super::{Action, Event, OUTPUT_BYTES_MAX};
use crate::deadline::Deadline;
use crate::disks::Disk;
use crate::exit::Exit;
use crate::kept_process::{KeeperOptions, KeptProcess};
use crate::limits::Groups;
use crate::system::Background;
use crate::{Output, Process, in_words};

/// Processes and resources that events act on.
#[derive(Debug)]
pub(crate) struct Actors {
    pub(crate) setting: KeeperOptions,
    pub(crate) processes: Vec<Actor>,
    pub(crate) background: Background,
    /// Folder of the system.
    pub(crate) dir: PathBuf,
    pub(crate) limits: Groups,
    pub(crate) disk: Option<Disk>,
}

/// A process of the system.
#[derive(Debug)]
pub(crate) struct Actor {
    pub(crate) kept: Arc<KeptProcess>,
    pub(crate) process: Arc<Process>,
    /// Locked by the event that stops, starts, or pauses the process.
    pub(crate) busy: Mutex<()>,
}

impl Actor {
    /// Prevents other events from stopping, starting, or pausing the process while the guard lives.
    pub(super) fn reserve(&self) -> Result<MutexGuard<'_, ()>, ActionError> {
        self.busy
            .try_lock()
            .map_err(|_| ActionError::of(format!("another event still acts on {}", self.kept.name)))
    }
}

impl Actors {
    pub(super) fn find(&self, name: &str) -> Result<&Actor, ActionError> {
        let found = self.processes.iter().find(|actor| actor.kept.name == name);
        found.ok_or_else(|| ActionError::of(format!("the system has no process {name}")))
    }
}

/// Reason why an action failed.
#[derive(Debug)]
pub(super) struct ActionError {
    /// Sentence without its full stop.
    pub(super) what: String,
    /// Whether the action failed because the load ended first.
    pub(super) is_cut: bool,
}

impl ActionError {
    pub(super) fn of(what: impl Into<String>) -> Self {
        Self { what: what.into(), is_cut: false }
    }

    fn cut() -> Self {
        Self { what: "it still went on when the load ended, and was ended".to_owned(), is_cut: true }
    }
}

/// Exit and output of an action.
#[derive(Debug, Default)]
pub(super) struct ActionOutput {
    pub(super) exit: Option<Exit>,
    pub(super) output: Vec<u8>,
    pub(super) dropped_bytes: u64,
}

impl ActionOutput {
    /// Stores the end of an output.
    pub(super) fn set_output(&mut self, output: Output) {
        let Output { mut text, dropped_bytes, .. } = output;
        let excess = text.len().saturating_sub(OUTPUT_BYTES_MAX);
        text.drain(..excess);
        self.dropped_bytes += dropped_bytes + excess as u64;
        self.output = text;
    }
}

/// Action in progress.
pub(super) struct RunningAction<'a> {
    pub(super) actors: &'a Actors,
    /// Deadline of the action.
    pub(super) deadline: Deadline,
    /// Whether the load has ended, which ends the action too.
    pub(super) is_interrupted: &'a (dyn Fn() -> bool + Sync),
    pub(super) trace: ActionOutput,
}

impl RunningAction<'_> {
    /// Performs the action of the event, and waits for its condition.
    pub(super) fn run_event(&mut self, event: &mut Event) -> Result<(), ActionError> {
        let seen = event.until.as_ref().map(|sign| self.bytes_before(sign)).transpose()?;
        let done = self.perform(&mut event.action);
        let done = match (&event.until, seen) {
            (Some(sign), Some(from_bytes)) => done.and_then(|()| self.wait_for(sign, from_bytes)),
            _ => done,
        };
        // Any error after the end of the load or after the deadline is a consequence of that end.
        done.map_err(|flaw| {
            if (self.is_interrupted)() {
                ActionError::cut()
            } else if self.deadline.is_over() {
                let limit = in_words::duration(event.within);
                ActionError::of(format!("it did not end within {limit}: {}", flaw.what))
            } else {
                flaw
            }
        })
    }

    fn perform(&mut self, action: &mut Action) -> Result<(), ActionError> {
        match action {
            Action::Run { command, lock } => self.run_locked(command, lock.as_mut()),
            Action::Signal(signalled) => self.signal(signalled),
            Action::Start(process) => self.start(process),
            Action::Stop(process) => self.stop(process),
            Action::Kill(process) => self.kill(process),
            Action::Restart(process) => self.restart(process),
            Action::Pause { process, lasting } => self.pause(process, *lasting),
            Action::Limit { limits, lasting } => self.limit(limits, *lasting),
            Action::Link { link, lasting } => self.order(link, *lasting),
            Action::Fill { leave_bytes, lasting } => self.fill(*leave_bytes, *lasting),
            Action::Set { files, reload } => self.set(files, reload),
            Action::Switch(switch) => {
                switch.switch();
                Ok(())
            }
        }
    }

    /// Whether the action must stop: the load has ended, or the deadline has passed.
    pub(super) fn is_over(&self) -> bool {
        (self.is_interrupted)() || self.deadline.is_over()
    }
}
