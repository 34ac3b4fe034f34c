//! Messages of a capacity search between two rounds.

use evidence::{EvidenceError, Run, StudyPlace};
use judge::Setting;
use plan::units::show_rate;
use stats::{LevelRunResult, Search};

use super::Capacity;

impl Capacity<'_> {
    /// Returns messages about the last run of a variant and the state of its search.
    pub(super) fn news(&self, run: &Run, search: &Search) -> Result<Vec<String>, EvidenceError> {
        let Some((_, place)) = &run.new.place else { return Ok(Vec::new()) };
        let Some(level) = judge::level(place) else { return Ok(Vec::new()) };
        let level_result = self.level_result(run, &level)?;
        let whose =
            if self.plan.variants.len() > 1 { Setting::of(place).name() + ", " } else { String::new() };
        let is = match level_result.judged {
            LevelRunResult::Sized { per_s, mean_response_s } => {
                let (per_s, ms) = (show_rate(per_s.round()), mean_response_s * 1e3);
                format!("got {per_s}, each after {ms:.1} ms on average")
            }
            LevelRunResult::Passed if level_result.is_late => "passed, suspect (late)".to_owned(),
            LevelRunResult::Passed => "passed".to_owned(),
            LevelRunResult::Failed => {
                let words: Vec<&str> =
                    level_result.failed.iter().map(|failed| failed.words.as_str()).collect();
                format!("failed: {}", words.join("; "))
            }
            LevelRunResult::Invalid => format!("says nothing: {}", failure_reason(run, &level_result.failed)),
        };
        let mut news = vec![format!("{whose}{}: {is}", level_words(place).unwrap_or_default())];
        // Repeated only when the bounds have changed.
        if let Some(bounds) = bounds_so_far(search)
            && self.reported_bounds.borrow_mut().insert(Setting::of(place), bounds.clone()).as_ref()
                != Some(&bounds)
        {
            news.push(format!("{whose}{bounds}"));
        }
        Ok(news)
    }
}

/// Describes the level of a place: `16 users`, `412/s`. `None` if the place is not part of a capacity search.
pub fn level_words(place: &StudyPlace) -> Option<String> {
    match (place.users, place.rate_per_s) {
        (Some(1), _) => Some("1 user".to_owned()),
        (Some(users), _) => Some(format!("{users} users")),
        (None, per_s) => per_s.map(show_rate),
    }
}

fn failure_reason(run: &Run, failed: &[judge::slo::FailedCondition]) -> String {
    let ending = run.ending.as_ref();
    let failure = ending.and_then(|ending| ending.failure.as_ref()).map(|failure| failure.what.clone());
    let cause = || ending?.validity.causes.first().map(|cause| cause.sentence.clone());
    let condition = || failed.first().map(|failed| failed.words.clone());
    failure.or_else(condition).or_else(cause).unwrap_or_else(|| "it did not come to its end".to_owned())
}

/// Describes the current bounds of the capacity. `None` without bounds.
fn bounds_so_far(search: &Search) -> Option<String> {
    let found = search.finding();
    match (found.held_per_s, found.failed_per_s) {
        (Some(held), Some(failed)) => Some(format!(
            "so far it lies between {} and {}, {:.1} % apart",
            show_rate(held),
            show_rate(failed),
            (failed / held - 1.0) * 100.0
        )),
        (Some(held), None) => Some(format!("so far {} held, and nothing failed", show_rate(held))),
        (None, Some(failed)) => Some(format!("so far {} failed, and nothing held", show_rate(failed))),
        (None, None) => None,
    }
}
