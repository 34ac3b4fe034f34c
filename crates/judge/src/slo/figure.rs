//! Figures that a condition can limit.

use evidence::{Bounds, Distorted, GeneratorEffect};
use record::Percentile;

use crate::figure_bounds;
use crate::kind::MetricKind;
use crate::metric::{self, METRICS, Metric};
use crate::scope::Scope;

/// Min number of samples for a percentile in a single run of a search, where other runs can outvote it.
const SAMPLES_MIN: u64 = 10;
/// Min expected number of samples beyond a percentile in a single run of a search.
const BEYOND_MIN: f64 = 0.1;

/// A figure that a condition can limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Any percentile of the response time, in nanoseconds. Some percentiles are metrics.
    Percentile(Percentile),
    /// Any other metric.
    Metric(&'static Metric),
}

impl Figure {
    /// Finds the figure with the name of a metric; `None` if no condition can use it.
    pub fn named(name: &str) -> Option<Self> {
        let metric = Self::metrics().find(|metric| metric.name == name)?;
        Some(metric.percentile().map_or(Self::Metric(metric), Self::Percentile))
    }

    /// Returns the metrics that conditions can use.
    pub(crate) fn metrics() -> impl Iterator<Item = &'static Metric> {
        METRICS.iter().filter(|metric| metric.is_bound)
    }

    /// Returns the name in a condition.
    pub fn name(self) -> String {
        match self {
            Self::Percentile(percentile) => format!("p{}", f64::from(percentile.ppm()) / 10_000.0),
            Self::Metric(metric) => metric.name.to_owned(),
        }
    }

    /// Returns the name in a sentence.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Percentile(_) => self.name(),
            Self::Metric(metric) => format!("the {}", metric.words),
        }
    }

    /// Returns whether the figure is a duration that needs a whole run instead of a slice, such as an outage.
    pub fn needs_whole_run(self) -> bool {
        self.kind() == MetricKind::Time
    }

    /// Returns whether the figure lies in the tail of the response times, for which one slice has too few samples.
    pub fn is_of_tail(self) -> bool {
        match self {
            Self::Percentile(percentile) => percentile.ppm() > Percentile::P95.ppm(),
            Self::Metric(metric) => metric.is_of_merged_slices(),
        }
    }

    /// Returns the kind of the figure.
    pub const fn kind(self) -> MetricKind {
        match self {
            Self::Percentile(_) => MetricKind::Response,
            Self::Metric(metric) => metric.kind,
        }
    }

    /// Returns the figure whose distortion by the generator also distorts this one.
    pub(crate) const fn distorted(self) -> Option<Distorted> {
        match self {
            Self::Percentile(percentile) => Some(metric::distorted(percentile)),
            Self::Metric(metric) => metric.distorted,
        }
    }

    /// Returns whether a higher load lowers the figure.
    pub(crate) const fn higher_is_better(self) -> bool {
        matches!(self, Self::Metric(Metric { higher_is_better: true, .. }))
    }

    /// Returns the measured figure; `None` if there is none.
    pub(crate) fn observe(self, scope: &Scope) -> Option<f64> {
        match self {
            Self::Percentile(percentile) => {
                scope.tally().response.all().value_at(percentile).map(|ns| ns as f64)
            }
            Self::Metric(metric) => metric.read(scope.measured()),
        }
    }

    /// Returns the bounds of an observed figure by the generator's effect, without sampling error. `None` if the figure
    /// is not finite.
    pub(crate) fn bounds(
        self,
        observed: f64,
        scope: &Scope,
        effect: Option<&GeneratorEffect>,
    ) -> Option<Bounds> {
        match self {
            Self::Percentile(of) => figure_bounds::percentile(of, &scope.tally().response.all(), effect),
            Self::Metric(metric) => metric.bounds(observed, scope, effect),
        }
    }

    /// Like [`Self::observe`], but `None` if there are too few samples for a verdict: a percentile needs a hundred samples above it.
    pub(crate) fn judgeable(self, scope: &Scope) -> Option<f64> {
        let is_enough = match self {
            Self::Percentile(percentile) => percentile.is_judgeable(scope.tally().response.all().count()),
            Self::Metric(_) => true,
        };
        is_enough.then(|| self.observe(scope)).flatten()
    }

    /// Returns whether the measured figure counts in a run of a search although its bounds do not decide. Other runs
    /// outvote a run that is wrong by chance, so ten samples are enough, if a tenth of a sample is expected beyond a
    /// percentile. With so few samples, the rank is that of the slowest one, so chance fails a run more easily than it
    /// passes one.
    pub(super) fn is_rough_enough(self, scope: &Scope) -> bool {
        let Self::Percentile(percentile) = self else { return true };
        let samples = scope.tally().response.all().count();
        let beyond = samples as f64 * f64::from(1_000_000 - percentile.ppm()) / 1e6;
        samples >= SAMPLES_MIN && beyond >= BEYOND_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::Condition;
    use crate::window::Window;
    use evidence::Outage;
    use record::{Finish, Outcome, Tally, WindowCounts};

    fn tally(ok: u64, failed: u64, response_ns: u64) -> Tally {
        let mut tally = Tally::default();
        for number in 0..ok + failed {
            tally.note_sent(number);
            let outcome = if number < ok { Outcome::Ok } else { Outcome::Failed };
            let finished_ns = number + response_ns;
            tally.note_finished(&Finish {
                intended_ns: number,
                sent_ns: number,
                first_byte_ns: None,
                finished_ns,
                outcome,
                status: 0,
            });
        }
        tally
    }

    #[test]
    fn figures_are_those_of_all_samples() {
        let many = tally(9_990, 10, 1_000_000);
        let window = Window::of_seconds(10, WindowCounts { ok: 9_990, other: 10, ..WindowCounts::default() });
        let outage = Outage { longest_s: 0.5, ..Outage::default() };
        let observed = Scope::of_parts(many, window, Some(outage));
        let figure = |name: &str| Figure::named(name).unwrap().observe(&observed);
        let p99 = figure("p99").unwrap();
        assert!((p99 / 1e6 - 1.0).abs() < 0.001, "{p99}");
        assert_eq!(["errors", "throughput", "outage"].map(figure), [Some(0.001), Some(999.0), Some(5e8)]);
        let nothing = Scope::of_parts(Tally::default(), None, None);
        for metric in Figure::metrics() {
            assert_eq!(Figure::named(metric.name).unwrap().observe(&nothing), None, "{}", metric.name);
        }
    }

    #[test]
    fn conditions_use_the_metric_of_their_name() {
        let p50 = Figure::Percentile(Percentile::P50);
        for (condition, figure) in [("p99.9<1s", Figure::named("p99.9").unwrap()), ("median<1s", p50)] {
            assert_eq!(Condition::parse(condition).unwrap().figure, figure, "{condition}");
        }
        for metric in Figure::metrics().filter(|metric| metric.percentile().is_none()) {
            let sign = if metric.higher_is_better { '>' } else { '<' };
            let condition = format!("{}{sign}{}", metric.name, metric.kind.example());
            assert_eq!(Condition::parse(&condition).unwrap().figure, Figure::Metric(metric), "{condition}");
        }
        assert!(Condition::parse("rss<1s").is_err(), "no condition reads it");
    }
}
