//! Percentiles of durations: their names, and the tables with columns for them.

use record::{PRINTED, Percentile};
use serde::{Serialize, Serializer};

pub(crate) use judge::Durations;

/// Space of a table. A larger table has all columns of the smaller ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TableSize {
    /// Table in a comment on a pull request.
    Compact,
    /// Tables of statements, and of the levels of a search.
    Parts,
    /// Tables of the steps of a run.
    Steps,
    /// Tables with a row for each run or variant.
    Summary,
}

/// Smallest table in which each percentile has a column. Formats without columns, and the table of one run, show all of
/// [`PRINTED`].
const COLUMNS: &[(Percentile, TableSize)] = &[
    (Percentile::P50, TableSize::Compact),
    (Percentile::P90, TableSize::Steps),
    (Percentile::P95, TableSize::Parts),
    (Percentile::P99, TableSize::Compact),
    (Percentile::P99_9, TableSize::Summary),
];

impl TableSize {
    /// Percentiles with a column, in order.
    pub(crate) fn columns(self) -> impl Iterator<Item = Percentile> {
        COLUMNS.iter().filter(move |(_, least)| *least <= self).map(|(percentile, _)| *percentile)
    }
}

/// All figures with their names, in order: min, mean, percentiles, max. In nanoseconds.
pub(crate) fn figures(durations: &Durations) -> impl Iterator<Item = (String, Option<f64>)> {
    let [min, mean, max] =
        [("min", durations.min_ns), ("mean", durations.mean_ns), ("max", durations.max_ns)]
            .map(|(name, ns)| (name.to_owned(), ns));
    let percentiles = PRINTED.iter().map(|percentile| name(*percentile)).zip(durations.percentiles_ns);
    [min, mean].into_iter().chain(percentiles).chain([max])
}

/// Figures by JSON key, such as `p99_9`.
#[derive(Debug)]
pub(crate) struct KeyedFigures(Vec<(String, Option<f64>)>);

impl KeyedFigures {
    /// All figures, converted from nanoseconds by `write`.
    pub(crate) fn of(durations: &Durations, write: impl Fn(f64) -> f64) -> Self {
        figures(durations).map(|(name, ns)| (name, ns.map(&write))).collect()
    }
}

impl FromIterator<(String, Option<f64>)> for KeyedFigures {
    fn from_iter<I: IntoIterator<Item = (String, Option<f64>)>>(named: I) -> Self {
        Self(named.into_iter().map(|(name, figure)| (key(&name), figure)).collect())
    }
}

impl Serialize for KeyedFigures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, figure)| (key, figure)))
    }
}

/// JSON key of a name.
pub(crate) fn key(name: &str) -> String {
    name.replace('.', "_")
}

/// Name of a percentile: `p99.9`.
pub(crate) fn name(percentile: Percentile) -> String {
    format!("p{}", percent(percentile))
}

/// The percentile in percent: 99.9 for `p99.9`.
pub(crate) fn percent(percentile: Percentile) -> f64 {
    f64::from(percentile.ppm()) / 10_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_have_usual_names() {
        let called = [Percentile::P50, Percentile::P99_9, Percentile::P99_99].map(name);
        assert_eq!(called, ["p50", "p99.9", "p99.99"]);
        assert_eq!(key(&called[1]), "p99_9");
    }

    #[test]
    fn percentiles_of_columns_are_printed_and_sorted() {
        let all: Vec<Percentile> = TableSize::Summary.columns().collect();
        assert!(all.is_sorted() && all.iter().all(|percentile| PRINTED.contains(percentile)));
        assert!(PRINTED.is_sorted());
        assert!(TableSize::Compact.columns().all(|percentile| all.contains(&percentile)));
    }
}
