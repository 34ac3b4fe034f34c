//! Further measures that charts of a page can show: figures that the plan defines, and physical costs.

use judge::{ComparedBy, OwnFigure, PHYSICAL_COSTS, median_of};

use super::document::{Document, Measure, Row};
use super::figures;
use crate::noun::Noun;
use crate::view::View;

/// Maximum number of further measures.
const MEASURES_MAX: usize = 40;

/// Adds the measures that a run has to the loads, rows, and runs of a document. `views` are its runs.
pub(super) fn add(document: &mut Document, views: &[View<'_>]) {
    let measures = available(views);
    if measures.is_empty() || document.runs.len() != views.len() {
        return;
    }
    let by_run: Vec<Vec<Option<f64>>> = views.iter().map(|view| values(view, &measures)).collect();
    for (run, values) in document.runs.iter_mut().zip(&by_run) {
        if let Some(figures) = &mut run.figures {
            figures.further.clone_from(values);
        }
    }
    let noun = Noun::of_all(views);
    for load in &mut document.loads {
        load.measures = measures.iter().map(|by| measure(by, noun)).collect();
        for row in &mut load.rows {
            let Row { shown, figures, .. } = row;
            if let Some(figures) = figures {
                let median = |at: usize| median_of(shown.iter().filter_map(|run| by_run.get(*run)?[at]));
                figures.further = (0..measures.len()).map(median).collect();
            }
        }
    }
}

/// Measures that at least one run has.
fn available(views: &[View<'_>]) -> Vec<ComparedBy> {
    let mut own: Vec<OwnFigure> = Vec::new();
    for figure in views.iter().flat_map(|view| OwnFigure::of_run(view.run)) {
        if !own.contains(&figure) {
            own.push(figure);
        }
    }
    let own = own.iter().filter_map(|figure| ComparedBy::named(&figure.stored_name()));
    let measures = own.chain(PHYSICAL_COSTS.iter().map(ComparedBy::of_cost));
    let has = |by: &ComparedBy| views.iter().any(|view| view.measured_run().figure(by).is_some());
    measures.filter(has).take(MEASURES_MAX).collect()
}

fn values(view: &View<'_>, measures: &[ComparedBy]) -> Vec<Option<f64>> {
    let value = |by: &ComparedBy| figures::in_unit(by.metric, view.measured_run().figure(by)?);
    measures.iter().map(value).collect()
}

fn measure(by: &ComparedBy, noun: &Noun) -> Measure {
    Measure {
        key: if by.cost.is_some() { by.name() } else { by.label() },
        words: by.words(noun.unit),
        unit: figures::unit(by.metric),
        higher_is_better: by.higher_is_usually_better(),
    }
}
