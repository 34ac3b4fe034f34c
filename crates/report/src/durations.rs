//! Durations: which of their percentiles have a column where, and how they are called.

use record::{PRINTED, Percentile};
use serde::{Serialize, Serializer};

pub(crate) use judge::Durations;

/// How much room a table has. Who has more has all columns of who has less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Room {
    /// The table of a pull request.
    Compact,
    /// Statements, and the levels of a search.
    Parts,
    /// The steps of a run.
    Steps,
    /// Rows for runs, or for variants.
    Summary,
}

/// What has a column at least where there is so much room. Formats without columns, and the table of one run, show all of
/// [`PRINTED`].
const COLUMNS: &[(Percentile, Room)] = &[
    (Percentile::P50, Room::Compact),
    (Percentile::P90, Room::Steps),
    (Percentile::P95, Room::Parts),
    (Percentile::P99, Room::Compact),
    (Percentile::P99_9, Room::Summary),
];

impl Room {
    /// The percentiles that have a column, in order.
    pub(crate) fn columns(self) -> impl Iterator<Item = Percentile> {
        COLUMNS.iter().filter(move |(_, least)| *least <= self).map(|(percentile, _)| *percentile)
    }
}

/// Every figure by its name, in order: least, mean, percentiles, most.
pub(crate) fn figures(durations: &Durations) -> impl Iterator<Item = (String, Option<f64>)> {
    let [min, mean, max] =
        [("min", durations.min_ns), ("mean", durations.mean_ns), ("max", durations.max_ns)]
            .map(|(name, ns)| (name.to_owned(), ns));
    let percentiles = PRINTED.iter().map(|percentile| name(*percentile)).zip(durations.percentiles_ns);
    [min, mean].into_iter().chain(percentiles).chain([max])
}

/// Figures by keys, for programs: `p99_9`.
#[derive(Debug)]
pub(crate) struct Keyed(Vec<(String, Option<f64>)>);

impl Keyed {
    /// Every figure, in another unit than nanoseconds.
    pub(crate) fn of(durations: &Durations, write: impl Fn(f64) -> f64) -> Self {
        figures(durations).map(|(name, ns)| (name, ns.map(&write))).collect()
    }
}

impl FromIterator<(String, Option<f64>)> for Keyed {
    fn from_iter<I: IntoIterator<Item = (String, Option<f64>)>>(named: I) -> Self {
        Self(named.into_iter().map(|(name, figure)| (key(&name), figure)).collect())
    }
}

impl Serialize for Keyed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, figure)| (key, figure)))
    }
}

/// A name as a key.
pub(crate) fn key(name: &str) -> String {
    name.replace('.', "_")
}

/// How a percentile is called: `p99.9`.
pub(crate) fn name(percentile: Percentile) -> String {
    format!("p{}", percent(percentile))
}

/// How many of a hundred samples are no longer.
pub(crate) fn percent(percentile: Percentile) -> f64 {
    f64::from(percentile.ppm()) / 10_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_called_as_people_do() {
        let called = [Percentile::P50, Percentile::P99_9, Percentile::P99_99].map(name);
        assert_eq!(called, ["p50", "p99.9", "p99.99"]);
        assert_eq!(key(&called[1]), "p99_9");
    }

    #[test]
    fn columns_are_printed_and_in_order() {
        let all: Vec<Percentile> = Room::Summary.columns().collect();
        assert!(all.is_sorted() && all.iter().all(|percentile| PRINTED.contains(percentile)));
        assert!(PRINTED.is_sorted());
        assert!(Room::Compact.columns().all(|percentile| all.contains(&percentile)));
    }
}
