//! Every figure that can be asked of a run: by which variants are compared, and which a condition may bound. What a plan may name in
//! `compare`, what gates and `--slo` understand, and what reports and `tenbin compare` show derive from this one list.

use record::Percentile;
use store::Unit;

use crate::measured::Measured;
use crate::slo::Figure;
use crate::words::{decimal, duration, mebibytes, percent_of, rate};

/// A figure of a run.
#[derive(Debug)]
pub struct Metric {
    /// Its name in plans, in conditions and in the store.
    pub name: &'static str,
    /// How it is called in a sentence.
    words: &'static str,
    /// The unit for programs, and how many of what [`Self::read`] answers it is.
    pub unit: (&'static str, f64),
    /// Whether the larger figure is the better one, where nothing else is laid down.
    pub higher_is_better: bool,
    /// Of one run; `None` where there is nothing to say, or too little to say it. Times are in nanoseconds, CPU in
    /// microseconds.
    pub read: fn(&Measured) -> Option<f64>,
    /// The figure with its unit, for people.
    pub write: fn(f64) -> String,
    /// What a condition that names it looks at; `None`: no condition can.
    pub figure: Option<Figure>,
    /// Whether variants can be compared by it.
    pub compares: bool,
}

const CPU_PER_REQUEST: &str = "CPU per request";

/// Every metric.
pub const METRICS: &[Metric] = &[
    Metric {
        name: "throughput",
        words: "throughput",
        unit: ("per_s", 1.0),
        higher_is_better: true,
        read: Measured::ok_per_s,
        write: |per_s| format!("{}/s", rate(per_s)),
        figure: Some(Figure::Throughput),
        compares: true,
    },
    time("mean", "mean response time", |measured| measured.response.mean_ns, Figure::Mean),
    percentile(
        "p50",
        "median response time",
        |measured| measured.response.at(Percentile::P50),
        Percentile::P50,
    ),
    percentile(
        "p90",
        "p90 of response time",
        |measured| measured.response.at(Percentile::P90),
        Percentile::P90,
    ),
    percentile(
        "p95",
        "p95 of response time",
        |measured| measured.response.at(Percentile::P95),
        Percentile::P95,
    ),
    percentile(
        "p99",
        "p99 of response time",
        |measured| measured.response.at(Percentile::P99),
        Percentile::P99,
    ),
    percentile(
        "p99.9",
        "p99.9 of response time",
        |measured| measured.response.at(Percentile::P99_9),
        Percentile::P99_9,
    ),
    time("max", "longest response time", |measured| measured.response.max_ns, Figure::Max),
    Metric {
        name: "errors",
        words: "share of errors",
        unit: ("share", 1.0),
        higher_is_better: false,
        read: Measured::error_share,
        write: percent_of,
        figure: Some(Figure::Errors),
        compares: true,
    },
    Metric {
        name: "cpu-per-request",
        words: CPU_PER_REQUEST,
        unit: ("us", 1.0),
        higher_is_better: false,
        read: Measured::system_us_per_request,
        write: |us| format!("{} µs", decimal(us, 1)),
        figure: None,
        compares: true,
    },
    Metric {
        name: "rss",
        words: "memory",
        unit: ("bytes", 1.0),
        higher_is_better: false,
        read: |measured| measured.resources.as_ref()?.system.as_ref()?.rss_peak_bytes,
        write: |bytes| format!("{} MiB", mebibytes(bytes.clamp(0.0, u64::MAX as f64) as u64)),
        figure: None,
        compares: true,
    },
    Metric {
        compares: false,
        ..time(
            "outage",
            "longest outage",
            |measured| Some(measured.outage.as_ref()?.longest_s * 1e9),
            Figure::Outage,
        )
    },
];

/// Names of the metrics by which variants can be compared.
pub const COMPARED: &[&str] = &names_compared();

const fn names_compared() -> [&'static str; count_compared()] {
    let (mut names, mut at, mut next) = ([""; count_compared()], 0, 0);
    while at < METRICS.len() {
        if METRICS[at].compares {
            names[next] = METRICS[at].name;
            next += 1;
        }
        at += 1;
    }
    names
}

const fn count_compared() -> usize {
    let (mut count, mut at) = (0, 0);
    while at < METRICS.len() {
        count += METRICS[at].compares as usize;
        at += 1;
    }
    count
}

const fn time(
    name: &'static str,
    words: &'static str,
    read: fn(&Measured) -> Option<f64>,
    figure: Figure,
) -> Metric {
    Metric {
        name,
        words,
        unit: ("us", 1e3),
        higher_is_better: false,
        read,
        write: duration,
        figure: Some(figure),
        compares: true,
    }
}

const fn percentile(
    name: &'static str,
    words: &'static str,
    read: fn(&Measured) -> Option<f64>,
    percentile: Percentile,
) -> Metric {
    time(name, words, read, Figure::Percentile(percentile))
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Metric {
    /// Those by which variants can be compared.
    pub fn compared() -> impl Iterator<Item = &'static Self> {
        METRICS.iter().filter(|metric| metric.compares)
    }

    /// The metric of this name by which variants can be compared; `None` if this version does not know it.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::compared().find(|metric| metric.name == name)
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

    /// The figure of a run, if it has samples enough for a verdict: a percentile carries one only with a hundred samples above it.
    pub fn judgeable(&self, measured: &Measured) -> Option<f64> {
        let is_enough = match self.figure {
            Some(Figure::Percentile(percentile)) => percentile.is_judgeable(measured.samples()),
            _ => true,
        };
        is_enough.then(|| (self.read)(measured)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::Condition;

    #[test]
    fn every_metric_has_a_name_of_its_own_and_means_the_same_in_a_condition() {
        for (number, metric) in METRICS.iter().enumerate() {
            assert!(METRICS[..number].iter().all(|other| other.name != metric.name), "{}", metric.name);
        }
        for (condition, figure) in [
            ("throughput>1/s", Figure::Throughput),
            ("mean<1s", Figure::Mean),
            ("median<1s", Figure::Percentile(Percentile::P50)),
            ("p99.9<1s", Figure::Percentile(Percentile::P99_9)),
            ("max<1s", Figure::Max),
            ("errors<1%", Figure::Errors),
            ("outage<1s", Figure::Outage),
        ] {
            assert_eq!(Condition::parse(condition).unwrap().figure, figure, "{condition}");
        }
        assert!(Condition::parse("rss<1s").is_err(), "no condition reads it");
    }

    #[test]
    fn plans_name_what_can_be_compared() {
        assert_eq!(
            COMPARED.join(" "),
            "throughput mean p50 p90 p95 p99 p99.9 max errors cpu-per-request rss"
        );
        assert_eq!(Metric::named("outage"), None);
        assert_eq!(Metric::usual().name, "throughput");
    }
}
