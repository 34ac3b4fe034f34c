//! Where trials are made, and how they are stopped.

use std::fmt;
use std::path::Path;

use crate::effort::Effort;

/// Where trials are made.
pub struct Site<'a> {
    /// The folder of the disk's trials. The file has no name there, so that nothing remains whatever happens.
    pub dir: &'a Path,
    /// How much time they take.
    pub effort: Effort,
    /// Asked between trials.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
}

impl fmt::Debug for Site<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site").field("dir", &self.dir).field("effort", &self.effort).finish_non_exhaustive()
    }
}

impl Site<'_> {
    /// The values of the trials that `trial` makes: fewer if they are stopped.
    ///
    /// # Errors
    ///
    /// The first trial that fails says why.
    pub(crate) fn repeat(&self, mut trial: impl FnMut() -> Result<f64, String>) -> Result<Vec<f64>, String> {
        let going_on = (0..self.effort.repetitions).take_while(|_| !(self.is_stopped)());
        going_on.map(|_| trial()).collect()
    }
}
