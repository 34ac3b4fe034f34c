//! Events that hold a process up. Its keeper lets it go on, so that it does even if Tenbin is killed.

use std::time::Duration;

use super::act::{Act, Flaw};
use crate::deadline::Deadline;

/// How often to look whether the load is over.
const LISTEN: Duration = Duration::from_millis(20);
/// How long a keeper may take to answer on a busy machine.
const ANSWER: Duration = Duration::from_secs(5);

impl Act<'_> {
    pub(super) fn pause(&self, process: &str, lasting: Duration) -> Result<(), Flaw> {
        let actor = self.actors.find(process)?;
        let _reserved = actor.reserve()?;
        let kept = &actor.kept;
        kept.pause(lasting);
        let until = Deadline::after(lasting.saturating_add(ANSWER));
        loop {
            kept.wait(until.min(Deadline::after(LISTEN)), |state| state.is_continued || state.is_lost);
            let (paused, is_continued, is_lost) = {
                let state = kept.state();
                (state.paused, state.is_continued, state.is_lost)
            };
            match (is_continued, paused) {
                (true, Some(0)) => return Err(Flaw::of(format!("{process} does not run"))),
                (true, _) => return Ok(()),
                _ if is_lost => return Err(Flaw::of(format!("the keeper of {process} was killed"))),
                _ if until.is_over() => {
                    return Err(Flaw::of(format!("the keeper of {process} did not answer")));
                }
                _ if self.is_over() => {
                    kept.go_on();
                    kept.wait(Deadline::after(ANSWER), |state| state.is_continued || state.is_lost);
                    return Err(Flaw::of(format!("{process} was let go on early")));
                }
                _ => {}
            }
        }
    }
}
