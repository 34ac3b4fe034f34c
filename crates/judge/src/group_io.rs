//! What the control group of a system read from disks and wrote to them, next to what it may.

use std::collections::BTreeMap;

use evidence::Run;
use stats::median;

use crate::core_time::in_measured_time;

/// A kind of disk operation, and what it may come to in a second.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitedIo {
    /// What is limited: `reads`, `writes`, `bytes read`, or `bytes written`.
    pub what: &'static str,
    /// Of which disk. May hold anything: escape it.
    pub disk: String,
    /// Done in a second, the median of all seconds.
    pub per_s: f64,
    /// Allowed in a second.
    pub max_per_s: f64,
}

/// The metric of a count, that of its limit, and what is counted.
const KINDS: [(&str, &str, &str); 4] = [
    ("io_reads", "io_reads_max_per_s", "reads"),
    ("io_writes", "io_writes_max_per_s", "writes"),
    ("io_read_bytes", "io_read_bytes_max_per_s", "bytes read"),
    ("io_written_bytes", "io_written_bytes_max_per_s", "bytes written"),
];

impl LimitedIo {
    /// The one of a run that came nearest to its limit; `None` where nothing is limited, or nothing was counted.
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

    /// Of what is allowed, the part that was done.
    pub fn share(&self) -> f64 {
        self.per_s / self.max_per_s
    }
}
