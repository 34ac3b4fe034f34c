//! Validity of the runs of a study, in one sentence.

use evidence::{Distorted, Level, Verdict};
use judge::Eligibility;

use super::{StudyView, runs};
use crate::trust;
use crate::units::count as number;
use crate::view::View;
use crate::words;

/// Validity of all runs together, and the numbers of runs in a sentence.
pub(crate) fn validity(view: &StudyView<'_>) -> (Level, String) {
    let eligibility = |run: &View<'_>| run.eligibility_by(view.metric.as_ref());
    let count = |wanted: Eligibility| view.runs.iter().filter(|run| eligibility(run) == wanted).count();
    let (valid, invalid) = (count(Eligibility::Valid), count(Eligibility::Invalid));
    let (failed, cut_short) = (count(Eligibility::Failed), count(Eligibility::CutShort));
    let is_suspect =
        |run: &&View<'_>| eligibility(run) == Eligibility::Valid && run.validity.verdict != Level::Valid;
    let suspect = view.runs.iter().filter(is_suspect).count();
    let level = match () {
        () if valid == 0 => Level::Invalid,
        () if invalid + failed + cut_short + suspect + view.missing > 0 => Level::Suspect,
        () => Level::Valid,
    };
    let mut sentence = match (view.runs.len(), valid) {
        (0, _) => "No run has been made yet".to_owned(),
        (1, 1) => "The run is valid".to_owned(),
        (all, valid) if all == valid => format!("All {} are valid", runs(all)),
        (all, valid) => format!("{valid} of {} runs are valid", number(all as u64)),
    };
    let kinds = [(invalid, "invalid"), (failed, "failed"), (cut_short, "cut short")];
    let others: Vec<String> =
        kinds.iter().filter(|(runs, _)| *runs > 0).map(|(runs, word)| format!("{runs} {word}")).collect();
    if !others.is_empty() {
        sentence.push_str(&format!("; {}", others.join(", ")));
    }
    if let Some(trust) = trust::line_of_study(view) {
        sentence.push_str(&format!("; {trust}"));
    } else if suspect > 0 {
        let are = if suspect == 1 { "is" } else { "are" };
        let which = doubtful_figures(view, &eligibility);
        sentence.push_str(&format!("; {suspect} of the valid ones {are} suspect{which}"));
    }
    let degraded = view.runs.iter().filter(|run| run.verdict == Verdict::Degraded).count();
    if degraded > 0 {
        let (are, its) = if degraded == 1 { ("is", "its system was") } else { ("are", "their systems were") };
        sentence.push_str(&format!("; {degraded} {are} degraded: {its} unavailable for part of the time"));
    }
    if view.missing > 0 {
        sentence.push_str(&format!("; {} missing", runs(view.missing)));
    }
    (level, format!("{sentence}."))
}

/// Formats the doubtful figures of runs that count: ` in mean and tail`. Empty if all figures are doubtful.
fn doubtful_figures(view: &StudyView<'_>, eligibility: &impl Fn(&View<'_>) -> Eligibility) -> String {
    let counting = || view.runs.iter().filter(|run| eligibility(run) == Eligibility::Valid);
    let is_in_doubt = |figure: &Distorted| counting().any(|run| run.validity.of(*figure) != Level::Valid);
    words::doubtful_figures(&Distorted::ALL.into_iter().filter(is_in_doubt).collect::<Vec<_>>())
}
