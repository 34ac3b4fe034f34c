//! What variants are compared by.

use record::Percentile;

use crate::measured::Measured;

/// A figure of a run by which variants are ranked.
#[derive(Debug)]
pub struct Metric {
    /// Its name in plans and in the store.
    pub name: &'static str,
    /// Of one run; `None` where there is nothing to say, or too little to say it. Times are in nanoseconds, CPU in
    /// microseconds.
    pub read: fn(&Measured) -> Option<f64>,
    /// A percentile carries a verdict only with a hundred samples above it.
    percentile: Option<Percentile>,
}

/// Every metric.
const METRICS: &[Metric] = &[
    other("throughput", Measured::ok_per_s),
    other("mean", |measured| measured.response.mean_ns),
    percentile("p50", |measured| measured.response.at(Percentile::P50), Percentile::P50),
    percentile("p90", |measured| measured.response.at(Percentile::P90), Percentile::P90),
    percentile("p95", |measured| measured.response.at(Percentile::P95), Percentile::P95),
    percentile("p99", |measured| measured.response.at(Percentile::P99), Percentile::P99),
    percentile("p99.9", |measured| measured.response.at(Percentile::P99_9), Percentile::P99_9),
    other("max", |measured| measured.response.max_ns),
    other("errors", Measured::error_share),
    other("cpu-per-request", Measured::system_us_per_request),
    other("rss", |measured| measured.resources.as_ref()?.system.as_ref()?.rss_peak_bytes),
];

const fn other(name: &'static str, read: fn(&Measured) -> Option<f64>) -> Metric {
    Metric { name, read, percentile: None }
}

const fn percentile(
    name: &'static str,
    read: fn(&Measured) -> Option<f64>,
    percentile: Percentile,
) -> Metric {
    Metric { name, read, percentile: Some(percentile) }
}

impl Metric {
    /// The metric of this name; `None` if this version does not know it.
    pub fn named(name: &str) -> Option<&'static Self> {
        METRICS.iter().find(|metric| metric.name == name)
    }

    /// Whether the larger figure is the better one, where nothing else is laid down.
    pub fn higher_is_better(&self) -> bool {
        self.name == "throughput"
    }

    /// The figure of a run, if it has samples enough for a verdict.
    pub fn judgeable(&self, measured: &Measured) -> Option<f64> {
        let is_enough = |percentile: Percentile| percentile.is_judgeable(measured.samples());
        self.percentile.is_none_or(is_enough).then(|| (self.read)(measured)).flatten()
    }
}
