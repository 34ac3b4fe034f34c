//! Rows that the runs of a study wrote, and how evenly its shards got requests.

use judge::{ShardBalance, Written, WrittenCheck};

use super::pieces::StudyPieces;
use super::{LoadView, StudyView, runs};
use crate::table::{Cell, Table};
use crate::units::{count, decimal};
use crate::view::View;

/// Sums over the runs of a variant with checked rows.
#[derive(Default)]
struct CheckedRows {
    runs: usize,
    /// Number of runs in which the rows do not add up.
    broken: usize,
    rows_by_server: Vec<i64>,
    ok: u64,
    unknown: u64,
    doubled: u64,
}

impl CheckedRows {
    fn add(&mut self, written: &Written) {
        self.runs += 1;
        self.broken += usize::from(written.check() != WrittenCheck::Holds);
        let servers = self.rows_by_server.len().max(written.rows_by_server.len());
        self.rows_by_server.resize(servers, 0);
        for (sum, rows) in self.rows_by_server.iter_mut().zip(&written.rows_by_server) {
            *sum = sum.saturating_add(*rows);
        }
        self.ok = self.ok.saturating_add(written.ok);
        self.unknown = self.unknown.saturating_add(written.unknown);
        self.doubled = self.doubled.saturating_add(written.doubled);
    }

    /// Sums up all runs of a row, valid or not: a doubtful run must not lose rows either.
    fn for_row(view: &StudyView<'_>, load: &LoadView<'_>, row: usize) -> Self {
        let mut sums = Self::default();
        views(view, load, row).filter_map(|view| view.written.as_ref()).for_each(|written| sums.add(written));
        sums
    }
}

/// All runs of a row.
fn views<'v, 'a>(
    view: &'v StudyView<'a>,
    load: &'v LoadView<'a>,
    row: usize,
) -> impl Iterator<Item = &'v View<'a>> + use<'v, 'a> {
    let row = &load.rows[row];
    row.runs.iter().chain(&row.others).map(|(run, _)| &view.runs[*run])
}

/// Balance of each list of shards over the runs of a row.
fn balances(view: &StudyView<'_>, load: &LoadView<'_>, row: usize) -> Vec<ShardBalance> {
    let views: Vec<&View<'_>> = views(view, load, row).filter(|view| !view.shards.is_empty()).collect();
    let lists = views.iter().map(|view| view.shards.len()).min().unwrap_or(0);
    let together = |list: usize| {
        let of_runs: Vec<&ShardBalance> = views.iter().map(|view| &view.shards[list]).collect();
        ShardBalance::added_up(&of_runs)
    };
    (0..lists).filter_map(together).collect()
}

/// Facts of a load: its rows, and its least even variant.
pub(crate) fn facts(
    page: &StudyPieces<'_>,
    view: &StudyView<'_>,
    load: &LoadView<'_>,
) -> impl Iterator<Item = (&'static str, String)> {
    let rows = rows(page, view, load).into_iter().map(|line| ("rows", line));
    rows.chain(shards(page, view, load).map(|line| ("shards", line)))
}

/// Sentences about the rows of a load: one for each run whose rows do not add up, one for the total if all add up, and one for runs whose
/// rows could not be read. Empty if no run has this check.
fn rows(page: &StudyPieces<'_>, view: &StudyView<'_>, load: &LoadView<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut all = CheckedRows::default();
    let mut unchecked = 0;
    for row in 0..load.rows.len() {
        unchecked += views(view, load, row).filter(|view| Written::is_unchecked(view.run)).count();
        for written in views(view, load, row).filter_map(|view| view.written.as_ref()) {
            all.add(written);
            if written.check() != WrittenCheck::Holds {
                lines.push(format!("{}: {}", page.row(load, row), written.words()));
            }
        }
    }
    let held = all.runs - all.broken;
    if held > 0 && all.broken == 0 {
        let sum: i64 = all.rows_by_server.iter().sum();
        let unknown = match all.unknown {
            0 => String::new(),
            unknown => format!(", and at most one for each of {} without an answer", count(unknown)),
        };
        let rows = count(sum.unsigned_abs());
        let each = if held == 1 { "" } else { "in each, " };
        lines.push(format!(
            "nothing lost, nothing doubled: {rows} rows of {}; {each}as many as requests that ended ok{unknown}; no key twice",
            runs(held)
        ));
    } else if held > 0 {
        lines.push(format!("rows of {} add up", runs(held)));
    }
    if unchecked > 0 {
        let which = if all.runs == 0 { "no run" } else { "not all" };
        lines.push(format!(
            "{which} could be checked: the rows of {} could not be read after the load, and their notes say why",
            runs(unchecked)
        ));
    }
    lines
}

/// The least even variant of a load in a sentence. `None` if no run has a balance.
fn shards(page: &StudyPieces<'_>, view: &StudyView<'_>, load: &LoadView<'_>) -> Option<String> {
    let of_rows = (0..load.rows.len())
        .flat_map(|row| balances(view, load, row).into_iter().map(move |balance| (row, balance)));
    let (row, worst) = of_rows.max_by(|(_, a), (_, b)| a.excess().total_cmp(&b.excess()))?;
    let least =
        if load.rows.len() > 1 { format!("least even in {}: ", page.row(load, row)) } else { String::new() };
    let than = if worst.excess() > 1.0 { "more than" } else { "no more than" };
    Some(format!(
        "{least}the largest shard got {} × the mean, {than} chance alone gives (95 %: up to {})",
        decimal(worst.largest_to_mean, 3),
        decimal(worst.by_chance, 3)
    ))
}

/// Table with a row per variant. `None` if nothing was checked, and no run has a balance.
pub(crate) fn table(page: &StudyPieces<'_>, view: &StudyView<'_>, load: &LoadView<'_>) -> Option<Table> {
    let numbers = 0..load.rows.len();
    let checked: Vec<CheckedRows> =
        numbers.clone().map(|row| CheckedRows::for_row(view, load, row)).collect();
    let spread: Vec<Vec<ShardBalance>> = numbers.clone().map(|row| balances(view, load, row)).collect();
    let mut table = Table::of_names("", numbers.map(|row| page.row(load, row)));
    let is_checked = checked.iter().any(|sums| sums.runs > 0);
    let is_spread = spread.iter().any(|balances| !balances.is_empty());
    if is_checked {
        let figure = |read: fn(&CheckedRows) -> u64| {
            let cells = checked.iter().map(move |sums| (sums.runs > 0).then(|| read(sums)));
            cells
                .map(|found| found.map_or_else(|| "n/a".to_owned().into(), Cell::count))
                .collect::<Vec<Cell>>()
        };
        table.column("requests", "ok", figure(|sums| sums.ok));
        table.column("without", "answer", figure(|sums| sums.unknown));
        table.column("keys", "twice", figure(|sums| sums.doubled));
        let add_up = checked.iter().map(|sums| format!("{}/{}", sums.runs - sums.broken, sums.runs));
        table.column("runs whose", "rows add up", add_up.map(Cell::from));
        table.words(
            "rows by database",
            checked.iter().map(|sums| {
                join_parts(sums.rows_by_server.iter().map(|rows| {
                    if *rows < 0 {
                        format!("-{}", count(rows.unsigned_abs()))
                    } else {
                        count(rows.unsigned_abs())
                    }
                }))
            }),
        );
    }
    if is_spread {
        let of_each = |write: fn(&ShardBalance) -> String| {
            spread.iter().map(move |balances| join_parts(balances.iter().map(write))).collect::<Vec<String>>()
        };
        table.words(
            "requests by shard",
            of_each(|of| join_parts(of.shards.iter().map(|(_, requests)| count(*requests)))),
        );
        table.words("largest ÷ mean", of_each(|of| decimal(of.largest_to_mean, 3)));
        table.words("by chance", of_each(|of| decimal(of.by_chance, 3)));
    }
    (is_checked || is_spread).then_some(table)
}

fn join_parts(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(" / ")
}
