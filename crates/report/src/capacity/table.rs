//! Every level of a search as a table.

use super::sentences::written;
use super::{CapacityRow, LevelRow};
use crate::durations::{self, Room};
use crate::item::Escape;
use crate::noun::Noun;
use crate::table::{Cell, Table};
use crate::units::{decimal, percent_of, rate};

/// A row for each rate, lowest first, and above them one for each number of users.
pub(crate) fn table(row: &CapacityRow, noun: &Noun, escape: Escape) -> Table {
    let (sizes, rates) = (&row.levels.sizes, &row.levels.rates);
    let of_sizes = sizes.iter().map(|size| match size.users {
        1 => "1 user".to_owned(),
        users => format!("{users} users"),
    });
    let names = of_sizes.chain(rates.iter().map(|level| format!("{}/s", written(level.per_s))));
    let mut table = Table::of_names("load", names);
    let stages = sizes.iter().map(|_| store::stage::SIZING.to_owned());
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
    table.column("mean", "ms", mean.map(ms));
    let mut of_rates = |head: &str, below: &str, cell: &dyn Fn(&LevelRow) -> Cell| {
        let of_sizes = sizes.iter().map(|_| Cell::from(String::new()));
        table.column(head, below, of_sizes.chain(rates.iter().map(cell)));
    };
    for percentile in Room::Parts.columns() {
        of_rates(&durations::head(percentile), "ms", &|level| ms(level.response_ns(percentile)));
    }
    of_rates("errors", "", &|level| Cell::figure(level.error_share(), percent_of));
    let told = rates.iter().filter(|level| level.system_us_per_request().is_some()).count();
    if told * 2 > rates.len() {
        of_rates("system", noun.us_per_one, &|level| {
            Cell::figure(level.system_us_per_request(), |us| decimal(us, 1))
        });
    }
    let why = rates.iter().map(|level| escape(&level.conditions.join(", ")));
    table.words("did not hold", sizes.iter().map(|_| String::new()).chain(why));
    table
}

fn ms(ns: Option<f64>) -> Cell {
    let cell = Cell::figure(ns, |ns| decimal(ns / 1e6, 3));
    Cell { value: cell.value.map(|ns| ns / 1e6), ..cell }
}
