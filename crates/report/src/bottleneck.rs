//! What probably kept a system from doing more, as reports ask for it.

use judge::bottleneck::{CombinedFigures, Evidence, RunEvidence, bottleneck};
use judge::{Bottleneck, Certainty, Resource};
use store::Model;

use crate::figures::Figures;
use crate::study::{StudyView, VariantRow};
use crate::view::View;

/// The bottleneck of one run; `None` where nothing was answered well, so that there is nothing to explain.
pub(crate) fn of_run(view: &View<'_>) -> Option<Bottleneck> {
    of([view].into_iter(), &view.whole)
}

/// The bottleneck of a row, from the middle of the runs that its figures are of; `None` where nothing was answered well.
pub(crate) fn of_row(study: &StudyView<'_>, row: &VariantRow<'_>) -> Option<Bottleneck> {
    of(row.shown().map(|run| &study.runs[run]), row.figures.as_ref()?)
}

/// What it is, and that it is only likely.
pub(crate) fn likely(found: &Bottleneck) -> String {
    if certainty(found) == "suspected" { format!("likely {}", found.what) } else { found.what.to_owned() }
}

/// `suspected`, `unknown`, or `none`: a load below capacity is no bottleneck that one could suspect.
pub(crate) fn certainty(found: &Bottleneck) -> &'static str {
    if found.resource == Resource::LOAD { "none" } else { found.certainty.name() }
}

/// The bottleneck of one run, if it says something that its answer has not said already.
pub(crate) fn worth_telling(view: &View<'_>) -> Option<Bottleneck> {
    let is_said = |found: &Bottleneck| match found.resource {
        Resource::LOAD => view.run.new.model == Model::Open,
        // What casts doubt on the run stands in its first lines.
        resource => resource == Resource::GENERATOR && !view.validity.causes.is_empty(),
    };
    of_run(view).filter(|found| found.certainty == Certainty::Suspected && !is_said(found))
}

fn of<'a, 'b: 'a>(views: impl Iterator<Item = &'a View<'b>>, figures: &Figures) -> Option<Bottleneck> {
    let of_view = |view: &'a View<'b>| RunEvidence {
        run: view.run,
        measured: &view.measured,
        signals: view.signals.as_ref(),
    };
    let mut errors = std::collections::BTreeMap::new();
    for error in &figures.errors {
        let sum: &mut u64 = errors.entry(error.class.clone()).or_default();
        *sum = sum.saturating_add(error.count);
    }
    let together = CombinedFigures {
        unit: figures.unit,
        counts: figures.counts,
        samples: figures.samples(),
        statuses: figures.statuses.clone(),
        errors,
        rejected_ns: figures.service.rejected.mean_ns,
        ok_ns: figures.service.ok.mean_ns,
    };
    bottleneck(&Evidence { runs: views.map(of_view).collect(), together })
}
