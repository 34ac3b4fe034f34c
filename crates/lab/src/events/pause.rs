//! Events that pause a process. Its keeper resumes it, so that it resumes even if Tenbin is killed.

use std::time::Duration;

use super::act::{ActionError, RunningAction};
use crate::deadline::Deadline;

/// Interval of checks whether the load has ended.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// Timeout for the answer of a keeper on a busy machine.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

impl RunningAction<'_> {
    pub(super) fn pause(&self, process: &str, lasting: Duration) -> Result<(), ActionError> {
        let actor = self.actors.find(process)?;
        let _reserved = actor.reserve()?;
        let kept = &actor.kept;
        kept.pause(lasting);
        let until = Deadline::after(lasting.saturating_add(ANSWER_TIMEOUT));
        loop {
            kept.wait(until.min(Deadline::after(CHECK_INTERVAL)), |state| {
                state.is_continued || state.is_lost
            });
            let (paused, is_continued, is_lost) = {
                let state = kept.state();
                (state.paused, state.is_continued, state.is_lost)
            };
            match (is_continued, paused) {
                (true, Some(0)) => return Err(ActionError::of(format!("{process} does not run"))),
                (true, _) => return Ok(()),
                _ if is_lost => return Err(ActionError::of(format!("the keeper of {process} was killed"))),
                _ if until.is_over() => {
                    return Err(ActionError::of(format!("the keeper of {process} did not answer")));
                }
                _ if self.is_over() => {
                    kept.go_on();
                    kept.wait(Deadline::after(ANSWER_TIMEOUT), |state| state.is_continued || state.is_lost);
                    return Err(ActionError::of(format!("{process} was let go on early")));
                }
                _ => {}
            }
        }
    }
}
