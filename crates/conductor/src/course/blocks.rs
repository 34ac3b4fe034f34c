//! So many blocks, each with one run of every variant under every load, whatever they show.

use plan::Study as Plan;
use store::Study;

use super::{Course, Turn, Why};
use crate::schedule::schedule;

/// All of it is planned when the study begins.
pub(crate) struct Blocks<'a> {
    pub(crate) plan: &'a Plan,
}

impl Course for Blocks<'_> {
    fn next(&self, kept: &Study) -> Turn {
        let news = Vec::new();
        if kept.new.planned.is_empty() {
            return Turn::Runs { places: schedule(self.plan), news };
        }
        Turn::Over { why: Why::Blocks, news }
    }

    fn later_at_most(&self, _kept: &Study) -> Option<usize> {
        Some(0)
    }

    fn needs_every_run(&self) -> bool {
        false
    }
}
