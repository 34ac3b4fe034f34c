//! What variants are compared by, and how it is written.

use store::Unit;

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
    /// The unit for programs, and how many of what [`Self::read`] answers it is.
    pub(crate) unit: (&'static str, f64),
    /// The figure with its unit, for people.
    pub(crate) write: fn(f64) -> String,
}

const CPU_PER_REQUEST: &str = "CPU per request";
/// Every metric.
const METRICS: &[Metric] = &[
    Metric {
        name: "throughput",
        words: "throughput",
        unit: ("per_s", 1.0),
        write: |per_s| format!("{}/s", rate(per_s)),
    },
    time("mean", "mean response time"),
    time("p50", "median response time"),
    time("p90", "p90 of response time"),
    time("p95", "p95 of response time"),
    time("p99", "p99 of response time"),
    time("p99.9", "p99.9 of response time"),
    time("max", "longest response time"),
    Metric { name: "errors", words: "share of errors", unit: ("share", 1.0), write: percent_of },
    Metric {
        name: "cpu-per-request",
        words: CPU_PER_REQUEST,
        unit: ("us", 1.0),
        write: |us| format!("{} µs", decimal(us, 1)),
    },
    Metric {
        name: "rss",
        words: "memory",
        unit: ("bytes", 1.0),
        write: |bytes| format!("{} MiB", mebibytes(whole(bytes))),
    },
];

const fn time(name: &'static str, words: &'static str) -> Metric {
    Metric { name, words, unit: ("us", 1e3), write: duration }
}

impl Metric {
    /// Every metric.
    pub(crate) fn all() -> &'static [Self] {
        METRICS
    }

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

    /// The figure of one run; `None` where there is nothing to say, or too little to say it.
    pub(crate) fn read(&self, view: &View<'_>) -> Option<f64> {
        (judge::Metric::named(self.name)?.read)(&view.measured)
    }

    /// Whether more of it is better, where nothing else is laid down.
    pub(crate) fn higher_is_better(&self) -> bool {
        judge::Metric::named(self.name).is_some_and(judge::Metric::higher_is_better)
    }

    /// What a run says in a block.
    pub(crate) fn seen(&self, view: &View<'_>) -> stats::Seen {
        let metric = judge::Metric::named(self.name);
        metric.map_or(stats::Seen::Missing, |metric| judge::seen(view.run, &view.measured, metric))
    }
}

/// Planned requests that the system did not serve, as a share.
pub(crate) fn error_share(figures: &Figures) -> Option<f64> {
    judge::rates::error_share(&figures.counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_can_be_read() {
        assert!(METRICS.iter().all(|metric| judge::Metric::named(metric.name).is_some()));
    }
}
