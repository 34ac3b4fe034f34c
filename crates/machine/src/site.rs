//! Environment and stop condition of the trials.

use std::fmt;
use std::path::Path;

use crate::effort::Effort;

/// Environment of the trials.
pub struct Site<'a> {
    /// Folder of the disk trials. Their file is unlinked, so it does not remain.
    pub dir: &'a Path,
    /// Time and space that the trials may use.
    pub effort: Effort,
    /// Stop condition, checked between trials.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
}

impl fmt::Debug for Site<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site").field("dir", &self.dir).field("effort", &self.effort).finish_non_exhaustive()
    }
}

impl Site<'_> {
    /// Repeats a trial, and returns its values. Returns fewer values if the trials are stopped.
    ///
    /// # Errors
    ///
    /// Returns the error of the first trial that fails.
    pub(crate) fn repeat(&self, mut trial: impl FnMut() -> Result<f64, String>) -> Result<Vec<f64>, String> {
        let going_on = (0..self.effort.repetitions).take_while(|_| !(self.is_stopped)());
        going_on.map(|_| trial()).collect()
    }
}
