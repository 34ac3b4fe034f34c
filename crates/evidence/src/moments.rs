//! Time series of a load, in windows of 100 ms.

use record::{LoadSecond, Moment, Moments};

use crate::run::Run;

impl Run {
    /// Returns the windows of 100 ms, in order. Empty for a run without events, and for one that was loaded with its
    /// study.
    pub fn moments(&self) -> Vec<Moment> {
        let mut moments = Moments::default();
        // Decoding cannot fail here: the windows were checked when they were loaded.
        let parts = self.monitored.moments.iter().flat_map(|packed| Moment::decode_all(packed)).flatten();
        parts.for_each(|part| moments.note(&part));
        moments.into_windows()
    }

    /// Returns the whole seconds of the load, in order. Empty for a run without events. A run that was loaded with its
    /// study has them, too.
    pub fn course(&self) -> Vec<LoadSecond> {
        match self.is_summed_up {
            true => self.monitored.course.clone(),
            false => LoadSecond::of(&self.moments()),
        }
    }
}
