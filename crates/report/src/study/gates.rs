//! Results of the gates of a study over all runs.

use evidence::{Decision, GateResult};
use judge::{Eligibility, Setting};

use super::{LoadView, StudyPieces, StudyView, of_baseline, runs};
use crate::breaches;

/// Start of a sentence about gates, none of which was judged.
const NOT_JUDGED: &str = "Gate not judged";

/// Gate in one row. Texts are not escaped.
pub(crate) struct Gate<'a> {
    pub(crate) text: &'a str,
    pub(crate) step: Option<&'a str>,
    pub(crate) row: usize,
    /// Number of runs in which the gate was judged.
    pub(crate) runs: usize,
    /// Number of runs in which the gate held.
    pub(crate) held: usize,
    /// Number of runs in which the gate is undecided.
    pub(crate) undecided: usize,
    /// Result that is farthest beyond the limit. Without a failed one, it is an undecided one, or the nearest to the limit.
    pub(crate) worst: &'a GateResult,
}

/// Rows of a load for which a gate has no run with a valid figure, so that it could not be judged.
pub(crate) fn unjudged(view: &StudyView<'_>, load: &LoadView<'_>) -> Vec<usize> {
    let unjudged = judge::Gates::of(view.study).unjudged;
    let is_unjudged = |row: &usize| {
        let setting = Setting::of(load.rows[*row].place);
        unjudged.iter().any(|(of, unjudged)| of == load.name && *unjudged == setting)
    };
    (0..load.rows.len()).filter(is_unjudged).collect()
}

/// Returns every gate in every row of a load, over the runs with a valid figure, in the order of the plan.
pub(crate) fn of_load<'a>(view: &'a StudyView<'_>, load: &LoadView<'_>) -> Vec<Gate<'a>> {
    let mut gates: Vec<Gate<'a>> = Vec::new();
    for (row, of_row) in load.rows.iter().enumerate() {
        // Runs of every kind count: a pilot can breach a gate, too.
        let runs = of_row.runs.iter().chain(&of_row.others).map(|(run, _)| view.runs[*run].run);
        for (run, ending) in runs.filter_map(|run| Some((run, run.ending.as_ref()?))) {
            for result in run.gates().iter().filter(|gate| judge::is_judged(ending, gate)) {
                let is_same = |gate: &&mut Gate<'_>| {
                    gate.row == row && gate.text == result.text && gate.step == result.step.as_deref()
                };
                match gates.iter_mut().find(is_same) {
                    Some(gate) => gate.add(result),
                    None => gates.push(Gate {
                        text: &result.text,
                        step: result.step.as_deref(),
                        row,
                        runs: 1,
                        held: usize::from(result.holds()),
                        undecided: usize::from(is_undecided(result)),
                        worst: result,
                    }),
                }
            }
        }
    }
    let place = |gate: &Gate<'_>| {
        let texts = &view.study.new.gates;
        texts.iter().position(|text| text == gate.text).unwrap_or(texts.len())
    };
    gates.sort_by_key(|gate| (place(gate), gate.row));
    gates
}

/// Sentence about the failed gates under a load, with sizes and numbers of samples, escaped. `None` if all held.
pub(crate) fn failed(page: &StudyPieces<'_>, view: &StudyView<'_>, load: &LoadView<'_>) -> Option<String> {
    // An undecided gate of a quick run is not breached.
    let allowed_undecided = |gate: &Gate<'_>| if view.study.new.is_quick { gate.undecided } else { 0 };
    let is_failed = |gate: &Gate<'_>| gate.held + allowed_undecided(gate) < gate.runs;
    let of_gate = |gate: Gate<'_>| {
        let row = &load.rows[gate.row];
        let figures = match gate.step {
            Some(name) => row.steps.iter().find(|step| step.name == name).map(|step| &step.figures),
            None => row.figures.as_ref(),
        };
        let samples = figures
            .map_or_else(String::new, |figures| format!(", {}", view.noun().counted(figures.samples())));
        let (text, row) = (page.text(gate.text), page.row(load, gate.row));
        let of = format!("in {} of {}{samples}", gate.runs - gate.held, judged_count(view, gate.runs));
        match is_undecided(gate.worst) {
            true => {
                let why = page.text(&breaches::why_undecided(gate.worst, None));
                format!("{text}: {row}: undecided {of}: {why}")
            }
            false => format!("{text}: {row}: {}, {of}", page.text(&breaches::value_and_limit(gate.worst))),
        }
    };
    let not_passed: Vec<Gate<'_>> = of_load(view, load).into_iter().filter(is_failed).collect();
    let is_any_failed = not_passed.iter().any(|gate| !is_undecided(gate.worst));
    let mut told: Vec<String> = not_passed.into_iter().map(of_gate).collect();
    let are_undecided = !told.is_empty() && !is_any_failed;
    let of_runs = told.len();
    told.extend(of_baseline::failed(page, view, load));
    let unjudged = unjudged(view, load);
    let others = (0..load.rows.len()).filter(|row| !unjudged.contains(row));
    let failed: usize = others.map(|row| load.rows[row].count(Eligibility::Failed)).sum();
    if failed > 0 && !view.study.new.gates.is_empty() {
        told.push(format!("{} failed", runs(failed)));
    }
    let are_undecided = are_undecided && told.len() == of_runs;
    let has_failed = !told.is_empty();
    told.extend(unjudged.iter().map(|row| format!("{}: {}", page.row(load, *row), why_unjudged(load, *row))));
    let beginning = match has_failed {
        true if are_undecided => breaches::UNDECIDED,
        true => breaches::FAILED,
        false => NOT_JUDGED,
    };
    breaches::sentence(told, beginning)
}

/// Number of runs in which a gate was judged, or of starts, each with several slices: `8 runs`, `8 starts`.
pub(crate) fn judged_count(view: &StudyView<'_>, number: usize) -> String {
    match (view.is_in_slices(), number) {
        (false, _) => runs(number),
        (true, 1) => "1 start".to_owned(),
        (true, _) => format!("{number} starts"),
    }
}

/// Reason why a gate of a row was not judged.
pub(crate) fn why_unjudged(load: &LoadView<'_>, row: usize) -> &'static str {
    match load.rows[row].count(Eligibility::Valid) {
        0 => "no valid run",
        _ => "no run in which its figure is valid",
    }
}

impl<'a> Gate<'a> {
    fn add(&mut self, result: &'a GateResult) {
        self.runs += 1;
        self.held += usize::from(result.holds());
        self.undecided += usize::from(is_undecided(result));
        if severity(result) > severity(self.worst) {
            self.worst = result;
        }
    }
}

fn is_undecided(result: &GateResult) -> bool {
    result.decision == Decision::Undecided
}

/// Rank of a result, and its distance from the limit: failed before undecided before held; of failed ones the farthest beyond the limit,
/// of others the nearest to it.
fn severity(result: &GateResult) -> (u8, f64) {
    let away = result.observed.map_or(0.0, |observed| (observed - result.limit).abs());
    match result.decision {
        Decision::Fails => (2, away),
        Decision::Undecided => (1, -away),
        Decision::Holds => (0, -away),
    }
}
