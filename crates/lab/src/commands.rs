//! Runs commands to completion, each below a separate keeper.

use std::time::Duration;

use crate::deadline::Deadline;
use crate::exit::Exit;
use crate::kept_process::{Ended, KeeperOptions, KeptProcess};
use crate::{Command, Failure, Output, Signal, Stage, in_words};

const GRACE: Duration = Duration::from_secs(1);
/// Interval at which the caller's cancel function is called.
const PAUSE: Duration = Duration::from_millis(25);
/// Time for a keeper to report that all descendants have ended.
const LAST_REPORT_TIMEOUT: Duration = Duration::from_millis(100);

/// A command that did not exit with 0.
#[derive(Debug)]
pub(crate) struct CommandFault {
    /// End of a sentence: "exited with code 1", "did not end within 60 s".
    pub(crate) what: String,
    pub(crate) way_out: String,
    pub(crate) output: Option<Output>,
    pub(crate) exit: Option<Exit>,
}

impl CommandFault {
    /// Converts to a failure of `stage`, and returns the output of the command.
    pub(crate) fn failure(self, stage: Stage, command: &Command) -> (Failure, Option<Output>) {
        let what = format!("the command `{}` {}", in_words::command(command), self.what);
        let failure = Failure { stage, process: None, what, way_out: self.way_out, outputs: Vec::new() };
        (failure, self.output)
    }
}

/// Result of a command that exited with 0.
#[derive(Debug)]
pub(crate) enum CommandSuccess {
    Over(Output),
    /// Descendants of the command still run.
    StillBusy(KeptProcess),
}

impl CommandSuccess {
    /// Ends all remaining descendants.
    pub(crate) fn end(self) -> Output {
        match self {
            CommandSuccess::Over(output) => output,
            CommandSuccess::StillBusy(kept) => kept.stop(Some(Signal::TERM), GRACE).1,
        }
    }
}

/// Runs a command until it ends, the time is over, or `interrupted` returns true.
pub(crate) fn run(
    setting: &KeeperOptions,
    command: &Command,
    within: Duration,
    interrupted: &dyn Fn() -> bool,
) -> Result<CommandSuccess, CommandFault> {
    let kept =
        KeptProcess::start(setting, &in_words::command(command), command).map_err(|what| CommandFault {
            what: format!("could not be started: {what}"),
            way_out: "install it, or write its full path".to_owned(),
            output: None,
            exit: None,
        })?;
    let deadline = Deadline::after(within);
    let is_over = |state: &crate::kept_process::KeeperState| state.exit.is_some() || state.is_lost;
    let mut is_interrupted = false;
    while !is_over(&kept.state()) && !deadline.is_over() {
        is_interrupted = interrupted();
        if is_interrupted {
            break;
        }
        kept.wait(deadline.min(Deadline::after(PAUSE)), is_over);
    }
    let exit = kept.state().exit;
    if exit.is_some_and(Exit::is_success) {
        kept.wait(Deadline::after(LAST_REPORT_TIMEOUT), |state| state.is_empty);
        let is_empty = kept.state().is_empty;
        return Ok(if is_empty {
            CommandSuccess::Over(kept.stop(None, GRACE).1)
        } else {
            CommandSuccess::StillBusy(kept)
        });
    }
    let (what, way_out) = match (exit, kept.state().ended()) {
        (Some(exit), _) => (exit.to_string(), exit.hint()),
        (None, Some(Ended::KeeperLost)) => ("was lost: its keeper was killed".to_owned(), "run it again"),
        _ if is_interrupted => ("was canceled".to_owned(), "run it again"),
        _ => (
            format!("did not end within {}", in_words::duration(within)),
            "look at its output; give it longer with commands-within: 120s",
        ),
    };
    let (_, output) = kept.stop(Some(Signal::TERM), GRACE);
    Err(CommandFault { what, way_out: way_out.to_owned(), output: Some(output), exit })
}
