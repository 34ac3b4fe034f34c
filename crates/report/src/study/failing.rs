//! Result of a study that looks for failures: the failures, their class, the likely cause, and the variants without any. Nothing is
//! compared.

use super::answer::listed;
use super::rows::VariantRow;
use super::{LoadView, StudyPieces, StudyView};
use judge::{Bottleneck, Certainty, Resource};

use crate::bottleneck;
use crate::units::percent_of;

/// Metric of the rows in a study for failures.
pub(super) const SHOWN_METRIC: &str = "throughput";

/// Formats one sentence per system, without its full stop.
pub(super) fn answer(page: &StudyPieces<'_>, view: &StudyView<'_>, load: &LoadView<'_>) -> String {
    let rows = || 0..load.rows.len();
    let mut systems: Vec<&str> = load.rows.iter().map(|row| row.place.system.as_str()).collect();
    systems.dedup();
    let (mut parts, mut whole) = (Vec::new(), Vec::new());
    for system in systems {
        let of_system = || rows().filter(|row| load.rows[*row].place.system == system);
        let (without, rest): (Vec<usize>, Vec<usize>) =
            of_system().partition(|row| load.rows[*row].is_without_failures());
        let failing: Vec<usize> = rest.into_iter().filter(|row| has_failures(&load.rows[*row])).collect();
        let named = |rows: &[usize]| listed(rows.iter().map(|row| page.row(load, *row)));
        match (failing.is_empty(), without.is_empty()) {
            (true, true) => {}
            (true, false) => whole.push(named(&without)),
            (false, is_never_without) => {
                let failures = failing.iter().map(|row| failure_sentence(page, view, load, *row));
                let failures = failures.collect::<Vec<_>>().join("; ");
                let cure = match is_never_without {
                    true => "no variant is without failures".to_owned(),
                    false => format!("without failures: {}", named(&without)),
                };
                parts.push(format!("{failures}; {cure}"));
            }
        }
    }
    if parts.is_empty() && whole.is_empty() {
        return "no verdict".to_owned();
    }
    if parts.is_empty() {
        return format!("nothing failed: {}", whole.join(", "));
    }
    parts.extend((!whole.is_empty()).then(|| format!("nothing failed: {}", whole.join(", "))));
    parts.join("; ")
}

/// Whether a row has failed requests or failed runs.
fn has_failures(row: &VariantRow<'_>) -> bool {
    row.is_valid && !row.is_without_failures()
        || row.runs.iter().any(|(_, eligibility)| *eligibility == judge::Eligibility::Failed)
}

/// Formats a failure: `puma queue=100: 12.3 % of the requests failed (status: HTTP 503), likely cause the system's own queue limit
/// (503)`.
fn failure_sentence(
    page: &StudyPieces<'_>,
    view: &StudyView<'_>,
    load: &LoadView<'_>,
    place: usize,
) -> String {
    let row = &load.rows[place];
    let name = page.row(load, place);
    let Some(figures) = row.figures.as_ref().filter(|_| row.is_valid) else {
        return format!("{name}: no run was completed");
    };
    let share = row.error_share.map_or_else(|| "n/a".to_owned(), percent_of);
    let class = figures.errors.first().map_or_else(String::new, |error| {
        format!(" ({}: {})", page.short(error.class.as_str()), page.text(&error.message))
    });
    // An offered load below capacity causes no failure.
    let is_cause = |limit: &Bottleneck| {
        matches!(limit.certainty, Certainty::Confirmed | Certainty::Suspected)
            && limit.resource != Resource::LOAD
    };
    let limit = bottleneck::of_row(view, row).into_iter().next().filter(is_cause);
    let cause = limit.map_or_else(String::new, |limit| format!(", likely cause {}", page.text(limit.what)));
    format!("{name}: {share} of the {} failed{class}{cause}", view.noun().many)
}
