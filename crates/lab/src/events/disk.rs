//! Events that fill the disk of a system.

use std::thread;

use super::EffectDuration;
use super::act::{ActionError, RunningAction};
use super::links::CHECK_INTERVAL;
use crate::deadline::Deadline;

impl RunningAction<'_> {
    /// Occupies all free space of the system's disk except `leave_bytes`, including space that the system frees meanwhile. Without
    /// a duration the disk stays full until it is removed.
    pub(super) fn fill(&self, leave_bytes: u64, lasting: EffectDuration) -> Result<(), ActionError> {
        let disk =
            self.actors.disk.as_ref().ok_or_else(|| ActionError::of("the system has no disk of its own"))?;
        let cannot = |what: String| ActionError::of(format!("the disk {} {what}", disk.point().display()));
        let filling = disk.fill().map_err(cannot)?;
        filling.take(leave_bytes).map_err(cannot)?;
        let Some(lasting) = lasting else {
            filling.keep();
            return Ok(());
        };
        let until = Deadline::after(lasting);
        while !until.is_over() {
            if self.is_over() {
                return Err(ActionError::of("it was put back early"));
            }
            thread::sleep(until.left().min(CHECK_INTERVAL));
            filling.take(leave_bytes).map_err(cannot)?;
        }
        Ok(())
    }
}
