//! Limits the size of the page of a huge study: keeps the best variants, and states what is omitted.

use std::collections::HashMap;

use super::document::{Document, Doubt, Load, Notice, Table, Tone};
use crate::text::truncate_list;
use crate::units::count;

/// Maximum number of rows under all loads together.
const ROWS_MAX: usize = 1_000;
/// Maximum number of runs that are shown one by one.
const RUNS_MAX: usize = 2_000;
/// Maximum number of rows in a table of steps or statements.
const STEPS_MAX: usize = 2_000;
/// Maximum numbers of notices and doubts.
const NOTICES_MAX: usize = 24;
const DOUBTS_MAX: usize = 500;

/// Removes data beyond the limits. Returns the original index of each remaining run.
pub(super) fn cut_to_limits(document: &mut Document) -> Vec<usize> {
    truncate_list(&mut document.notices, NOTICES_MAX, |more| notice(format!("and {more} more")));
    truncate_list(&mut document.validity.doubts, DOUBTS_MAX, doubt);
    let all = [document.loads.iter().map(|load| load.rows.len()).sum(), document.runs.len()];
    let rows = rows(document);
    let runs = runs(document, &rows);
    let left = [rows.iter().map(Vec::len).sum(), runs.len()];
    if left != all {
        let [of_rows, of_runs] =
            [0, 1].map(|kind| format!("{} of {}", count(left[kind] as u64), count(all[kind] as u64)));
        document.notices.push(notice(format!(
            "There is room here for {of_rows} settings, and for {of_runs} runs one by one. Answers and figures are of \
             all runs; each of them is in: tenbin report {} --format csv",
            document.id
        )));
        keep(document, &rows, &runs);
    }
    steps(document);
    runs
}

/// Shortens tables of steps and of their statements.
pub(super) fn steps(document: &mut Document) {
    let kinds: [(&str, TableOf); 2] =
        [("steps", |load| load.steps.as_mut()), ("statements", |load| load.statements.as_mut())];
    for (what, table_of) in kinds {
        let mut most = 0;
        for table in document.loads.iter_mut().filter_map(table_of) {
            most = most.max(table.rows.len());
            table.rows.truncate(STEPS_MAX);
        }
        if most > STEPS_MAX {
            document.notices.push(notice(format!(
                "There is room here for {} of {} rows of {what}; all of them are in: tenbin report {} --format json",
                count(STEPS_MAX as u64),
                count(most as u64),
                document.id
            )));
        }
    }
}

/// Selects one of the tables of a load.
type TableOf = fn(&mut Load) -> Option<&mut Table>;

/// Remaining rows of each load, in their order. The best rows have priority, then those with figures.
fn rows(document: &Document) -> Vec<Vec<usize>> {
    let loads = document.loads.iter().enumerate();
    let each = loads.flat_map(|(load, of)| of.rows.iter().enumerate().map(move |(row, of)| (load, row, of)));
    let mut each: Vec<_> = each.collect();
    each.sort_by_key(|(.., row)| (!row.is_best, row.figures.is_none()));
    let mut rows = vec![Vec::new(); document.loads.len()];
    for (load, row, _) in each.into_iter().take(ROWS_MAX) {
        rows[load].push(row);
    }
    rows.iter_mut().for_each(|rows| rows.sort_unstable());
    rows
}

/// The first runs of these rows.
fn runs(document: &Document, rows: &[Vec<usize>]) -> Vec<usize> {
    let is_left = |place: &usize| {
        let run = &document.runs[*place];
        rows.get(run.load).is_some_and(|rows| rows.binary_search(&run.row).is_ok())
    };
    (0..document.runs.len()).filter(is_left).take(RUNS_MAX).collect()
}

fn keep(document: &mut Document, rows: &[Vec<usize>], runs: &[usize]) {
    let (new_rows, new_runs) =
        (rows.iter().map(|rows| new_indexes(rows)).collect::<Vec<_>>(), new_indexes(runs));
    // A load without a row is removed.
    let with_rows: Vec<usize> = (0..rows.len()).filter(|load| !rows[*load].is_empty()).collect();
    let new_loads = new_indexes(&with_rows);
    let mut place = 0..;
    document.runs.retain(|_| place.next().is_some_and(|place| new_runs.contains_key(&place)));
    for run in &mut document.runs {
        run.row = new_rows[run.load].get(&run.row).copied().unwrap_or_default();
        run.load = new_loads.get(&run.load).copied().unwrap_or_default();
    }
    document.loads.iter_mut().zip(&new_rows).for_each(|(load, rows)| keep_rows(load, rows, &new_runs));
    document.loads.retain(|load| !load.rows.is_empty());
}

fn keep_rows(load: &mut Load, new_rows: &HashMap<usize, usize>, new_runs: &HashMap<usize, usize>) {
    let mut place = 0..;
    load.rows.retain(|_| place.next().is_some_and(|place| new_rows.contains_key(&place)));
    for row in &mut load.rows {
        row.runs = row.runs.iter().filter_map(|run| new_runs.get(run).copied()).collect();
        row.median_run = row.median_run.and_then(|run| new_runs.get(&run).copied());
    }
    let moved = |row: &mut usize| new_rows.get(row).map(|new| *row = *new).is_some();
    let of_table = |table: &mut Table| table.rows.retain_mut(|row| row.row.as_mut().is_none_or(moved));
    of_table(&mut load.table);
    load.steps.iter_mut().chain(&mut load.statements).for_each(of_table);
    load.baseline = load.baseline.and_then(|row| new_rows.get(&row).copied());
    load.pairs.retain_mut(|pair| moved(&mut pair.first) && moved(&mut pair.second));
    load.bottlenecks.retain_mut(|bottleneck| moved(&mut bottleneck.row));
    load.errors.retain_mut(|error| moved(&mut error.row));
    if let Some(cpu) = &mut load.cpu_profiles {
        cpu.profiles.retain_mut(|profile| moved(&mut profile.row));
        cpu.differences.retain_mut(|one| moved(&mut one.row) && moved(&mut one.from));
    }
    for event in load.event_costs.iter_mut().flat_map(|costs| &mut costs.events) {
        event.rows.retain_mut(|of| moved(&mut of.row));
        event.from = event.from.and_then(|row| new_rows.get(&row).copied());
        for figure in &mut event.figures {
            figure.rows.retain_mut(|of| moved(&mut of.row));
            figure.differences.retain_mut(|of| moved(&mut of.row));
        }
    }
}

/// New index of each remaining item.
fn new_indexes(left: &[usize]) -> HashMap<usize, usize> {
    left.iter().enumerate().map(|(new, old)| (*old, new)).collect()
}

fn notice(text: String) -> Notice {
    Notice { tone: Tone::Plain, text }
}

fn doubt(more: usize) -> Doubt {
    let (place, remedy, quote) = (String::new(), String::new(), Vec::new());
    Doubt { tone: Tone::Plain, place, sentence: format!("and {more} more"), remedy, quote }
}
