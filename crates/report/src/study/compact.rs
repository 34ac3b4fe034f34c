//! The table of a load for a page with little room: what decides, and what it cost.

use record::Percentile;
use stats::Spread;

use super::answer::winner;
use super::tables;
use super::{LoadView, Row, StudyView, name};
use crate::durations::{self, Room};
use crate::figures::Figures;
use crate::item::Escape;
use crate::system::whole;
use crate::table::{Cell, Table};
use crate::text::harmless;
use crate::times;
use crate::units::{decimal, mebibytes, percent_of, rate};

/// Characters of the name of a row.
const NAME_CHARACTERS_MAX: usize = 48;

/// A row per variant, in at most nine columns.
pub(super) fn table(view: &StudyView<'_>, load: &LoadView<'_>, escape: Escape) -> Table {
    let rows = || load.rows.iter();
    let names = (0..load.rows.len()).map(|row| {
        let star = if winner(load) == Some(row) { "★ " } else { "" };
        format!("{star}{}", escape(&harmless(&name(load.rows[row].place), NAME_CHARACTERS_MAX)))
    });
    let mut table = Table::of_names("", names);
    table.column("errors", "", rows().map(|row| Cell::figure(row.error_share(), percent_of)));
    match view.metric.filter(|metric| metric.name != "throughput") {
        Some(metric) => {
            spread(&mut table, metric.name, rows().map(|row| row.metric), metric.kind.writer());
            let middle = |row: &Row<'_>| row.throughput.map(|spread| spread.median);
            table.column("ok/s", "", rows().map(|row| Cell::figure(middle(row), rate)));
        }
        None => spread(&mut table, "ok/s", rows().map(|row| row.throughput), rate),
    }
    let response: Vec<_> =
        rows().filter_map(|row| row.figures.as_ref()).map(|figures| &figures.response.all).collect();
    let unit = times::unit(&response);
    let mut percentile = |percentile: Percentile| {
        let ns = |figures: &Figures| figures.response.all.at(percentile);
        let cells = rows().map(|row| Cell::figure(row.figures.as_ref().and_then(ns), |ns| unit.write(ns)));
        table.column(&durations::head(percentile), unit.name, cells);
    };
    Room::Compact.columns().for_each(&mut percentile);
    if rows().any(|row| row.middle.system_us_per_request.is_some()) {
        let us = |row: &Row<'_>| Cell::figure(row.middle.system_us_per_request, |us| decimal(us, 1));
        table.column("CPU", view.noun().us_per_one, rows().map(us));
    }
    if rows().any(|row| row.middle.rss_peak_bytes.is_some()) {
        let memory = |row: &Row<'_>| Cell::figure(row.middle.rss_peak_bytes, |bytes| mebibytes(whole(bytes)));
        table.column("memory", "MiB", rows().map(memory));
    }
    let notes: Vec<String> = (0..load.rows.len()).map(|row| tables::note(load, row, escape)).collect();
    if notes.iter().any(|note| !note.is_empty()) {
        table.words("note", notes);
    }
    table
}

/// The middle of all runs, and from where to where they go where there are several.
fn spread(
    table: &mut Table,
    head: &str,
    spreads: impl Iterator<Item = Option<Spread>>,
    write: fn(f64) -> String,
) {
    let spreads: Vec<Option<Spread>> = spreads.collect();
    let middle = |spread: &Option<Spread>| Cell::figure(spread.map(|spread| spread.median), write);
    table.column(head, "", spreads.iter().map(middle));
    if spreads.iter().flatten().any(|spread| spread.count > 1) {
        let range = |spread: &Option<Spread>| match spread {
            Some(spread) => format!("{}–{}", write(spread.min), write(spread.max)),
            None => "–".to_owned(),
        };
        table.column("by run", "", spreads.iter().map(range));
    }
}
