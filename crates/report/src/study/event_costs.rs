//! What events cost, by variant and event, over all blocks.

use super::tables::names;
use super::{LoadView, StudyView, VariantRow};
use crate::event_costs::{Pooled, pooled, with_interval};
use crate::item::Escape;
use crate::table::{Cell, Table};
use crate::text::harmless;
use crate::units::{decimal, duration};
use crate::view::View;
use stats::Repeated;

const NAME_CHARACTERS_MAX: usize = 24;

/// The events of a row, over its runs that count.
pub(crate) fn of_row<'a>(view: &StudyView<'a>, row: &VariantRow<'_>) -> Vec<Pooled<'a>> {
    let views: Vec<&View<'a>> = row.shown().map(|run| &view.runs[run]).collect();
    pooled(&views)
}

/// A row per variant and event; `None` if there was no event.
pub(crate) fn table(view: &StudyView<'_>, load: &LoadView<'_>, escape: Escape) -> Option<Table> {
    let each: Vec<(&VariantRow<'_>, Pooled<'_>)> =
        load.rows.iter().flat_map(|row| of_row(view, row).into_iter().map(move |of| (row, of))).collect();
    if each.is_empty() {
        return None;
    }
    let rows: Vec<&VariantRow<'_>> = each.iter().map(|(row, _)| *row).collect();
    let mut table = names("events", &load.rows, &rows, escape, |_| false);
    table.name("event", each.iter().map(|(_, of)| escape(&harmless(of.name, NAME_CHARACTERS_MAX))));
    let runs = |of: &Pooled<'_>| Cell {
        text: format!("{}/{}", of.runs[0], of.runs[1]),
        value: Some(of.runs[0] as f64),
    };
    table.column("runs", "known", each.iter().map(|(_, of)| runs(of)));
    let middle = |figure: Option<Repeated>, write: &dyn Fn(f64) -> String| {
        Cell::figure(figure.map(|figure| figure.middle), write)
    };
    let seconds = |s: f64| format!("{} s", decimal(s, 1));
    table.column("at", "", each.iter().map(|(_, of)| middle(of.at_s, &seconds)));
    table.column("took", "", each.iter().map(|(_, of)| middle(of.took_ns, &duration)));
    let requests = |lost: f64| decimal(lost, if lost.fract() == 0.0 { 0 } else { 1 });
    table.column("lost", "", each.iter().map(|(_, of)| with_interval(of.lost, requests)));
    let is_stale = |of: &Pooled<'_>| of.stale_reuse.is_some_and(|stale| stale.middle > 0.0);
    if each.iter().any(|(_, of)| is_stale(of)) {
        table.column("stale", "reuse", each.iter().map(|(_, of)| with_interval(of.stale_reuse, requests)));
    }
    table.column("outage", "", each.iter().map(|(_, of)| with_interval(of.outage_ns, duration)));
    table.column(
        "worst",
        "response",
        each.iter().map(|(_, of)| with_interval(of.worst_response_ns, duration)),
    );
    let recovery = |of: &Pooled<'_>| {
        let cell = with_interval(of.recovery_ns, duration);
        match of.not_recovered {
            0 => cell,
            runs => Cell { text: format!("{}; not in {runs} runs", cell.text), ..cell },
        }
    };
    table.column("recovery", "", each.iter().map(|(_, of)| recovery(of)));
    Some(table)
}
