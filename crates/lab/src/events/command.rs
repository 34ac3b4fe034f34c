//! Events that run a command, optionally while a lock is held.

use super::Lock;
use super::act::{ActionError, RunningAction};
use crate::commands::{self, CommandSuccess};
use crate::{Command, in_words};

impl RunningAction<'_> {
    /// Runs a command, while `lock` is held if there is one. Releases the lock even if the command fails.
    pub(super) fn run_locked(
        &mut self,
        command: &Command,
        lock: Option<&mut Box<dyn Lock>>,
    ) -> Result<(), ActionError> {
        let Some(lock) = lock else { return self.run(command) };
        let (deadline, is_interrupted) = (self.deadline, self.is_interrupted);
        lock.take(&move || is_interrupted() || deadline.is_over()).map_err(ActionError::of)?;
        let done = self.run(command);
        let released = lock.release().map_err(ActionError::of);
        done.and(released)
    }

    /// Runs a command, which must exit with 0. Descendants that still run are ended with the system.
    pub(super) fn run(&mut self, command: &Command) -> Result<(), ActionError> {
        let actors = self.actors;
        let within = self.deadline.left();
        match commands::run(&actors.setting, command, within, self.is_interrupted) {
            Ok(done) => {
                self.trace.exit = Some(crate::exit::Exit::Code(0));
                match done {
                    CommandSuccess::Over(output) => self.trace.set_output(output),
                    CommandSuccess::StillBusy(kept) => {
                        self.trace.set_output(kept.output());
                        actors.background.lock().push(kept);
                    }
                }
                Ok(())
            }
            Err(fault) => {
                self.trace.exit = fault.exit;
                if let Some(output) = fault.output {
                    self.trace.set_output(output);
                }
                let what = if self.is_over() { "was ended" } else { &fault.what };
                Err(ActionError::of(format!("the command `{}` {what}", in_words::command(command))))
            }
        }
    }
}
