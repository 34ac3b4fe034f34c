//! What variants are compared by.

use record::Percentile;
use store::Unit;

use crate::durations::Durations;
use crate::figures::Figures;
use crate::system::whole;
use crate::units::{decimal, duration, mebibytes, percent_of, rate};
use crate::view::View;

/// A figure of a run by which variants are ranked.
pub(crate) struct Metric {
    /// Its name in plans and in the store.
    pub(crate) name: &'static str,
    /// How it is called in a sentence.
    words: &'static str,
    /// Of one run; `None` where there is nothing to say, or too little to say it.
    pub(crate) read: fn(&View<'_>) -> Option<f64>,
    /// The unit for programs, and how many of what `read` answers it is.
    pub(crate) unit: (&'static str, f64),
    /// The figure with its unit, for people.
    pub(crate) write: fn(f64) -> String,
    /// A percentile carries a verdict only with a hundred samples above it.
    percentile: Option<Percentile>,
}

const CPU_PER_REQUEST: &str = "CPU per request";
/// Every metric.
const METRICS: &[Metric] = &[
    Metric {
        name: "throughput",
        words: "throughput",
        read: |view| view.whole.ok_per_s(),
        unit: ("per_s", 1.0),
        write: |per_s| format!("{}/s", rate(per_s)),
        percentile: None,
    },
    time("mean", "mean response time", |view| view.whole.response.all.mean_ns, None),
    time("p50", "median response time", |view| response(view).at(Percentile::P50), Some(Percentile::P50)),
    time("p90", "p90 of response time", |view| response(view).at(Percentile::P90), Some(Percentile::P90)),
    time("p95", "p95 of response time", |view| response(view).at(Percentile::P95), Some(Percentile::P95)),
    time("p99", "p99 of response time", |view| response(view).at(Percentile::P99), Some(Percentile::P99)),
    time(
        "p99.9",
        "p99.9 of response time",
        |view| response(view).at(Percentile::P99_9),
        Some(Percentile::P99_9),
    ),
    time("max", "longest response time", |view| view.whole.response.all.max_ns, None),
    Metric {
        name: "errors",
        words: "share of errors",
        read: |view| error_share(&view.whole),
        unit: ("share", 1.0),
        write: percent_of,
        percentile: None,
    },
    Metric {
        name: "cpu-per-request",
        words: CPU_PER_REQUEST,
        read: |view| view.system_us_per_request(),
        unit: ("us", 1.0),
        write: |us| format!("{} µs", decimal(us, 1)),
        percentile: None,
    },
    Metric {
        name: "rss",
        words: "memory",
        read: |view| view.resources.as_ref()?.system.as_ref()?.rss_peak_bytes,
        unit: ("bytes", 1.0),
        write: |bytes| format!("{} MiB", mebibytes(whole(bytes))),
        percentile: None,
    },
];

const fn time(
    name: &'static str,
    words: &'static str,
    read: fn(&View<'_>) -> Option<f64>,
    percentile: Option<Percentile>,
) -> Metric {
    Metric { name, words, read, unit: ("us", 1e3), write: duration, percentile }
}

impl Metric {
    /// The metric of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        METRICS.iter().find(|metric| metric.name == name)
    }

    /// How it is called in a sentence about what was counted.
    pub(crate) fn words(&self, unit: Unit) -> &'static str {
        match (self.words, unit) {
            (CPU_PER_REQUEST, Unit::Transactions) => "CPU per transaction",
            (words, _) => words,
        }
    }

    /// The figure of a run, if it has samples enough for a verdict.
    pub(crate) fn judgeable(&self, view: &View<'_>) -> Option<f64> {
        let is_enough = |percentile: Percentile| percentile.is_judgeable(response(view).count);
        self.percentile.is_none_or(is_enough).then(|| (self.read)(view)).flatten()
    }
}

/// Requests that did not end ok, of those that ended.
pub(crate) fn error_share(figures: &Figures) -> Option<f64> {
    let samples = figures.samples();
    (samples > 0).then(|| figures.errors_counted() as f64 / samples as f64)
}

fn response<'a>(view: &'a View<'_>) -> &'a Durations {
    &view.whole.response.all
}
