//! Histogram of the response times of a run, drawn with characters.

use evidence::EvidenceError;
use record::Phase;

use crate::table::{Cell, Table};
use crate::text::{columns, pad_left};
use crate::units::duration;
use crate::view::View;

/// Maximum number of rows, the tail included.
const ROWS: usize = 9;
/// Length of the longest bar in columns.
const COLUMNS: u64 = 40;

/// Table with one row for each bin of response times. `None` if there are too few samples, or if they differ too little.
pub(super) fn of_run(view: &View<'_>) -> Result<Option<Table>, EvidenceError> {
    let response = view.run.whole(Phase::Measured)?.response.all();
    let Some(bins) = judge::log_bins(&response, ROWS) else { return Ok(None) };
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
    let ends: Vec<String> = bins.iter().map(|bin| duration(bin.until_ns)).collect();
    let width = ends.iter().map(|end| columns(end)).max().unwrap_or(0);
    let names = ends.iter().map(|end| format!("up to {}", pad_left(end, width)));
    let mut table = Table::of_names("response time", names);
    table.column(view.noun().many, "", bins.iter().map(|bin| Cell::count(bin.count)));
    table.drawings("", "", bins.iter().map(|bin| bar(bin.count, most)));
    Ok(Some(table))
}

fn bar(count: u64, most: u64) -> String {
    let columns = u128::from(count) * u128::from(COLUMNS) / u128::from(most);
    "■".repeat(columns as usize + usize::from(count > 0 && columns == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_of_a_rare_bin_is_one_character() {
        assert_eq!([bar(0, 9), bar(1, 1_000), bar(500, 1_000)].map(|bar| bar.chars().count()), [0, 1, 20]);
    }
}
