//! Likely bottlenecks of runs and of rows in reports.

use evidence::Model;
use judge::bottleneck::{CombinedFigures, Evidence, RunEvidence, causes};
use judge::words::percent;
use judge::{Bottleneck, Certainty, Resource};

use crate::figures::Figures;
use crate::study::{StudyView, VariantRow, experiment};
use crate::view::View;

/// Causes of the bottleneck of one run, most likely first. Empty if no request ended.
pub(crate) fn of_run(view: &View<'_>) -> Vec<Bottleneck> {
    of([view].into_iter(), &view.whole)
}

/// Causes of the bottleneck of a row, revised by the results of an experiment. They use medians over the runs whose figures the row shows.
/// Empty if no request ended.
pub(crate) fn of_row(study: &StudyView<'_>, row: &VariantRow<'_>) -> Vec<Bottleneck> {
    let Some(figures) = row.figures.as_ref() else { return Vec::new() };
    let found = of(row.shown().map(|run| &study.runs[run]), figures);
    experiment::judged(study.diagnosis.as_ref(), row.place, found)
}

/// Name of a bottleneck, marked as likely or as confirmed.
pub(crate) fn likely(found: &Bottleneck) -> String {
    match certainty(found) {
        "suspected" => format!("likely {}", found.what),
        "confirmed" => format!("confirmed: {}", found.what),
        _ => found.what.to_owned(),
    }
}

/// Certainty of a bottleneck: `confirmed`, `suspected`, `unknown`, or `none`. An offered load below the capacity is `none`.
pub(crate) fn certainty(found: &Bottleneck) -> &'static str {
    match (found.resource, found.certainty) {
        (Resource::LOAD, Certainty::Suspected) => "none",
        (_, certainty) => certainty.name(),
    }
}

/// Bottleneck of one run. `None` if the result of the run implies it already.
pub(crate) fn notable(view: &View<'_>) -> Option<Bottleneck> {
    let is_implied = |found: &Bottleneck| match found.resource {
        Resource::LOAD => view.run.new.model == Model::Open,
        // The first lines of the report already show the doubts about the run.
        resource => resource == Resource::GENERATOR && !view.validity.causes.is_empty(),
    };
    let is_read = view.signals.is_some();
    let found = of_run(view).into_iter().next().filter(|found| !is_implied(found));
    found.filter(|found| found.certainty == Certainty::Suspected || is_read)
}

/// Evidence for a bottleneck, and the next step. May quote names: escape it.
pub(crate) fn evidence_and_advice(found: &Bottleneck) -> String {
    match found.next.is_empty() {
        true => found.because.clone(),
        false => format!("{}; next: {}", found.because, found.next),
    }
}

/// Formats one sentence per cause: its share, its rung of evidence, the evidence for and against it, and the next step. May quote names:
/// escape them.
pub(crate) fn lines(causes: &[Bottleneck]) -> Vec<String> {
    let line = |(place, cause): (usize, &Bottleneck)| {
        let share = cause.share.map(|share| format!(", {} of the response time", percent(share, 0)));
        let sure = match cause.certainty {
            Certainty::Confirmed => "confirmed: ",
            Certainty::Refuted => "refuted: ",
            Certainty::Suspected | Certainty::Unknown => "",
        };
        let share = share.unwrap_or_default();
        let rung = match cause.certainty {
            Certainty::Unknown => String::new(),
            _ => format!(", {}", cause.rung.words()),
        };
        let head = format!("{}. {sure}{} ({}{share}{rung})", place + 1, cause.what, cause.scope);
        let others: Vec<&str> = cause.for_.iter().skip(1).map(String::as_str).collect();
        let parts = [
            Some(format!("{head}: {}", cause.because)),
            (!others.is_empty()).then(|| format!("also: {}", others.join("; "))),
            (!cause.against.is_empty()).then(|| format!("against it: {}", cause.against.join("; "))),
            (!cause.next.is_empty()).then(|| format!("next: {}", cause.next)),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    };
    causes.iter().enumerate().map(line).collect()
}

fn of<'a, 'b: 'a>(views: impl Iterator<Item = &'a View<'b>>, figures: &Figures) -> Vec<Bottleneck> {
    let of_view = |view: &'a View<'b>| RunEvidence {
        run: view.run,
        measured: &view.measured,
        signals: view.signals.as_ref(),
        in_flight: None,
        pools: &view.pools,
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
    causes(&Evidence { runs: views.map(of_view).collect(), together, has_failed: false })
}
