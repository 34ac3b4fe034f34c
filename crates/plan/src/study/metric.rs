//! The figures by which variants can be compared.

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Ok replies a second.
    Throughput,
    /// Mean response time.
    Mean,
    /// A percentile of the response time, in parts per million: 990 000 for p99.
    Percentile(u32),
    /// The longest response time.
    Max,
    /// The share of requests that were not ok.
    Errors,
    /// CPU time of the system for each request.
    CpuPerRequest,
    /// The largest memory of the system.
    Rss,
}

impl Metric {
    /// Every metric, with its name in a plan.
    pub const ALL: &[(&str, Self)] = &[
        ("throughput", Self::Throughput),
        ("mean", Self::Mean),
        ("p50", Self::Percentile(500_000)),
        ("p90", Self::Percentile(900_000)),
        ("p95", Self::Percentile(950_000)),
        ("p99", Self::Percentile(990_000)),
        ("p99.9", Self::Percentile(999_000)),
        ("max", Self::Max),
        ("errors", Self::Errors),
        ("cpu-per-request", Self::CpuPerRequest),
        ("rss", Self::Rss),
    ];

    /// Its name in a plan.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, metric)| *metric == self).map_or("percentile", |(name, _)| name)
    }

    /// The metric of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, metric)| *metric)
    }

    /// Whether more of it is better, unless a plan says otherwise.
    pub fn higher_is_better(self) -> bool {
        self == Self::Throughput
    }
}
