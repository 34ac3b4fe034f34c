//! Figures that a plan defines itself, in tables with a row per variant, and in JSON.

use evidence::Run;
use judge::OwnFigure;
use judge::results::Spread;
use serde::Serialize;

use crate::study::{StudyView, VariantRow};

/// Column of one figure with its median and range over the runs of each row.
pub(crate) struct OwnColumn {
    pub(crate) figure: OwnFigure,
    /// `None` for rows in which no run has it.
    pub(crate) rows: Vec<Option<Spread>>,
}

/// Figures of the plan of a study, in the order of the plan, for these rows.
pub(crate) fn columns(view: &StudyView<'_>, rows: &[&VariantRow<'_>]) -> Vec<OwnColumn> {
    let mut figures: Vec<OwnFigure> = Vec::new();
    for run in &view.runs {
        for figure in OwnFigure::of_run(run.run) {
            if !figures.contains(&figure) {
                figures.push(figure);
            }
        }
    }
    let spread =
        |figure: &OwnFigure, row: &VariantRow<'_>| figure.spread(row.shown().map(|run| view.runs[run].run));
    let column =
        |figure: OwnFigure| OwnColumn { rows: rows.iter().map(|row| spread(&figure, row)).collect(), figure };
    figures.into_iter().map(column).collect()
}

/// A figure of one run, in JSON.
#[derive(Serialize)]
pub(crate) struct OwnFigureObject {
    name: String,
    /// Unit as the plan has it; empty for a plain number.
    unit: String,
    higher_is_better: bool,
    /// Value in that unit. `null` if it was not read.
    value: Option<f64>,
}

/// Figures of a run that its plan defines. Empty if there are none.
pub(crate) fn objects(run: &Run) -> Vec<OwnFigureObject> {
    let object = |figure: OwnFigure| OwnFigureObject {
        value: figure.read(run).map(|value| value / figure.unit_size()).filter(|value| value.is_finite()),
        name: figure.name,
        unit: figure.unit,
        higher_is_better: figure.higher_is_better,
    };
    OwnFigure::of_run(run).into_iter().map(object).collect()
}
