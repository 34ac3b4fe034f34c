//! Determines how a study ends from the contents of its report.

use evidence::{Ending, Procedure, StudyState, Verdict};
use judge::results::Verdict as PairVerdict;
use judge::{CommandEnding, Eligibility, Gates};

use crate::capacity::CapacityRow;
use crate::study::{BaselineAnswer, StudyView, VariantRow};

/// Command ending of a study. `None` if the study has not ended.
pub(crate) fn of_study(view: &StudyView<'_>) -> Option<CommandEnding> {
    let (study, ended) = (view.study, view.study.ending.as_ref()?);
    Some(if study.state != StudyState::Complete && ended.why.is_none() {
        CommandEnding::Interrupted
    } else if study.runs.iter().any(|run| run.ending.as_ref().is_some_and(Ending::is_inconsistent)) {
        CommandEnding::Inconsistent
    } else if let Procedure::Capacity(_) = study.new.compare.procedure {
        of_searches(view)
    } else if study.new.compare.looks_for_failures() {
        of_gates(view).unwrap_or_else(|| of_figures(view))
    } else {
        of_gates(view).unwrap_or_else(|| of_comparison(view))
    })
}

/// Ending according to the gates. `None` if all gates were judged, and none was breached.
fn of_gates(view: &StudyView<'_>) -> Option<CommandEnding> {
    let gates = Gates::of(view.study);
    let is_any_valid = gates.judged > 0 || has_valid_run(view);
    // If no run is valid, an undecided baseline condition is not a breach.
    let allows_undecided = view.study.new.is_quick || !is_any_valid;
    let is_breached =
        gates.is_breached || view.of_baseline.iter().any(|gate| gate.is_breached(allows_undecided));
    match gates.unjudged.is_empty() {
        _ if is_breached => Some(CommandEnding::Breached),
        false if gates.judged > 0 => Some(CommandEnding::Breached),
        false if has_run(view, Eligibility::Invalid) || has_verdict_of_run(view, Verdict::Invalid) => {
            Some(CommandEnding::Invalid)
        }
        _ => None,
    }
}

/// Ending of a comparison: invalid runs prevented a verdict, a system failed, or a system was unavailable for too long.
fn of_comparison(view: &StudyView<'_>) -> CommandEnding {
    let rows = || view.loads.iter().flat_map(|load| &load.rows);
    let has_only = |row: &VariantRow<'_>, expected: Eligibility| {
        !row.runs.is_empty() && row.count(expected) == row.runs.len()
    };
    let is_prevented = judge::is_prevented_by_invalid_runs(view.study)
        || rows().any(|row| row.count(Eligibility::Valid) == 0 && row.count(Eligibility::Invalid) > 0);
    if is_prevented && !has_verdict(view) {
        CommandEnding::Invalid
    } else if rows().any(|row| has_only(row, Eligibility::Failed)) {
        CommandEnding::SystemFailed
    } else if has_verdict_of_run(view, Verdict::Degraded) {
        CommandEnding::Degraded
    } else if has_verdict(view) {
        ok_or_undecided(view)
    } else {
        of_figures(view)
    }
}

/// Ending of a study without gates or comparison: whether any run has usable figures.
fn of_figures(view: &StudyView<'_>) -> CommandEnding {
    if has_verdict_of_run(view, Verdict::Complete) || has_verdict_of_run(view, Verdict::Degraded) {
        ok_or_undecided(view)
    } else if has_verdict_of_run(view, Verdict::Invalid) {
        CommandEnding::Invalid
    } else {
        CommandEnding::SystemFailed
    }
}

fn ok_or_undecided(view: &StudyView<'_>) -> CommandEnding {
    let is_open = view.of_baseline.iter().any(|gate| match &gate.answer {
        BaselineAnswer::NotJudged(_) => true,
        BaselineAnswer::Judged(judged) => judged.ending() == CommandEnding::Undecided,
    });
    if is_open { CommandEnding::Undecided } else { CommandEnding::Ok }
}

/// Ending of a capacity search: the best result of any variant, because a search overloads systems on purpose.
fn of_searches(view: &StudyView<'_>) -> CommandEnding {
    let endings = || view.capacity.iter().flat_map(|found| &found.rows).map(of_search);
    let has = |expected: CommandEnding| endings().any(|ending| ending == expected);
    let by_rank = [CommandEnding::Ok, CommandEnding::NothingHolds, CommandEnding::Invalid];
    by_rank.into_iter().find(|ending| has(*ending)).unwrap_or(CommandEnding::SystemFailed)
}

/// Ending of the search of one variant.
pub(crate) fn of_search(row: &CapacityRow) -> CommandEnding {
    of_rates(row.found.held_per_s, row.found.failed_per_s, row.levels.was_answered)
}

/// Ending by the highest passing and the lowest failing rate. `was_answered`: whether the system answered at all.
fn of_rates(held_per_s: Option<f64>, failed_per_s: Option<f64>, was_answered: bool) -> CommandEnding {
    match (held_per_s, failed_per_s) {
        (Some(_), _) => CommandEnding::Ok,
        (None, Some(_)) => CommandEnding::NothingHolds,
        (None, None) if was_answered => CommandEnding::Invalid,
        (None, None) => CommandEnding::SystemFailed,
    }
}

/// Whether a comparison found a difference or equivalence.
fn has_verdict(view: &StudyView<'_>) -> bool {
    let mut pairs = view.loads.iter().flat_map(|load| &load.pairs);
    pairs.any(|pair| matches!(pair.comparison.verdict, PairVerdict::Differs { .. } | PairVerdict::Equivalent))
}

fn has_valid_run(view: &StudyView<'_>) -> bool {
    let counting = view.study.runs.iter().filter(|run| judge::diagnosis::counts_in_study(run));
    { counting }.any(|run| judge::eligibility(run) == Eligibility::Valid)
}

fn has_run(view: &StudyView<'_>, expected: Eligibility) -> bool {
    view.loads.iter().flat_map(|load| &load.rows).any(|row| row.count(expected) > 0)
}

/// Whether a run that counts in the study has the verdict `expected`.
fn has_verdict_of_run(view: &StudyView<'_>, expected: Verdict) -> bool {
    let counting = view.study.runs.iter().filter(|run| judge::diagnosis::counts_in_study(run));
    counting.filter_map(|run| run.ending.as_ref()).any(|ending| ending.verdict == expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_ending_follows_from_rates() {
        assert_eq!(of_rates(Some(90.0), Some(100.0), true), CommandEnding::Ok);
        assert_eq!(of_rates(Some(90.0), None, true), CommandEnding::Ok);
        assert_eq!(of_rates(None, Some(100.0), true), CommandEnding::NothingHolds);
        assert_eq!(
            of_rates(None, None, true),
            CommandEnding::Invalid,
            "it answered, and no run can be believed"
        );
        assert_eq!(of_rates(None, None, false), CommandEnding::SystemFailed);
    }
}
