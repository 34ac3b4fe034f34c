//! Physical cost of a load: what its requests made a database write, read, and keep, from the database's own counters before and after
//! the load.

use evidence::Run;

/// A cost that a database reports.
#[derive(Debug, PartialEq, Eq)]
pub struct PhysicalCost {
    /// Name in JSON and of its reading, without `cost_`.
    pub name: &'static str,
    /// Name for people.
    pub words: &'static str,
    /// Unit of the figure.
    pub unit: CostUnit,
    /// How it relates to the load.
    pub kind: CostKind,
}

/// How a cost relates to a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostKind {
    /// Growth of a counter, for each request.
    PerRequest,
    /// Growth of a counter during the load.
    Total,
    /// Size before and after the load.
    Size,
}

/// Unit of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostUnit {
    /// Bytes.
    Bytes,
    /// Pages, rows, or files.
    Count,
}

/// All costs, in the order of reports.
pub const PHYSICAL_COSTS: &[PhysicalCost] = &[
    counter("wal_bytes", "WAL or redo log", CostUnit::Bytes),
    counter("pages_read", "pages read", CostUnit::Count),
    counter("pages_hit", "pages found in memory", CostUnit::Count),
    counter("pages_written", "pages written", CostUnit::Count),
    counter("rows_by_scan", "rows read by scans", CostUnit::Count),
    counter("rows_by_index", "rows read by index", CostUnit::Count),
    counter("rows_read", "rows read", CostUnit::Count),
    counter("rows_written", "rows written", CostUnit::Count),
    counter("temp_files", "temporary files", CostUnit::Count),
    counter("temp_bytes", "temporary bytes", CostUnit::Bytes),
    PhysicalCost { kind: CostKind::Total, ..counter("checkpoints", "checkpoints", CostUnit::Count) },
    size("table_bytes", "tables"),
    size("index_bytes", "indexes"),
    size("file_bytes", "database file"),
    size("free_bytes", "free pages of the file"),
];

const READING: &str = "cost_";

const fn counter(name: &'static str, words: &'static str, unit: CostUnit) -> PhysicalCost {
    PhysicalCost { name, words, unit, kind: CostKind::PerRequest }
}

const fn size(name: &'static str, words: &'static str) -> PhysicalCost {
    PhysicalCost { name, words, unit: CostUnit::Bytes, kind: CostKind::Size }
}

/// Whether a reading is a size before and after the load.
pub fn is_size_cost(metric: &str) -> bool {
    cost_of(metric).is_some_and(|cost| cost.kind == CostKind::Size)
}

fn cost_of(metric: &str) -> Option<&'static PhysicalCost> {
    let name = metric.strip_prefix(READING)?;
    PHYSICAL_COSTS.iter().find(|cost| cost.name == name)
}

/// Median of a cost over runs. `None` without runs.
pub fn median_of(figures: impl Iterator<Item = f64>) -> Option<f64> {
    stats::median(figures)
}

/// Cost of one load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostOfLoad {
    /// Kind of the cost.
    pub cost: &'static PhysicalCost,
    /// Growth of a counter during the load, or the size after it.
    pub total: f64,
    /// Size before the load. `None` for a counter.
    pub before: Option<f64>,
}

impl CostOfLoad {
    /// Costs of a run, in the order of [`PHYSICAL_COSTS`]. Empty if its database reported none.
    pub fn of(run: &Run) -> Vec<Self> {
        let all = PHYSICAL_COSTS.iter().filter_map(|cost| {
            let value = |label: &str| {
                let mut readings = run.readings();
                let of = readings.find(|reading| {
                    reading.metric.strip_prefix(READING) == Some(cost.name) && reading.label == label
                });
                of.map(|reading| reading.value).filter(|value| value.is_finite())
            };
            match cost.kind == CostKind::Size {
                true => Some(Self { cost, total: value("after")?, before: Some(value("before")?) }),
                false => Some(Self { cost, total: value("")?, before: None }),
            }
        });
        all.collect()
    }

    /// Figure for comparisons: a counter per request or in all, or a size after the load. `None` without requests.
    pub fn figure(&self, requests: u64) -> Option<f64> {
        match self.cost.kind {
            CostKind::Size | CostKind::Total => Some(self.total),
            CostKind::PerRequest => (requests > 0).then(|| self.total / requests as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::{OwnStore, ending, new_run, reading};

    #[test]
    fn costs_are_per_request_and_sizes_are_not() {
        let readings = vec![
            reading(crate::DATABASE, "cost_wal_bytes", "", 5_000.0),
            reading(crate::DATABASE, "cost_table_bytes", "before", 8_192.0),
            reading(crate::DATABASE, "cost_table_bytes", "after", 16_384.0),
            reading(crate::DATABASE, "cost_unknown", "", 1.0),
        ];
        let run = OwnStore::new().kept(&new_run(), &[], &[(7, readings)], &ending());
        let costs = CostOfLoad::of(&run);
        let told: Vec<_> = costs.iter().map(|cost| (cost.cost.name, cost.figure(10), cost.before)).collect();
        assert_eq!(told, [("wal_bytes", Some(500.0), None), ("table_bytes", Some(16_384.0), Some(8_192.0))]);
        assert_eq!(costs[0].figure(0), None);
        assert!(is_size_cost("cost_index_bytes") && !is_size_cost("cost_wal_bytes"));
    }
}
