//! Events that signal, start, stop, kill, or restart a process of the system.

use std::time::Duration;

use super::Signalled;
use super::act::{Actor, Flaw, RunningAction};
use crate::deadline::Deadline;
use crate::keeper::messages::EndedProcesses;
use crate::kept_process::Ended;
use crate::processes::{self, Seen};
use crate::{Ready, Signal, StopHow, commands, in_words, ready};

impl RunningAction<'_> {
    pub(super) fn signal(&self, signalled: &Signalled) -> Result<(), Flaw> {
        let Signalled { process, signal } = signalled;
        let actor = self.actors.find(process)?;
        let is_sent = main_process(actor).is_some_and(|main| processes::signal(&main, *signal));
        if is_sent { Ok(()) } else { Err(Flaw::of(format!("{process} does not run, and gets no {signal}"))) }
    }

    pub(super) fn start(&self, process: &str) -> Result<(), Flaw> {
        let actor = self.actors.find(process)?;
        let _reserved = actor.reserve()?;
        self.bring_up(actor)
    }

    pub(super) fn stop(&self, process: &str) -> Result<(), Flaw> {
        let actor = self.actors.find(process)?;
        let _reserved = actor.reserve()?;
        self.lay_down(actor, &actor.process.stop)
    }

    pub(super) fn kill(&self, process: &str) -> Result<(), Flaw> {
        let actor = self.actors.find(process)?;
        let _reserved = actor.reserve()?;
        must_run(actor)?;
        match actor.kept.rest(Some(Signal::KILL), Duration::ZERO) {
            Some(EndedProcesses { left: 0, .. }) => Ok(()),
            toll => Err(not_gone(process, toll)),
        }
    }

    pub(super) fn restart(&self, process: &str) -> Result<(), Flaw> {
        let actor = self.actors.find(process)?;
        let _reserved = actor.reserve()?;
        self.lay_down(actor, &actor.process.stop)?;
        self.bring_up(actor)
    }

    /// Stops a process as at the end of a run: by its command or signal, and by KILL after the timeout.
    fn lay_down(&self, actor: &Actor, stop: &StopHow) -> Result<(), Flaw> {
        must_run(actor)?;
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
                    flaw = Some(Flaw::of(format!(
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
                Err(Flaw::of(format!("{name} did not stop within {limit}, and was killed")))
            }
            toll => Err(not_gone(name, toll)),
        }
    }

    fn bring_up(&self, actor: &Actor) -> Result<(), Flaw> {
        let name = &actor.kept.name;
        if !actor.kept.state().is_at_rest {
            return Err(Flaw::of(format!("{name} runs already")));
        }
        let free = actor.process.is_aside.then(|| self.actors.setting.aside());
        let setting = free.as_ref().unwrap_or(&self.actors.setting);
        let started = actor.kept.start_command(setting, &actor.process.command);
        started.map_err(|why| Flaw::of(format!("{name} could not be started: {why}")))?;
        let Ready { when, within } = &actor.process.ready;
        let ready = Ready { when: when.clone(), within: (*within).min(self.deadline.left()) };
        let is_ready = ready::wait(&self.actors.setting, &ready, &actor.kept, self.is_interrupted);
        // If the process has ended by now, this event reports the failure, so it does not count as an unexpected death.
        if actor.kept.state().ended().is_none() {
            actor.kept.expect_life();
        }
        is_ready.map_err(|not_ready| Flaw::of(format!("{name}: {}", not_ready.what)))
    }
}

/// Fails unless the process runs. A process that ended on its own is reported as dead, and no further action can affect it.
fn must_run(actor: &Actor) -> Result<(), Flaw> {
    let state = actor.kept.state();
    let name = &actor.kept.name;
    if state.is_at_rest {
        return Err(Flaw::of(format!("{name} does not run")));
    }
    match state.ended() {
        None => Ok(()),
        Some(Ended::Exit(exit)) => Err(Flaw::of(format!("{name} had ended before: it {exit}"))),
        Some(Ended::KeeperLost) => Err(Flaw::of(format!("the keeper of {name} had been killed before"))),
    }
}

fn not_gone(name: &str, toll: Option<EndedProcesses>) -> Flaw {
    Flaw::of(match toll {
        Some(toll) => {
            format!("{} below {name} did not end even when killed", in_words::processes(toll.left))
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
