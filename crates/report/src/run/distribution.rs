//! How the response times of a run are distributed, drawn with characters.

use evidence::EvidenceError;
use record::{Histogram, Percentile, Phase};

use crate::table::{Cell, Table};
use crate::units::duration;
use crate::view::View;

/// Rows of the drawing, the tail included.
const ROWS: usize = 7;
/// Columns of the longest bar.
const COLUMNS: u64 = 40;

/// A row for each range of response times; `None` where there are too few samples for a 90th percentile.
pub(super) fn of_run(view: &View<'_>) -> Result<Option<Table>, EvidenceError> {
    let response = view.run.whole(Phase::Measured)?.response.all();
    let Some(ranges) = ranges(&response) else { return Ok(None) };
    let most = ranges.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let mut table = Table::of_names(
        "response time",
        ranges.iter().map(|(until_ns, _)| format!("up to {}", duration(*until_ns))),
    );
    table.column(view.noun().many, "", ranges.iter().map(|(_, count)| Cell::count(*count)));
    table.drawings("", "", ranges.iter().map(|(_, count)| bar(*count, most)));
    Ok(Some(table))
}

/// How many samples are in equal ranges up to a high percentile, and beyond it: the upper end of each, and the count.
fn ranges(response: &Histogram) -> Option<Vec<(f64, u64)>> {
    let tail = [Percentile::P99, Percentile::P95, Percentile::P90];
    let tail_ns = tail.into_iter().find_map(|percentile| response.printable_at(percentile))? as f64;
    let (min_ns, max_ns) = (response.min_ns()? as f64, response.max_ns()? as f64);
    let width_ns = (tail_ns - min_ns) / (ROWS - 1) as f64;
    if width_ns <= 0.0 {
        return None;
    }
    let end = |row: usize| min_ns + width_ns * row as f64;
    let mut ranges: Vec<(f64, u64)> = (1..ROWS).map(|row| (end(row), 0)).chain([(max_ns, 0)]).collect();
    for (value_ns, count) in response.counters() {
        let row = ((value_ns as f64 - min_ns) / width_ns).ceil() as usize;
        let row = row.clamp(1, ROWS) - 1;
        ranges[row].1 += count;
    }
    // Where nothing lies beyond the percentile there is no tail.
    ranges.retain(|(until_ns, count)| *count > 0 || *until_ns < max_ns);
    Some(ranges)
}

fn bar(count: u64, most: u64) -> String {
    let columns = u128::from(count) * u128::from(COLUMNS) / u128::from(most);
    "■".repeat(columns as usize + usize::from(count > 0 && columns == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_in_one_range() {
        let mut response = Histogram::default();
        for sample in 1..=10_000u64 {
            response.record(sample * 1_000);
        }
        response.record(1_000_000_000);
        let ranges = ranges(&response).unwrap();
        assert_eq!(ranges.len(), ROWS);
        assert_eq!(ranges.iter().map(|(_, count)| count).sum::<u64>(), 10_001);
        assert!(ranges.is_sorted_by(|one, other| one.0 < other.0), "{ranges:?}");
        assert!(ranges[..ROWS - 1].iter().all(|(_, count)| (1_500..1_800).contains(count)), "{ranges:?}");
    }

    #[test]
    fn what_is_all_the_same_is_not_drawn() {
        let mut response = Histogram::default();
        assert_eq!(ranges(&response), None);
        response.record_many(1_000, 5_000);
        assert_eq!(ranges(&response), None);
    }

    #[test]
    fn a_bar_is_seen_however_short() {
        assert_eq!([bar(0, 9), bar(1, 1_000), bar(500, 1_000)].map(|bar| bar.chars().count()), [0, 1, 20]);
    }
}
