//! All metrics of a run: figures by which variants are compared, and figures that conditions may limit. The names in
//! `compare`, in gates and `--slo`, and in reports and `tenbin compare` derive from this list.

use evidence::{Bounds, Distorted, GeneratorEffect, Unit};
use record::Percentile;
use stats::Bounded;

use crate::event_cost::EventSums;
use crate::figure_bounds::{self, ResponseBounds};
use crate::kind::MetricKind;
use crate::measured::Measured;
use crate::scope::Scope;

/// A figure of a run.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Name in plans, in conditions, and in the store.
    pub name: &'static str,
    /// Words of other tools and of everyday use for which errors suggest the name.
    pub synonyms: &'static [&'static str],
    /// Name in a sentence.
    pub(crate) words: &'static str,
    /// Kind of the figure.
    pub kind: MetricKind,
    /// Whether higher values are better, unless a plan overrides it.
    pub higher_is_better: bool,
    /// Function that reads the figure.
    read: Read,
    /// Figure whose distortion by the generator also distorts this one. `None` for metrics that count only runs without
    /// any distortion.
    pub(crate) distorted: Option<Distorted>,
    /// Whether the metric depends on rare events, so that a short run says little about it.
    pub is_rare: bool,
    /// Whether a condition may use the metric.
    pub is_bound: bool,
    /// Whether a condition on an event may use the metric.
    pub(crate) is_of_events: bool,
    /// Comparison of variants by this cost of events; `None` if the metric is no cost of events.
    pub(crate) cost: Option<CostOfEvents>,
}

/// Comparison of variants by a cost of events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CostOfEvents {
    /// Words before the name of an event, or before the word `events`.
    pub(crate) words: &'static str,
    /// Reads the cost of a run's events, or of one event: a number of requests, or nanoseconds, infinite if the system did not
    /// recover.
    pub(crate) read: fn(&EventSums) -> f64,
}

/// Source of a metric's value in a run, a step, or a part of the time. Times are in nanoseconds, CPU times in
/// microseconds.
#[derive(Clone, Copy, Debug)]
enum Read {
    /// A percentile of the response time.
    Percentile(Percentile),
    /// Any other figure; `None` if there is none.
    Figure(fn(&Measured) -> Option<f64>),
}

const CPU_PER_REQUEST: &str = "CPU per request";
/// Metric of the default error limit, for a run without a condition on errors.
pub(crate) const ERRORS: &str = "errors";

/// All metrics.
pub const METRICS: &[Metric] = &[
    Metric {
        higher_is_better: true,
        distorted: Some(Distorted::Throughput),
        synonyms: &["rps", "qps", "tps", "http-reqs", "iterations"],
        ..metric("throughput", "throughput", MetricKind::Rate, |measured| Some(measured.window?.ok_per_s()))
    },
    Metric {
        distorted: Some(Distorted::Mean),
        synonyms: &["avg", "average"],
        ..metric("mean", "mean response time", MetricKind::Response, |measured| measured.response.mean_ns)
    },
    percentile("p50", "p50 response time", Percentile::P50),
    percentile("p90", "p90 response time", Percentile::P90),
    percentile("p95", "p95 response time", Percentile::P95),
    Metric {
        is_rare: true,
        synonyms: &["latency", "response-time", "p-99", "http-req-duration", "http-req-waiting"],
        ..percentile("p99", "p99 response time", Percentile::P99)
    },
    Metric { is_rare: true, ..percentile("p99.9", "p99.9 response time", Percentile::P99_9) },
    Metric {
        is_rare: true,
        is_of_events: true,
        distorted: Some(Distorted::Tail),
        ..metric("max", "max response time", MetricKind::Response, |measured| measured.response.max_ns)
    },
    Metric {
        is_of_events: true,
        synonyms: &["error-rate", "failures", "failed", "http-req-failed"],
        ..metric(ERRORS, "share of errors", MetricKind::Share, Measured::error_share)
    },
    Metric {
        is_bound: false,
        ..metric("cpu-per-request", CPU_PER_REQUEST, MetricKind::Cpu, Measured::system_us_per_request)
    },
    Metric {
        is_rare: true,
        synonyms: &["memory"],
        is_bound: false,
        ..metric("rss", "memory", MetricKind::Bytes, |measured| {
            measured.resources.as_ref()?.system.as_ref()?.rss_peak_bytes
        })
    },
    Metric {
        is_rare: true,
        is_of_events: true,
        cost: Some(CostOfEvents { words: "outage of", read: |sums| sums.outage_ns as f64 }),
        ..metric("outage", "longest outage", MetricKind::Time, |measured| {
            Some(measured.outage.as_ref()?.longest_s * 1e9)
        })
    },
    Metric {
        is_of_events: true,
        cost: Some(CostOfEvents { words: "requests lost to", read: |sums| sums.lost as f64 }),
        synonyms: &["lost-requests"],
        ..metric("lost", "requests lost to events", MetricKind::Count, |measured| {
            Some(measured.events?.lost as f64)
        })
    },
    Metric {
        is_of_events: true,
        cost: Some(CostOfEvents {
            words: "recovery from",
            read: |sums| sums.recovery_ns.map_or(f64::INFINITY, |ns| ns as f64),
        }),
        synonyms: &["recovered", "time-to-recover"],
        ..metric("recovery", "longest recovery from an event", MetricKind::Time, |measured| {
            Some(measured.events?.recovery_ns? as f64)
        })
    },
];

/// Names of the metrics by which variants can be compared: all metrics.
pub const COMPARED: &[&str] = &names();

const fn names() -> [&'static str; METRICS.len()] {
    let (mut names, mut at) = ([""; METRICS.len()], 0);
    while at < METRICS.len() {
        names[at] = METRICS[at].name;
        at += 1;
    }
    names
}

/// Creates a metric for which lower is better, and that conditions may use.
const fn metric(
    name: &'static str,
    words: &'static str,
    kind: MetricKind,
    read: fn(&Measured) -> Option<f64>,
) -> Metric {
    let read = Read::Figure(read);
    Metric {
        name,
        synonyms: &[],
        words,
        kind,
        read,
        distorted: None,
        higher_is_better: false,
        is_rare: false,
        is_bound: true,
        is_of_events: false,
        cost: None,
    }
}

const fn percentile(name: &'static str, words: &'static str, percentile: Percentile) -> Metric {
    Metric {
        read: Read::Percentile(percentile),
        distorted: Some(distorted(percentile)),
        ..metric(name, words, MetricKind::Response, |_| None)
    }
}

/// Returns the figure whose distortion by the generator also distorts a percentile.
pub(crate) const fn distorted(percentile: Percentile) -> Distorted {
    if percentile.ppm() > Percentile::P50.ppm() { Distorted::Tail } else { Distorted::Mean }
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Metric {}

impl Metric {
    /// Returns the metric of one kind of figures that a plan defines.
    pub(crate) const fn own(kind: MetricKind) -> Self {
        metric("figure", "figure", kind, |measured| measured.own_figure)
    }

    /// Returns the metrics that every run has, with or without events.
    pub fn of_runs() -> impl Iterator<Item = &'static Self> {
        METRICS.iter().filter(|metric| metric.cost.is_none())
    }

    /// Returns the metric with the given name; `None` if this version does not know it.
    pub fn named(name: &str) -> Option<&'static Self> {
        METRICS.iter().find(|metric| metric.name == name)
    }

    /// Returns whether the slices of a start give one figure over all their samples, because a single slice has too few
    /// in its tail.
    pub const fn is_of_merged_slices(&self) -> bool {
        self.is_rare && matches!(self.distorted, Some(Distorted::Tail))
    }

    /// Returns the percentile computed over all slices of a start. `None` if each slice has a figure of its own.
    pub(crate) fn percentile_of_merged_slices(&self) -> Option<Percentile> {
        self.is_of_merged_slices().then(|| self.percentile().unwrap_or(Percentile::MAX))
    }

    /// Returns the metric that decides comparisons by default.
    pub const fn usual() -> &'static Self {
        &METRICS[0]
    }

    /// Returns the name in a sentence about `unit`.
    pub fn words(&self, unit: Unit) -> &'static str {
        match (self.words, unit) {
            (CPU_PER_REQUEST, Unit::Transactions) => "CPU per transaction",
            (words, _) => words,
        }
    }

    /// Returns the percentile of the response time, if the metric is one.
    pub const fn percentile(&self) -> Option<Percentile> {
        match self.read {
            Read::Percentile(percentile) => Some(percentile),
            Read::Figure(_) => None,
        }
    }

    /// Returns the figure for conditions, for which a rate may be 0.
    pub(crate) fn read(&self, measured: &Measured) -> Option<f64> {
        match self.read {
            Read::Percentile(percentile) => measured.response.at(percentile),
            Read::Figure(read) => read(measured),
        }
    }

    /// Returns the bounds of a figure that was read from `scope`, by the generator's effect. `None` if the figure is
    /// not finite.
    pub(crate) fn bounds(
        &self,
        figure: f64,
        scope: &Scope,
        effect: Option<&GeneratorEffect>,
    ) -> Option<Bounds> {
        let response = effect.map(|effect| ResponseBounds::of(&scope.tally().response.all(), effect));
        self.bounds_by(figure, response.as_ref(), effect)
    }

    /// Returns the bounds of a figure, from those of the response times of its scope. Figures that the generator cannot
    /// affect are exact. `None` if the figure is not finite.
    fn bounds_by(
        &self,
        figure: f64,
        response: Option<&ResponseBounds>,
        effect: Option<&GeneratorEffect>,
    ) -> Option<Bounds> {
        match (self.distorted, self.read) {
            (None, _) => Bounds::exactly(figure),
            _ if effect.is_none() => Bounds::exactly(figure),
            (Some(_), Read::Percentile(of)) => response?.at(of),
            (Some(Distorted::Throughput), _) => figure_bounds::throughput(figure, effect),
            (Some(Distorted::Mean), _) => response?.mean,
            (Some(Distorted::Tail), _) => response?.max,
        }
    }

    /// Returns a figure of a run with its bounds by the generator's effect.
    pub(crate) fn within(
        &self,
        figure: f64,
        measured: &Measured,
        effect: Option<&GeneratorEffect>,
    ) -> Bounded {
        figure_bounds::bounded(figure, self.bounds_by(figure, measured.response_bounds.as_ref(), effect))
    }

    /// Returns the figure of a run, for people and for comparisons; `None` if there is none, or too few samples.
    pub fn figure(&self, measured: &Measured) -> Option<f64> {
        self.read(measured).filter(|figure| self.kind != MetricKind::Rate || *figure > 0.0)
    }

    /// Like [`Self::figure`], but `None` if there are too few samples for a verdict: a percentile needs a hundred samples above it.
    pub fn judgeable(&self, measured: &Measured) -> Option<f64> {
        let is_enough =
            self.percentile().is_none_or(|percentile| percentile.is_judgeable(measured.samples()));
        is_enough.then(|| self.figure(measured)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metric_names_are_unique() {
        for (number, metric) in METRICS.iter().enumerate() {
            assert!(METRICS[..number].iter().all(|other| other.name != metric.name), "{}", metric.name);
        }
    }

    #[test]
    fn all_metrics_can_be_compared() {
        assert!(METRICS.iter().map(|metric| &metric.name).eq(COMPARED));
        assert_eq!((Metric::named("speed"), Metric::usual().name), (None, "throughput"));
    }

    #[test]
    fn rate_of_zero_is_a_figure_only_for_conditions() {
        let window = crate::window::Window::of_seconds(3, record::WindowCounts::default());
        let measured = Measured { window, ..Measured::default() };
        let throughput = Metric::usual();
        assert_eq!((throughput.read(&measured), throughput.figure(&measured)), (Some(0.0), None));
    }
}
