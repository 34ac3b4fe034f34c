//! Tables of the levels of a capacity search.

use super::sentences::format_rate;
use super::{CapacityRow, CapacityView, LevelRow};
use crate::durations::{self, TableSize};
use crate::item::Escape;
use crate::noun::Noun;
use crate::table::{Cell, Table};
use crate::text::sanitize;
use crate::units::{decimal, duration, percent_of, rate};

/// Maximum width of a variant's name in columns.
const NAME_COLUMNS_MAX: usize = 32;

/// Table with one row for each of these rates, lowest first: number of passed runs, and why others failed.
pub(crate) fn levels(rates: &[LevelRow], escape: Escape) -> Table {
    let mut table =
        Table::of_names("load", rates.iter().map(|level| format!("{}/s", format_rate(level.per_s))));
    let passed = rates.iter().map(|level| {
        let mark = if level.failed > 0 { '✗' } else { '✓' };
        match level.passed + level.failed {
            0 => "–".to_owned(),
            judged => format!("{mark} {} of {judged}", level.passed),
        }
    });
    table.words("passed", passed);
    figures(&mut table, rates.iter().map(Some));
    let why = rates.iter().map(|level| {
        let invalid = (level.invalid > 0).then(|| format!("{} invalid", level.invalid));
        let failed = level.conditions.iter().map(|condition| format!("✗ {condition}"));
        escape(&failed.chain(invalid).chain(late(level)).collect::<Vec<_>>().join(", "))
    });
    table.words("conditions", why);
    table
}

/// Formats the number of runs that passed but are suspect.
fn late(level: &LevelRow) -> Option<String> {
    (level.late > 0).then(|| format!("{} suspect (late)", level.late))
}

/// Table with one row for each variant: highest passing and lowest failing rate, and the figures at the passing rate.
pub(crate) fn variants(view: &CapacityView, escape: Escape) -> Table {
    let rows = &view.rows;
    let names = rows.iter().map(|row| escape(&sanitize(&view.name(row), NAME_COLUMNS_MAX)));
    let mut table = Table::of_names("", names);
    let per_s = |per_s: Option<f64>| Cell::figure(per_s, |per_s| format!("{}/s", format_rate(per_s)));
    table.column("passes", "", rows.iter().map(|row| per_s(row.found.held_per_s)));
    table.column("fails", "", rows.iter().map(|row| per_s(row.found.failed_per_s)));
    figures(&mut table, rows.iter().map(|row| row.levels.at(row.found.held_per_s?)));
    let failed = rows.iter().map(|row| row.found.failed_per_s.and_then(|per_s| row.levels.at(per_s)));
    let why =
        failed.map(|level| level.map_or_else(String::new, |level| escape(&level.conditions.join(", "))));
    table.words("failed condition", why);
    table
}

/// Adds columns with the measurements at each level.
fn figures<'a>(table: &mut Table, levels: impl Iterator<Item = Option<&'a LevelRow>>) {
    let levels: Vec<Option<&LevelRow>> = levels.collect();
    let mut column =
        |head: &str, figure: &dyn Fn(&LevelRow) -> Option<f64>, write: &dyn Fn(f64) -> String| {
            let cells = levels.iter().map(|level| Cell::figure(level.and_then(figure), write));
            table.column(head, "", cells);
        };
    column("ok/s", &LevelRow::ok_per_s, &rate);
    for percentile in TableSize::Compact.columns() {
        column(&durations::name(percentile), &|level| level.response_ns(percentile), &duration);
    }
    column("errors", &LevelRow::error_share, &percent_of);
}

/// Table with one row for each number of users in the sizing, then one for each rate, lowest first.
pub(crate) fn table(row: &CapacityRow, noun: &Noun, escape: Escape) -> Table {
    let (sizes, rates) = (&row.levels.sizes, &row.levels.rates);
    let of_sizes = sizes.iter().map(|size| match size.users {
        1 => "1 user".to_owned(),
        users => format!("{users} users"),
    });
    let names = of_sizes.chain(rates.iter().map(|level| format!("{}/s", format_rate(level.per_s))));
    let mut table = Table::of_names("load", names);
    let stages = sizes.iter().map(|_| evidence::stage::SIZING.to_owned());
    table.words("for", stages.chain(rates.iter().map(LevelRow::stage_words)));
    let mut of_rates = |head: &str, below: &str, cell: &dyn Fn(&LevelRow) -> Cell| {
        let of_sizes = sizes.iter().map(|_| Cell::from(String::new()));
        table.column(head, below, of_sizes.chain(rates.iter().map(cell)));
    };
    of_rates("passed", "runs", &|level| Cell::count(u64::from(level.passed)));
    of_rates("failed", "runs", &|level| Cell::count(u64::from(level.failed)));
    if rates.iter().any(|level| level.invalid > 0) {
        of_rates("invalid", "runs", &|level| Cell::count(u64::from(level.invalid)));
    }
    let per_s = sizes.iter().map(|size| Some(size.per_s));
    let per_s = per_s.chain(rates.iter().map(|level| level.ok_per_s()));
    table.column("ok", "/s", per_s.map(|per_s| Cell::figure(per_s, rate)));
    let mean = sizes.iter().map(|size| Some(size.mean_response_ns));
    let mean = mean.chain(rates.iter().map(|level| level.tally.response.all().mean_ns()));
    table.column("mean", "ms", mean.map(ms_cell));
    let mut of_rates = |head: &str, below: &str, cell: &dyn Fn(&LevelRow) -> Cell| {
        let of_sizes = sizes.iter().map(|_| Cell::from(String::new()));
        table.column(head, below, of_sizes.chain(rates.iter().map(cell)));
    };
    for percentile in TableSize::Parts.columns() {
        of_rates(&durations::name(percentile), "ms", &|level| ms_cell(level.response_ns(percentile)));
    }
    of_rates("errors", "", &|level| Cell::figure(level.error_share(), percent_of));
    let told = rates.iter().filter(|level| level.system_us_per_request().is_some()).count();
    if told * 2 > rates.len() {
        of_rates("system", noun.us_per_one, &|level| {
            Cell::figure(level.system_us_per_request(), |us| decimal(us, 1))
        });
    }
    let why = |level: &LevelRow| {
        let conditions = level.conditions.iter().cloned().chain(late(level));
        escape(&conditions.collect::<Vec<_>>().join(", "))
    };
    let why = rates.iter().map(why);
    table.words("failed condition", sizes.iter().map(|_| String::new()).chain(why));
    table
}

fn ms_cell(ns: Option<f64>) -> Cell {
    let cell = Cell::figure(ns, |ns| decimal(ns / 1e6, 3));
    Cell { value: cell.value.map(|ns| ns / 1e6), ..cell }
}
