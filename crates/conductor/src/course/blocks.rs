//! So many blocks, each with one run of every variant under every load, whatever they show.

use plan::Study as Plan;
use store::Study;

use super::{Course, Turn, Why};
use crate::one_run::RunError;
use crate::schedule::schedule;

/// All of it is planned when the study begins.
pub(crate) struct Blocks<'a> {
    pub(crate) plan: &'a Plan,
}

impl Course for Blocks<'_> {
    fn next(&self, kept: &Study) -> Result<Turn, RunError> {
        let news = Vec::new();
        if kept.new.planned.is_empty() {
            return Ok(Turn::Runs { places: schedule(self.plan), news });
        }
        Ok(Turn::Over { why: Why::Blocks, news })
    }

    fn later_at_most(&self, _kept: &Study) -> Option<usize> {
        Some(0)
    }

    fn needs_every_run(&self) -> bool {
        false
    }
}
