//! Costs of events by variant and event, over all blocks.

use std::collections::BTreeMap;

use super::tables::names;
use super::{LoadView, StudyView, VariantRow};
use crate::event_causes;
use crate::event_costs::{self, pooled, with_interval};
use crate::item::Escape;
use crate::table::{Cell, Table};
use crate::text::{listed, sanitize, truncate_list};
use crate::units::{decimal, duration};
use crate::view::View;
use judge::EventCauses;
use judge::event_cost::{Difference, Figure, Pooled, RunCost, in_run};
use judge::results::Repeated;

const NAME_CHARACTERS_MAX: usize = 24;
/// Maximum numbers of rows in one line, and of lines about causes.
const NAMES_MAX: usize = 3;
const LINES_MAX: usize = 4;

/// Costs of the events of a row, over its runs that count.
pub(crate) fn of_row<'a>(view: &StudyView<'a>, row: &VariantRow<'_>) -> Vec<Pooled<'a>> {
    let views: Vec<&View<'a>> = row.shown().map(|run| &view.runs[run]).collect();
    pooled(&views)
}

/// Table with a row per variant and event, with intervals or in short form. `None` if there was no event.
pub(crate) fn table(
    view: &StudyView<'_>,
    load: &LoadView<'_>,
    has_intervals: bool,
    escape: Escape,
) -> Option<Table> {
    let each: Vec<(&VariantRow<'_>, Pooled<'_>)> =
        load.rows.iter().flat_map(|row| of_row(view, row).into_iter().map(move |of| (row, of))).collect();
    if each.is_empty() {
        return None;
    }
    let rows: Vec<&VariantRow<'_>> = each.iter().map(|(row, _)| *row).collect();
    let mut table = names("events", &load.rows, &rows, escape, |_| false);
    table.name("event", each.iter().map(|(_, of)| escape(&sanitize(of.name, NAME_CHARACTERS_MAX))));
    let runs = |of: &Pooled<'_>| Cell {
        text: format!("{}/{}", of.runs_known(), of.runs.len()),
        value: Some(of.runs_known() as f64),
    };
    table.column("runs", "known", each.iter().map(|(_, of)| runs(of)));
    let middle = |figure: Option<Repeated>, write: &dyn Fn(f64) -> String| {
        Cell::figure(figure.map(|figure| figure.middle), write)
    };
    let seconds = |s: f64| format!("{} s", decimal(s, 1));
    table.column("at", "", each.iter().map(|(_, of)| middle(of.at_s, &seconds)));
    table.column("took", "", each.iter().map(|(_, of)| middle(of.took_ns, &duration)));
    let is_stale = |of: &Pooled<'_>| of.over(Figure::STALE_REUSE).is_some_and(|stale| stale.middle > 0.0);
    let has_stale = each.iter().any(|(_, of)| is_stale(of));
    let columns = [
        ("lost", "", Figure::Lost),
        ("stale", "reuse", Figure::STALE_REUSE),
        ("outage", "", Figure::Outage),
        ("worst", "response", Figure::Worst),
        ("recovery", "", Figure::Recovery),
    ];
    for (head, below, figure) in columns {
        if figure != Figure::STALE_REUSE || has_stale {
            let cell = |of: &Pooled<'_>| match has_intervals {
                true => event_costs::cell(of, figure),
                false => event_costs::short_cell(of, figure),
            };
            table.column(head, below, each.iter().map(|(_, of)| cell(of)));
        }
    }
    Some(table)
}

/// Causes of one event in one row.
struct RowCauses {
    row: usize,
    /// Name of the event, escaped.
    event: String,
    found: EventCauses,
}

fn causes(view: &StudyView<'_>, load: &LoadView<'_>, escape: Escape) -> Vec<RowCauses> {
    let of_row = |(row, of): (usize, &VariantRow<'_>)| {
        let views: Vec<&View<'_>> = of.shown().map(|run| &view.runs[run]).collect();
        let found = pooled(&views).into_iter().filter_map(|of| {
            let event = escape(&sanitize(of.name, NAME_CHARACTERS_MAX));
            Some(RowCauses { row, event, found: event_causes::pooled(&views, of.name)? })
        });
        found.collect::<Vec<_>>()
    };
    load.rows.iter().enumerate().flat_map(of_row).collect()
}

/// Formats causes without evidence, one line per event and cause: rows with equal causes share a line. `row_name` returns escaped names.
pub(crate) fn lines_of_causes(
    view: &StudyView<'_>,
    load: &LoadView<'_>,
    row_name: &dyn Fn(usize) -> String,
    escape: Escape,
) -> Vec<String> {
    let mut groups: Vec<(String, Vec<RowCauses>)> = Vec::new();
    for of_row in causes(view, load, escape) {
        let what = event_causes::short(&of_row.found);
        let is_same = |(known, rows): &&mut (String, Vec<RowCauses>)| {
            *known == what && rows.iter().all(|row| row.event == of_row.event)
        };
        match groups.iter_mut().find(is_same) {
            Some((_, rows)) => rows.push(of_row),
            None => groups.push((what, vec![of_row])),
        }
    }
    let names = |rows: &[RowCauses]| listed(rows.iter().map(|of| row_name(of.row)), NAMES_MAX, ", ");
    let line = |(what, rows): &(String, Vec<RowCauses>)| match rows.as_slice() {
        [] => None,
        [one] if load.rows.len() == 1 => {
            Some(format!("{}: {}", one.event, escape(&event_causes::words(&one.found))))
        }
        [one] => {
            Some(format!("{} ({}): {}", one.event, names(rows), escape(&event_causes::words(&one.found))))
        }
        [first, ..] => {
            let shares = event_causes::shares(rows.iter().map(|of| &of.found));
            Some(format!("{} ({}): {}{shares}", first.event, names(rows), escape(what)))
        }
    };
    groups.sort_by(|(_, one), (_, other)| one[0].event.cmp(&other[0].event));
    let mut lines: Vec<String> = groups.iter().filter_map(line).collect();
    truncate_list(&mut lines, LINES_MAX, |more| format!("and {more} more"));
    lines
}

/// Causes with all evidence, one line for each event and row.
pub(crate) fn all_causes(
    view: &StudyView<'_>,
    load: &LoadView<'_>,
    row_name: &dyn Fn(usize) -> String,
    escape: Escape,
) -> Vec<String> {
    let line = |of: &RowCauses| {
        format!("{}, {}: {}", row_name(of.row), of.event, escape(&event_causes::words(&of.found)))
    };
    causes(view, load, escape).iter().map(line).collect()
}

/// Differences of all variants from the baseline, by event. Without a baseline, the best variant is the reference, or else the
/// first.
pub(crate) fn differences<'a>(view: &StudyView<'a>, load: &LoadView<'_>) -> Vec<Difference<'a>> {
    let best = || load.best_rows().next().map(|best| best.row);
    let from = load.baseline.or_else(best).unwrap_or(0);
    let by_block = |row: &VariantRow<'_>| -> BTreeMap<u32, BTreeMap<&'a str, Option<RunCost>>> {
        let valid = row.is_valid.then(|| row.shown()).into_iter().flatten();
        valid.filter_map(|run| Some((view.runs[run].place()?.block, in_run(view.runs[run].run)))).collect()
    };
    let Some(other) = load.rows.get(from).map(by_block) else { return Vec::new() };
    let mut differences = Vec::new();
    for (row, _) in load.rows.iter().enumerate().filter(|(row, _)| *row != from) {
        let own = by_block(&load.rows[row]);
        let common = || own.iter().filter_map(|(block, own)| Some((*block, own, other.get(block)?)));
        let names: Vec<&'a str> =
            common().next().map_or_else(Vec::new, |(_, own, _)| own.keys().copied().collect());
        for name in names {
            let cost = |of: &BTreeMap<&str, Option<RunCost>>| of.get(name).copied().flatten();
            let both =
                |(block, own, other): (u32, &_, &_)| (block, cost(own).zip(cost(other)).map(<[_; 2]>::from));
            differences.push(Difference { name, row, from, blocks: common().map(both).collect() });
        }
    }
    differences
}

/// Reference row, and table with a row per variant and event. `None` if there is nothing to compare.
pub(crate) fn table_of_differences(
    view: &StudyView<'_>,
    load: &LoadView<'_>,
    escape: Escape,
) -> Option<(usize, Table)> {
    let all = differences(view, load);
    let from = all.first()?.from;
    let rows: Vec<&VariantRow<'_>> = all.iter().map(|of| &load.rows[of.row]).collect();
    let mut table = names("events", &load.rows, &rows, escape, |_| false);
    table.name("event", all.iter().map(|of| escape(&sanitize(of.name, NAME_CHARACTERS_MAX))));
    let blocks = |of: &Difference<'_>| Cell {
        text: format!("{}/{}", of.blocks_known(), of.blocks.len()),
        value: Some(of.blocks_known() as f64),
    };
    table.column("blocks", "known", all.iter().map(blocks));
    for (head, figure) in [("lost", Figure::Lost), ("outage", Figure::Outage), ("recovery", Figure::Recovery)]
    {
        let cell =
            |of: &Difference<'_>| with_interval(of.over(figure), |apart| event_costs::signed(figure, apart));
        table.column(head, "", all.iter().map(cell));
    }
    Some((from, table))
}
