//! The course of a load in windows of 100 ms.

use record::{CourseSecond, Moment, Moments};

use crate::run::Run;

impl Run {
    /// The course of the load in windows of 100 ms, in order; empty of a run without events, and of one that came with its study.
    pub fn moments(&self) -> Vec<Moment> {
        let mut moments = Moments::default();
        // They unpacked when they were read.
        let parts = self.monitored.moments.iter().flat_map(|packed| Moment::decode_all(packed)).flatten();
        parts.for_each(|part| moments.note(&part));
        moments.into_windows()
    }

    /// The course of the load in whole seconds, in order; empty of a run without events. One that came with its study has it, too.
    pub fn course(&self) -> Vec<CourseSecond> {
        match self.is_summed_up {
            true => self.monitored.course.clone(),
            false => CourseSecond::of(&self.moments()),
        }
    }
}
