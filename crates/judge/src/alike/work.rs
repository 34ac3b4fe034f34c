//! Work of a system: what its runs answered, step by step.

use std::collections::BTreeMap;

use evidence::{EvidenceError, Run, StepContents, Unit};
use record::Phase;

use super::distribution::Distribution;

/// Work of a system under one load, over all of its runs.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Steps in the order of the plan.
    pub(super) steps: Vec<StepWork>,
}

/// Work of a system in one step.
#[derive(Clone, Debug, Default)]
pub struct StepWork {
    /// Name of the step.
    pub(super) name: String,
    /// Replies by status. Empty for transactions.
    pub(super) statuses: BTreeMap<u16, u64>,
    /// Number of replies whose content is known.
    pub(super) replies: u64,
    pub(super) sizes: Distribution,
    pub(super) decoded: Distribution,
    pub(super) rows: Distribution,
    pub(super) codings: BTreeMap<String, u64>,
    pub(super) cache_hits: u64,
}

impl Work {
    /// Sums up the work of runs with equally numbered steps. Skips runs by other load generators, which report neither
    /// statuses nor contents.
    pub fn of<'a>(runs: impl Iterator<Item = &'a Run>) -> Result<Self, EvidenceError> {
        let mut work = Self::default();
        for run in runs {
            if run.ending.as_ref().is_some_and(|ending| ending.generator.tool.is_none()) {
                work.add(run);
            }
        }
        Ok(work)
    }

    fn add(&mut self, run: &Run) {
        let steps = &run.new.steps;
        self.steps.resize_with(self.steps.len().max(steps.len()), StepWork::default);
        for ((number, step), name) in (0..).zip(&mut self.steps).zip(steps) {
            step.name.clone_from(name);
            if run.new.units.get(usize::from(number)) != Some(&Unit::Transactions) {
                for (status, count) in run.statuses(number, Phase::Measured) {
                    let sum = step.statuses.entry(status).or_default();
                    *sum = sum.saturating_add(count);
                }
            }
        }
        for contents in run.ending.iter().flat_map(|ending| &ending.contents) {
            if let Some(step) = self.steps.get_mut(usize::from(contents.step)) {
                step.add(contents);
            }
        }
    }

    /// Merges all steps.
    pub(super) fn whole(&self) -> StepWork {
        let mut whole = StepWork::default();
        self.steps.iter().for_each(|step| whole.merge(step));
        whole
    }
}

impl StepWork {
    pub(super) fn add(&mut self, contents: &StepContents) {
        self.replies = self.replies.saturating_add(contents.replies);
        self.sizes.add(&contents.sizes);
        self.decoded.add(&contents.decoded);
        self.rows.add(&contents.rows);
        for (name, count) in &contents.codings {
            let sum = self.codings.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
        self.cache_hits = self.cache_hits.saturating_add(contents.cache_hits);
    }

    fn merge(&mut self, more: &Self) {
        for (status, count) in &more.statuses {
            let sum = self.statuses.entry(*status).or_default();
            *sum = sum.saturating_add(*count);
        }
        for (name, count) in &more.codings {
            let sum = self.codings.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
        self.replies = self.replies.saturating_add(more.replies);
        self.sizes.merge(&more.sizes);
        self.decoded.merge(&more.decoded);
        self.rows.merge(&more.rows);
        self.cache_hits = self.cache_hits.saturating_add(more.cache_hits);
    }
}
