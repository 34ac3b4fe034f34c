//! Every figure that can be asked of a run: by which variants are compared, and which a condition may bound. What a plan may name in
//! `compare`, what gates and `--slo` understand, and what reports and `tenbin compare` show derive from this one list.

use evidence::{Distorted, Unit};
use record::Percentile;

use crate::event_cost::EventSums;
use crate::kind::MetricKind;
use crate::measured::Measured;

/// A figure of a run.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name in plans, in conditions and in the store.
    pub name: &'static str,
    /// Words of other tools and of everyday use, for which errors suggest the name.
    pub synonyms: &'static [&'static str],
    /// How it is called in a sentence.
    pub(crate) words: &'static str,
    /// What kind of figure it is.
    pub kind: MetricKind,
    /// Whether the larger figure is the better one, where nothing else is laid down.
    pub higher_is_better: bool,
    /// How it is read.
    read: Read,
    /// Which figure a generator distorts if it distorts this one; `None` of those that count only where none is distorted.
    pub(crate) distorted: Option<Distorted>,
    /// Whether it depends on what happens seldom, so that a short run says nothing of it.
    pub is_rare: bool,
    /// Whether a condition may name it.
    pub is_bound: bool,
    /// Whether a condition on an event may name it.
    pub(crate) is_of_events: bool,
    /// How variants are compared by it, if it is what events cost.
    pub(crate) cost: Option<CostOfEvents>,
}

/// How variants are compared by what events cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CostOfEvents {
    /// Before the name of an event, or the word `events`.
    pub(crate) words: &'static str,
    /// Of a run, or of one of its events: nanoseconds, infinite if there is no end, or requests.
    pub(crate) read: fn(&EventSums) -> f64,
}

/// How a metric is read of a run, of a step of it, or of a part of its time. Times are in nanoseconds, CPU in microseconds.
#[derive(Clone, Copy, Debug)]
enum Read {
    /// A percentile of the response time.
    Percentile(Percentile),
    /// Anything else; `None` where there is nothing to say.
    Figure(fn(&Measured) -> Option<f64>),
}

const CPU_PER_REQUEST: &str = "CPU per request";
/// The limit of errors for a run without a condition on errors.
pub(crate) const ERRORS: &str = "errors";

/// Every metric.
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

/// Names of the metrics by which variants can be compared: all.
pub const COMPARED: &[&str] = &names();

const fn names() -> [&'static str; METRICS.len()] {
    let (mut names, mut at) = ([""; METRICS.len()], 0);
    while at < METRICS.len() {
        names[at] = METRICS[at].name;
        at += 1;
    }
    names
}

/// One of a run that is better where it is lower, and that conditions may name.
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

/// The figure that a percentile is distorted with.
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
    /// Those that every run has, with events or without.
    pub fn of_runs() -> impl Iterator<Item = &'static Self> {
        METRICS.iter().filter(|metric| metric.cost.is_none())
    }

    /// The metric of this name; `None` if this version does not know it.
    pub fn named(name: &str) -> Option<&'static Self> {
        METRICS.iter().find(|metric| metric.name == name)
    }

    /// The one that decides where nothing else is laid down.
    pub const fn usual() -> &'static Self {
        &METRICS[0]
    }

    /// How it is called in a sentence about what was counted.
    pub fn words(&self, unit: Unit) -> &'static str {
        match (self.words, unit) {
            (CPU_PER_REQUEST, Unit::Transactions) => "CPU per transaction",
            (words, _) => words,
        }
    }

    /// The percentile of the response time that it is, if it is one.
    pub(crate) const fn percentile(&self) -> Option<Percentile> {
        match self.read {
            Read::Percentile(percentile) => Some(percentile),
            Read::Figure(_) => None,
        }
    }

    /// As conditions ask for it: a rate may be 0.
    pub(crate) fn read(&self, measured: &Measured) -> Option<f64> {
        match self.read {
            Read::Percentile(percentile) => measured.response.at(percentile),
            Read::Figure(read) => read(measured),
        }
    }

    /// The figure of a run, for people and for comparisons; `None` where there is nothing to say, or too little to say it.
    pub fn figure(&self, measured: &Measured) -> Option<f64> {
        self.read(measured).filter(|figure| self.kind != MetricKind::Rate || *figure > 0.0)
    }

    /// The same, if it has samples enough for a verdict: a percentile carries one only with a hundred samples above it.
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
    fn every_metric_has_a_name_of_its_own() {
        for (number, metric) in METRICS.iter().enumerate() {
            assert!(METRICS[..number].iter().all(|other| other.name != metric.name), "{}", metric.name);
        }
    }

    #[test]
    fn plans_name_what_can_be_compared() {
        assert!(METRICS.iter().map(|metric| &metric.name).eq(COMPARED));
        assert_eq!((Metric::named("speed"), Metric::usual().name), (None, "throughput"));
    }

    #[test]
    fn a_rate_of_nothing_is_a_figure_for_conditions_alone() {
        let window = crate::window::Window::of_seconds(3, record::InWindow::default());
        let measured = Measured { window, ..Measured::default() };
        let throughput = Metric::usual();
        assert_eq!((throughput.read(&measured), throughput.figure(&measured)), (Some(0.0), None));
    }
}
