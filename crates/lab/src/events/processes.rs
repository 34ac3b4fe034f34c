//! Events that signal, start, stop, kill, or restart a process of the system.

use std::time::Duration;

use super::Signalled;
use super::act::{ActionError, Actor, RunningAction};
use crate::deadline::Deadline;
use crate::keeper::messages::EndedProcesses;
use crate::kept_process::Ended;
use crate::processes::{self, Seen};
use crate::{Ready, Signal, StopHow, commands, in_words, ready};

impl RunningAction<'_> {
    pub(super) fn signal(&self, signalled: &Signalled) -> Result<(), ActionError> {
        let Signalled { process, signal } = signalled;
        let actor = self.actors.find(process)?;
        let is_sent = main_process(actor).is_some_and(|main| processes::signal(&main, *signal));
        if is_sent {
            Ok(())
        } else {
            Err(ActionError::of(format!("{process} does not run, and gets no {signal}")))
        }
    }

    pub(super) fn start(&self, process: &str) -> Result<(), ActionError> {
        let actor = self.actors.find(process)?;
        let _reserved = actor.reserve()?;
        self.bring_up(actor)
    }

    pub(super) fn stop(&self, process: &str) -> Result<(), ActionError> {
        let actor = self.actors.find(process)?;
        let _reserved = actor.reserve()?;
        self.shut_down(actor, &actor.process.stop)
    }

    pub(super) fn kill(&self, process: &str) -> Result<(), ActionError> {
        let actor = self.actors.find(process)?;
        let _reserved = actor.reserve()?;
        check_running(actor)?;
        match actor.kept.rest(Some(Signal::KILL), Duration::ZERO) {
            Some(EndedProcesses { left: 0, .. }) => Ok(()),
            stop_result => Err(still_running_error(process, stop_result)),
        }
    }

    pub(super) fn restart(&self, process: &str) -> Result<(), ActionError> {
        let actor = self.actors.find(process)?;
        let _reserved = actor.reserve()?;
        self.shut_down(actor, &actor.process.stop)?;
        self.bring_up(actor)
    }

    /// Stops a process as at the end of a run: by its command or signal, and by KILL after the timeout.
    fn shut_down(&self, actor: &Actor, stop: &StopHow) -> Result<(), ActionError> {
        check_running(actor)?;
        let name = &actor.kept.name;
        // The process is expected to end after this call.
        actor.kept.expect_end();
        let (mut signal, mut within, mut flaw) = (Some(stop.signal), stop.within, None);
        if let Some(command) = &stop.command {
            let until = Deadline::after(stop.within);
            match commands::run(&self.actors.setting, command, stop.within, self.is_interrupted) {
                Ok(done) => {
                    done.end();
                    (signal, within) = (None, until.left());
                }
                Err(fault) => {
                    let command = in_words::command(command);
                    flaw = Some(ActionError::of(format!(
                        "the command `{command}` {}, so {name} was stopped by {}",
                        fault.what, stop.signal
                    )));
                }
            }
        }
        match actor.kept.rest(signal, within) {
            Some(EndedProcesses { left: 0, is_main_killed: false, .. }) => flaw.map_or(Ok(()), Err),
            Some(EndedProcesses { left: 0, .. }) => {
                let limit = in_words::duration(stop.within);
                Err(ActionError::of(format!("{name} did not stop within {limit}, and was killed")))
            }
            stop_result => Err(still_running_error(name, stop_result)),
        }
    }

    fn bring_up(&self, actor: &Actor) -> Result<(), ActionError> {
        let name = &actor.kept.name;
        if !actor.kept.state().is_at_rest {
            return Err(ActionError::of(format!("{name} runs already")));
        }
        let free = actor.process.is_aside.then(|| self.actors.setting.unrestricted());
        let setting = free.as_ref().unwrap_or(&self.actors.setting);
        let started = actor.kept.start_command(setting, &actor.process.command);
        started.map_err(|why| ActionError::of(format!("{name} could not be started: {why}")))?;
        let Ready { when, within } = &actor.process.ready;
        let ready = Ready { when: when.clone(), within: (*within).min(self.deadline.left()) };
        let is_ready = ready::wait(&self.actors.setting, &ready, &actor.kept, self.is_interrupted);
        // If the process has ended by now, this event reports the failure, so it does not count as an unexpected death.
        if actor.kept.state().ended().is_none() {
            actor.kept.expect_running();
        }
        is_ready.map_err(|not_ready| ActionError::of(format!("{name}: {}", not_ready.what)))
    }
}

/// Fails unless the process runs. A process that ended on its own is reported as dead, and no further action can affect it.
fn check_running(actor: &Actor) -> Result<(), ActionError> {
    let state = actor.kept.state();
    let name = &actor.kept.name;
    if state.is_at_rest {
        return Err(ActionError::of(format!("{name} does not run")));
    }
    match state.ended() {
        None => Ok(()),
        Some(Ended::Exit(exit)) => Err(ActionError::of(format!("{name} had ended before: it {exit}"))),
        Some(Ended::KeeperLost) => {
            Err(ActionError::of(format!("the keeper of {name} had been killed before")))
        }
    }
}

fn still_running_error(name: &str, stop_result: Option<EndedProcesses>) -> ActionError {
    ActionError::of(match stop_result {
        Some(stop_result) => {
            format!("{} below {name} did not end even when killed", in_words::processes(stop_result.left))
        }
        None => format!("the keeper of {name} did not answer"),
    })
}

/// Returns the process that was started. If it has ended, returns the oldest orphan that the keeper adopted.
fn main_process(actor: &Actor) -> Option<Seen> {
    let (main, is_over) = {
        let state = actor.kept.state();
        if state.is_at_rest {
            return None;
        }
        (state.main.clone(), state.exit.is_some())
    };
    let keeper_pid = actor.kept.keeper_pid();
    let eldest = || {
        let left = processes::below(keeper_pid).into_iter().filter(|seen| seen.parent == keeper_pid);
        left.min_by_key(|seen| seen.started_ticks)
    };
    main.filter(|_| !is_over).or_else(eldest)
}
