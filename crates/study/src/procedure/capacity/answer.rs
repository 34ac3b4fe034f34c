//! Whether a search has found anything, for each variant. What it found is for reports to say.

use plan::Study as Plan;
use stats::Judged;
use store::{Store, StoreError, Study};

use super::Capacity;
use crate::run_maker::StoredStudy;

/// What a search came to, for one variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapacityAnswer {
    /// Some rate held, or failed.
    Found,
    /// There were answers, but no run of a rate could be believed.
    Unbelievable,
    /// Nothing was ever answered.
    CouldNotRun,
}

/// What a search came to by now, for each variant; nothing if the study is none.
pub fn capacity_answers(plan: &Plan, kept: &Study, store: &Store) -> Result<Vec<CapacityAnswer>, StoreError> {
    let journal = StoredStudy { store, id: &kept.id };
    let Some(capacity) = Capacity::of(plan, &journal, kept) else { return Ok(Vec::new()) };
    let answer = |(_, setting)| {
        let found = capacity.search(kept, &setting)?.finding();
        let is_found = found.held_per_s.is_some() || found.failed_per_s.is_some();
        let mut was_answered = false;
        for run in &kept.runs {
            let level = run.new.place.as_ref().filter(|(_, place)| setting.is_of(place));
            if let Some(level) = level.and_then(|(_, place)| judge::level(place)) {
                was_answered |= match capacity.said(run, &level)?.judged {
                    Judged::Sized { per_s, .. } => per_s > 0.0,
                    _ => run.ending.as_ref().is_some_and(|ending| ending.failure.is_none()),
                };
            }
        }
        Ok(match (is_found, was_answered) {
            (true, _) => CapacityAnswer::Found,
            (false, true) => CapacityAnswer::Unbelievable,
            (false, false) => CapacityAnswer::CouldNotRun,
        })
    };
    capacity.settings().map(answer).collect()
}
