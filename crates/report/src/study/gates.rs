//! What became of the gates over all runs.

use store::GateResult;
use verdict::{Setting, Standing};

use super::{LoadView, StudyView};

/// One gate in one row. Texts may hold anything: escape them.
pub(super) struct Gate<'a> {
    pub(super) text: &'a str,
    pub(super) step: Option<&'a str>,
    pub(super) row: usize,
    /// How many runs were held against it.
    pub(super) runs: usize,
    /// How many of them held.
    pub(super) held: usize,
    /// How many of them had too few samples to tell.
    pub(super) untold: usize,
    /// The one that is farthest on the wrong side, or nearest to it.
    pub(super) worst: &'a GateResult,
}

/// The rows of a load without a single run that may be believed, where there are gates: nothing held for them.
pub(crate) fn unjudged(view: &StudyView<'_>, load: &LoadView<'_>) -> Vec<usize> {
    let unjudged = verdict::Gates::of(view.study).unjudged;
    let is_unjudged = |row: &usize| {
        let setting = Setting::of(load.rows[*row].place);
        unjudged.iter().any(|(of, unjudged)| of == load.name && *unjudged == setting)
    };
    (0..load.rows.len()).filter(is_unjudged).collect()
}

/// Every gate in every row of a load, over valid runs, in order of the plan.
pub(super) fn of_load<'a>(view: &'a StudyView<'_>, load: &LoadView<'_>) -> Vec<Gate<'a>> {
    let mut gates: Vec<Gate<'a>> = Vec::new();
    for (row, of_row) in load.rows.iter().enumerate() {
        // Of every kind: a pilot that breaches a gate has breached it.
        let runs = of_row.runs.iter().chain(&of_row.others);
        for (run, _) in runs.filter(|(_, standing)| *standing == Standing::Valid) {
            for result in view.runs[*run].run.gates() {
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
                        held: usize::from(result.holds),
                        untold: usize::from(result.observed.is_none()),
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

impl<'a> Gate<'a> {
    fn add(&mut self, result: &'a GateResult) {
        self.runs += 1;
        self.held += usize::from(result.holds);
        self.untold += usize::from(result.observed.is_none());
        if badness(result) > badness(self.worst) {
            self.worst = result;
        }
    }
}

/// How far a result is from its limit, more on the wrong side being more; what could not be told is worst.
///
/// The side is not kept, but a gate that holds is on the good one.
fn badness(result: &GateResult) -> f64 {
    let Some(observed) = result.observed else { return f64::INFINITY };
    let away = (observed - result.limit).abs();
    if result.holds { -away } else { away }
}
