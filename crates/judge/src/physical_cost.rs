//! Physical cost of a load: bytes, connections, and handshakes of its requests, and the database's writes, reads, and
//! growth, from the database's own counters before and after the load.

use evidence::{Run, SizeClasses};
use record::Tally;

/// A cost of a load.
#[derive(Debug, PartialEq, Eq)]
pub struct PhysicalCost {
    /// Name in plans, and in JSON with a suffix for its kind. The reading of a database has the prefix `cost_`.
    pub name: &'static str,
    /// Name for people.
    pub words: &'static str,
    /// Unit of the figure.
    pub unit: CostUnit,
    /// Relation to the load: per request, in total, or a size.
    pub kind: CostKind,
    source: CostSource,
}

/// Origin of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CostSource {
    /// Reading of a database.
    Database,
    Received,
    Sent,
    /// Content of replies as sent, without headers.
    Content,
    /// Content of replies after decoding; a sample of encoded replies.
    Decoded,
    Connections,
    FullHandshakes,
    ResumedHandshakes,
}

/// Relation of a cost to a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostKind {
    /// Growth of a counter, per request.
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
    /// Connections, pages, rows, or files.
    Count,
}

/// All costs, in the order of reports.
pub const PHYSICAL_COSTS: &[PhysicalCost] = &[
    of_load("received_bytes", "received", CostUnit::Bytes, CostSource::Received),
    of_load("content_bytes", "content as sent", CostUnit::Bytes, CostSource::Content),
    of_load("decoded_bytes", "content decoded", CostUnit::Bytes, CostSource::Decoded),
    of_load("sent_bytes", "sent", CostUnit::Bytes, CostSource::Sent),
    of_load("connections", "new connections", CostUnit::Count, CostSource::Connections),
    of_load("tls_handshakes", "full TLS handshakes", CostUnit::Count, CostSource::FullHandshakes),
    of_load("tls_resumed", "resumed TLS handshakes", CostUnit::Count, CostSource::ResumedHandshakes),
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
    PhysicalCost { name, words, unit, kind: CostKind::PerRequest, source: CostSource::Database }
}

const fn of_load(
    name: &'static str,
    words: &'static str,
    unit: CostUnit,
    source: CostSource,
) -> PhysicalCost {
    PhysicalCost { source, ..counter(name, words, unit) }
}

const fn size(name: &'static str, words: &'static str) -> PhysicalCost {
    PhysicalCost { kind: CostKind::Size, ..counter(name, words, CostUnit::Bytes) }
}

impl PhysicalCost {
    /// Returns the cost with this name. `None` if this version does not know it.
    pub fn named(name: &str) -> Option<&'static Self> {
        PHYSICAL_COSTS.iter().find(|cost| cost.name == name)
    }

    /// Returns the name with its relation to the load, in a sentence about `one` request: `WAL or redo log per
    /// transaction`.
    pub fn full_words(&self, one: &str) -> String {
        match self.kind {
            CostKind::PerRequest if self.source.is_of_replies() => format!("{} per reply", self.words),
            CostKind::PerRequest => format!("{} per {one}", self.words),
            CostKind::Total => format!("{} in all", self.words),
            CostKind::Size => format!("{} after the load", self.words),
        }
    }

    /// Returns whether the cost follows from the size of requests and replies.
    pub fn is_of_size(&self) -> bool {
        self.source.is_of_replies() || matches!(self.source, CostSource::Received | CostSource::Sent)
    }
}

impl CostSource {
    /// Returns whether the figure is a mean over replies, not over requests.
    fn is_of_replies(self) -> bool {
        matches!(self, Self::Content | Self::Decoded)
    }
}

/// Returns whether a reading is a size before and after the load.
pub fn is_size_cost(metric: &str) -> bool {
    cost_of(metric).is_some_and(|cost| cost.kind == CostKind::Size)
}

fn cost_of(metric: &str) -> Option<&'static PhysicalCost> {
    let name = metric.strip_prefix(READING)?;
    PHYSICAL_COSTS.iter().find(|cost| cost.name == name)
}

/// Returns the median of a cost over runs. `None` without runs.
pub fn median_of(figures: impl Iterator<Item = f64>) -> Option<f64> {
    stats::median(figures)
}

/// Cost of one load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostOfLoad {
    /// Kind of the cost.
    pub cost: &'static PhysicalCost,
    /// Cost per request or reply, in total, or the size after the load.
    pub figure: f64,
    /// Size before the load. `None` for other costs.
    pub before: Option<f64>,
}

/// Requests of a load, warm-up included, with their traffic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadVolume {
    pub(crate) requests: u64,
    /// Bytes received. `None` if another tool made the load and did not report them.
    pub(crate) received_bytes: Option<u64>,
    pub(crate) sent_bytes: Option<u64>,
    pub(crate) connections: Option<u64>,
    pub(crate) handshakes: u64,
}

impl LoadVolume {
    /// Returns the volume of a load of this program, from the tallies of its warm-up and of the measured time.
    pub(crate) fn of_engine(phases: [&Tally; 2]) -> Self {
        let sum = |read: fn(&Tally) -> u64| phases.into_iter().map(read).fold(0, u64::saturating_add);
        Self {
            requests: sum(|tally| tally.counts.sent),
            received_bytes: Some(sum(|tally| tally.received_bytes)),
            sent_bytes: Some(sum(|tally| tally.sent_bytes)),
            connections: Some(sum(|tally| tally.connections)),
            handshakes: sum(|tally| tally.tls.count()),
        }
    }
}

impl CostOfLoad {
    /// Returns the costs of a run, in the order of [`PHYSICAL_COSTS`]. Unknown costs are left out, as are bytes or
    /// handshakes that are 0.
    pub(crate) fn of(run: &Run, volume: &LoadVolume) -> Vec<Self> {
        let readings = Readings::of(run);
        let resumed = || run.ending.as_ref().map_or(0, |ending| ending.resumed_handshakes);
        let of = |cost: &'static PhysicalCost| {
            let figure = match cost.source {
                CostSource::Database => return readings.cost(cost, volume.requests),
                CostSource::Connections => per(volume.connections? as f64, volume.requests),
                CostSource::Received => per(volume.received_bytes? as f64, volume.requests).filter(is_some),
                CostSource::Sent => per(volume.sent_bytes? as f64, volume.requests).filter(is_some),
                CostSource::FullHandshakes => {
                    let full = volume.handshakes.saturating_sub(resumed());
                    per(full as f64, volume.requests).filter(is_some)
                }
                CostSource::ResumedHandshakes => per(resumed() as f64, volume.requests).filter(is_some),
                CostSource::Content => mean(run, |step| &step.sizes),
                CostSource::Decoded if is_encoded(run) => mean(run, |step| &step.decoded),
                CostSource::Decoded => mean(run, |step| &step.sizes),
            };
            Some(Self { cost, figure: figure?, before: None })
        };
        PHYSICAL_COSTS.iter().filter_map(of).collect()
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that `Option::filter` expects")]
fn is_some(figure: &f64) -> bool {
    *figure > 0.0
}

fn per(total: f64, requests: u64) -> Option<f64> {
    (requests > 0).then(|| total / requests as f64)
}

/// Returns the mean size over the replies of all steps. `None` without sizes, or if all replies were empty.
fn mean(run: &Run, sizes: fn(&evidence::StepContents) -> &SizeClasses) -> Option<f64> {
    let classes = || run.ending.iter().flat_map(|ending| &ending.contents).flat_map(|step| &sizes(step).0);
    let count: u64 = classes().fold(0, |sum, (count, _)| sum.saturating_add(*count));
    let bytes: u64 = classes().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes));
    per(bytes as f64, count).filter(is_some)
}

/// Returns whether replies of a run had a content coding.
fn is_encoded(run: &Run) -> bool {
    let mut contents = run.ending.iter().flat_map(|ending| &ending.contents);
    contents.any(|step| !step.codings.is_empty() || !step.decoded.is_empty())
}

/// Readings of costs of a run: name, label, and value.
struct Readings<'r>(Vec<(&'r str, &'r str, f64)>);

impl<'r> Readings<'r> {
    fn of(run: &'r Run) -> Self {
        let all = run.readings().filter_map(|reading| {
            let name = reading.metric.strip_prefix(READING)?;
            reading.value.is_finite().then_some((name, reading.label, reading.value))
        });
        Self(all.collect())
    }

    fn value(&self, cost: &PhysicalCost, label: &str) -> Option<f64> {
        let found = self.0.iter().find(|(name, of, _)| *name == cost.name && *of == label);
        found.map(|(.., value)| *value)
    }

    fn cost(&self, cost: &'static PhysicalCost, requests: u64) -> Option<CostOfLoad> {
        let (figure, before) = match cost.kind {
            CostKind::Size => (self.value(cost, "after")?, Some(self.value(cost, "before")?)),
            CostKind::Total => (self.value(cost, "")?, None),
            CostKind::PerRequest => (per(self.value(cost, "")?, requests)?, None),
        };
        Some(CostOfLoad { cost, figure, before })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence::{Ending, StepContents};
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
        let volume = LoadVolume { requests: 10, ..LoadVolume::of_engine([&Tally::default(); 2]) };
        let costs = CostOfLoad::of(&run, &volume);
        let told: Vec<_> = costs.iter().map(|cost| (cost.cost.name, cost.figure, cost.before)).collect();
        assert_eq!(
            told,
            [
                ("connections", 0.0, None),
                ("wal_bytes", 500.0, None),
                ("table_bytes", 16_384.0, Some(8_192.0))
            ]
        );
        let without_requests = CostOfLoad::of(&run, &LoadVolume { requests: 0, ..volume });
        assert_eq!(without_requests.iter().map(|cost| cost.cost.name).collect::<Vec<_>>(), ["table_bytes"]);
        assert!(is_size_cost("cost_index_bytes") && !is_size_cost("cost_wal_bytes"));
    }

    #[test]
    fn content_is_a_mean_over_replies() {
        let contents = vec![
            StepContents {
                replies: 3,
                sizes: SizeClasses(vec![(1, 100), (1, 200)]),
                decoded: SizeClasses(vec![(1, 1_000)]),
                ..StepContents::default()
            },
            StepContents { step: 1, replies: 2, sizes: SizeClasses(vec![(2, 0)]), ..StepContents::default() },
        ];
        let run = OwnStore::new().kept(&new_run(), &[], &[], &Ending { contents, ..ending() });
        let costs = CostOfLoad::of(&run, &LoadVolume::of_engine([&Tally::default(); 2]));
        let told: Vec<_> = costs.iter().map(|cost| (cost.cost.name, cost.figure)).collect();
        assert_eq!(told, [("content_bytes", 75.0), ("decoded_bytes", 1_000.0)]);
    }
}
