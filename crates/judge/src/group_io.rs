//! Disk I/O of a system's control group, compared with its limits.

use std::collections::BTreeMap;

use evidence::Run;
use stats::median;

use crate::core_time::in_measured_time;

/// A kind of disk operation with a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitedIo {
    /// Kind of operation: `reads`, `writes`, `bytes read`, or `bytes written`.
    pub what: &'static str,
    /// Name of the disk, from outside: escape it.
    pub disk: String,
    /// Operations or bytes per second, the median of all seconds.
    pub per_s: f64,
    /// Limit per second.
    pub max_per_s: f64,
}

/// Metric of a count, metric of its limit, and name of the operation.
const KINDS: [(&str, &str, &str); 4] = [
    ("io_reads", "io_reads_max_per_s", "reads"),
    ("io_writes", "io_writes_max_per_s", "writes"),
    ("io_read_bytes", "io_read_bytes_max_per_s", "bytes read"),
    ("io_written_bytes", "io_written_bytes_max_per_s", "bytes written"),
];

impl LimitedIo {
    /// Returns the operation of a run that came nearest to its limit; `None` if nothing is limited or counted.
    pub(crate) fn of(run: &Run) -> Option<Self> {
        let mut seen: BTreeMap<(&str, &str, usize), [Vec<f64>; 2]> = BTreeMap::new();
        for reading in in_measured_time(run).filter(|reading| reading.value.is_finite()) {
            let is_meant =
                |(count, limit, _): &(&str, &str, &str)| [*count, *limit].contains(&reading.metric);
            let Some(kind) = KINDS.iter().position(is_meant) else { continue };
            let column = usize::from(reading.metric == KINDS[kind].1);
            let values = seen.entry((reading.subject, reading.label, kind)).or_default();
            values[column].push(reading.value);
        }
        let limited = seen.into_iter().filter_map(|((_, disk, kind), [counts, limits])| {
            let max_per_s = median(limits).filter(|max| *max > 0.0)?;
            Some(Self { what: KINDS[kind].2, disk: disk.to_owned(), per_s: median(counts)?, max_per_s })
        });
        limited.max_by(|one, other| one.share().total_cmp(&other.share()))
    }

    /// Returns the used share of the limit.
    pub fn share(&self) -> f64 {
        self.per_s / self.max_per_s
    }
}
