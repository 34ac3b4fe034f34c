//! How a study ends: which row of the list of endings applies to what its report says.

use judge::{CommandEnding, ComparedBy, Eligibility, Gates};
use store::{Procedure, Verdict};

use crate::study::StudyView;

/// A study ends with what it found, unless a gate was breached, invalid runs prevented its verdict, a system was gone, or no figure
/// may be used. A study of failures asks for them: what systems do then is its result.
pub(crate) fn of_study(view: &StudyView<'_>) -> CommandEnding {
    let study = view.study;
    if let Procedure::Capacity(_) = study.new.compare.procedure {
        return of_capacity(view);
    }
    let has_any = |verdict: Verdict| {
        let counting = study.runs.iter().filter(|run| judge::diagnosis::counts_in_study(run));
        counting.filter_map(|run| run.ending.as_ref()).any(|ending| ending.verdict == verdict)
    };
    if is_breached(view) {
        CommandEnding::Breached
    } else if judge::is_prevented_by_invalid_runs(study) {
        CommandEnding::Invalid
    } else if has_any(Verdict::Degraded) && !study.new.compare.asks_for_failures() {
        CommandEnding::Degraded
    } else if has_any(Verdict::Complete) || has_any(Verdict::Degraded) || counts_any(view) {
        CommandEnding::Ok
    } else if has_any(Verdict::Invalid) {
        CommandEnding::Invalid
    } else {
        CommandEnding::SystemFailed
    }
}

/// A search overloads systems on purpose: it ends with what it found, unless nothing can be believed, or nothing was answered.
fn of_capacity(view: &StudyView<'_>) -> CommandEnding {
    let rows = || view.capacity.iter().flat_map(|found| &found.rows);
    if rows().any(|row| row.found.held_per_s.is_some() || row.found.failed_per_s.is_some()) {
        CommandEnding::Ok
    } else if rows().any(|row| row.levels.was_answered) {
        CommandEnding::Invalid
    } else {
        CommandEnding::SystemFailed
    }
}

/// Whether any run counts by the figure that the study compares, though others of its figures may be invalid.
fn counts_any(view: &StudyView<'_>) -> bool {
    let by = ComparedBy::named(&view.study.new.compare.by);
    let figure = by.as_ref().and_then(ComparedBy::distorted);
    view.study.runs.iter().any(|run| judge::eligibility_by(run, figure) == Eligibility::Valid)
}

/// A gate must hold for every run that may be believed, and for every setting: one without such a run holds none. Where no
/// run at all may be believed, that is the answer.
fn is_breached(view: &StudyView<'_>) -> bool {
    let (study, gates) = (view.study, Gates::of(view.study));
    let counting = study.runs.iter().filter(|run| judge::diagnosis::counts_in_study(run));
    let is_any_valid = { counting }.any(|run| judge::eligibility(run) == Eligibility::Valid);
    if gates.is_breached || !is_any_valid {
        return gates.is_breached;
    }
    !gates.held() || view.of_baseline.iter().any(|gate| gate.is_breached(study.new.is_quick))
}
