//! The metric by which variants are compared: a metric of a run, or the cost of its events.
//!
//! ```text
//! [event NAME: ]METRIC
//! ```
//!
//! or a figure that the plan defines itself ([`OwnFigure`]), or a physical cost: `cost wal_bytes`.

use evidence::{Compare, Distorted, Run, Unit};
use stats::{Bounded, MinEffect, Scale};

use crate::event_cost::EventSums;
use crate::kind::MetricKind;
use crate::measured::Measured;
use crate::metric::Metric;
use crate::own_figure::{self, OwnFigure};
use crate::physical_cost::PhysicalCost;

/// Prefix of an event's name, as in a condition.
const EVENT: &str = "event ";
/// Prefix of a physical cost's name.
const COST: &str = "cost ";
const NAME_CHARACTERS_MAX: usize = 100;
/// Default smallest effect of times, in nanoseconds.
const TIME_NS: f64 = 20e6;
/// Default smallest effect of counts, in requests.
const REQUESTS: f64 = 1.0;

/// A metric by which variants are compared, of a run or of its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedBy {
    /// The metric.
    pub metric: &'static Metric,
    /// Event that the metric measures. `None` for all events of the run, or for a metric that does not measure events.
    pub event: Option<String>,
    /// Figure that the plan defines. `None` for metrics that every run has.
    pub own: Option<OwnFigure>,
    /// Physical cost. `None` for other metrics.
    pub cost: Option<&'static PhysicalCost>,
}

impl ComparedBy {
    /// Default smallest effect of ratios, as a share.
    pub(crate) const SHARE: f64 = 0.03;

    /// Creates the comparison by a metric; over all events, if the metric is about events.
    pub const fn of(metric: &'static Metric) -> Self {
        Self { metric, event: None, own: None, cost: None }
    }

    /// Creates the comparison by a physical cost.
    pub fn of_cost(cost: &'static PhysicalCost) -> Self {
        Self { cost: Some(cost), ..Self::of(own_figure::metric_of_cost(cost.unit)) }
    }

    /// Parses a name such as `p99` or `event deploy: outage`; `None` if this version does not know it.
    pub fn named(text: &str) -> Option<Self> {
        if let Some(own) = OwnFigure::parse(text) {
            return Some(Self { own: Some(own.clone()), ..Self::of(own.metric()) });
        }
        if let Some(cost) = text.strip_prefix(COST) {
            return PhysicalCost::named(cost).map(Self::of_cost);
        }
        let Some(of_event) = text.strip_prefix(EVENT) else { return Some(Self::of(Metric::named(text)?)) };
        let (event, metric) = of_event.rsplit_once(": ")?;
        let metric = Metric::named(metric).filter(|metric| metric.cost.is_some())?;
        can_be_named(event).then(|| Self { event: Some(event.to_owned()), ..Self::of(metric) })
    }

    /// Returns the name in plans, the store, and machine-readable reports.
    pub fn name(&self) -> String {
        if let Some(cost) = self.cost {
            return format!("{COST}{}", cost.name);
        }
        match (&self.own, &self.event) {
            (Some(own), _) => own.stored_name(),
            (None, None) => self.metric.name.to_owned(),
            (None, Some(event)) => format!("{EVENT}{event}: {}", self.metric.name),
        }
    }

    /// Returns the head of a column, without the name of an event. Needs no escaping.
    pub fn label(&self) -> String {
        match (self.cost, &self.own) {
            (Some(cost), _) => cost.words.to_owned(),
            (_, Some(own)) => own.label(),
            _ => self.metric.name.to_owned(),
        }
    }

    /// Returns the name in a sentence about `unit`. Needs no escaping.
    pub fn words(&self, unit: Unit) -> String {
        if let Some(cost) = self.cost {
            return cost.full_words(crate::words::one(unit));
        }
        if let Some(own) = &self.own {
            return own.label();
        }
        match &self.metric.cost {
            None => self.metric.words(unit).to_owned(),
            Some(cost) => format!("{} {}", cost.words, self.event.as_deref().unwrap_or("events")),
        }
    }

    /// Returns the figure whose distortion by the generator also distorts this one. `None` for metrics that count only
    /// runs without any distortion.
    pub const fn distorted(&self) -> Option<Distorted> {
        self.metric.distorted
    }

    /// Returns whether a run has one figure, read before and after it, and none for a part of it.
    pub const fn is_of_whole_run(&self) -> bool {
        self.own.is_some() || self.cost.is_some()
    }

    /// Returns whether the metric is a cost of events.
    pub const fn is_of_events(&self) -> bool {
        self.metric.cost.is_some()
    }

    /// Returns the scale of the comparison. Costs of events may be 0, so they are compared by difference.
    pub const fn scale(&self) -> Scale {
        if self.is_of_events() { Scale::Difference } else { Scale::Ratio }
    }

    /// Returns the figure of a run, for people; `None` if there is none. A recovery time without an end is infinite:
    /// the load ended, or the next event began, before the system recovered.
    pub fn figure(&self, run: &Run, measured: &Measured) -> Option<f64> {
        if let Some(own) = &self.own {
            return own.read(run);
        }
        if let Some(cost) = self.cost {
            let found = measured.costs.iter().find(|found| found.cost == cost);
            return found.map(|found| found.figure);
        }
        let Some(cost) = &self.metric.cost else { return self.metric.figure(measured) };
        let sums = match &self.event {
            None => measured.events,
            Some(event) => EventSums::of_event(event, run),
        };
        sums.map(|sums| (cost.read)(&sums))
    }

    /// Like [`Self::figure`], with the bounds by the generator's effect; `None` if there are too few samples for a verdict.
    pub fn judgeable(&self, run: &Run, measured: &Measured) -> Option<Bounded> {
        match (&self.own, self.cost) {
            // A ratio needs a value above 0.
            (Some(_), _) | (_, Some(_)) => {
                self.figure(run, measured).filter(|value| *value > 0.0).map(Bounded::exactly)
            }
            _ if self.is_of_events() => self.figure(run, measured).map(Bounded::exactly),
            _ => {
                let effect = run.generator_effect();
                self.metric.judgeable(measured).map(|figure| self.metric.within(figure, measured, effect))
            }
        }
    }

    /// Returns whether higher values are better, unless a study overrides it.
    pub fn higher_is_usually_better(&self) -> bool {
        self.own.as_ref().map_or(self.metric.higher_is_better, |own| own.higher_is_better)
    }

    /// Returns whether higher values are better in a study with the comparison `compare`.
    pub fn higher_is_better(&self, compare: &Compare) -> bool {
        if self.name() == compare.by { compare.higher_is_better } else { self.higher_is_usually_better() }
    }

    /// Returns the default smallest effect: a share, or a number in the unit of the metric.
    pub const fn usual_min_effect(&self) -> MinEffect {
        match (self.scale(), self.metric.kind) {
            (Scale::Ratio, _) => MinEffect::share(Self::SHARE),
            (Scale::Difference, MetricKind::Count) => MinEffect::difference(REQUESTS),
            (Scale::Difference, _) => MinEffect::difference(TIME_NS),
        }
    }

    /// Returns the size of a difference, in words: `20.0 ms`, `1 request`.
    pub fn sized(&self, size: f64) -> String {
        let words = self.metric.kind.writer()(size);
        match self.metric.kind {
            MetricKind::Count if size == 1.0 => format!("{words} request"),
            MetricKind::Count => format!("{words} requests"),
            _ => words,
        }
    }

    /// Returns whether one smallest effect can apply to both metrics.
    pub fn has_unit_of(&self, other: &Self) -> bool {
        let by_ratio = |by: &Self| by.scale() == Scale::Ratio;
        by_ratio(self) && by_ratio(other)
            || !by_ratio(self) && !by_ratio(other) && self.metric.kind == other.metric.kind
    }

    /// Returns the smallest effect in a study: that of the plan if its unit matches the metric, otherwise the default.
    pub fn min_effect(&self, compare: &Compare) -> MinEffect {
        let is_said = Self::named(&compare.by).is_none_or(|by| self.has_unit_of(&by));
        let usual = self.usual_min_effect();
        if is_said { MinEffect { size: compare.matters, ..usual } } else { usual }
    }
}

/// Returns whether a comparison can name an event. The name appears unescaped in sentences.
pub fn can_be_named(event: &str) -> bool {
    let is_plain = |character: char| character.is_alphanumeric() || "-_. ".contains(character);
    !event.is_empty() && event.chars().count() <= NAME_CHARACTERS_MAX && event.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_cost_of_a_single_event() {
        let by = |text: &str| ComparedBy::named(text);
        let outage = by("event deploy: outage").unwrap();
        assert_eq!(
            (outage.name().as_str(), outage.event.as_deref()),
            ("event deploy: outage", Some("deploy"))
        );
        assert_eq!(outage.words(Unit::Requests), "outage of deploy");
        assert_eq!(by("lost").unwrap().words(Unit::Requests), "requests lost to events");
        assert_eq!(by("p99").unwrap().words(Unit::Requests), "p99 response time");
        for unknown in [
            "event deploy: p99",
            "event deploy: errors",
            "event : lost",
            "event <b>: lost",
            "event lost",
            "deploy: lost",
        ] {
            assert_eq!(by(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn min_effect_has_the_unit_of_the_metric() {
        let by = |text: &str| ComparedBy::named(text).unwrap();
        let compare = |by: &str, matters: f64| Compare {
            by: by.to_owned(),
            higher_is_better: false,
            matters,
            blocks: 8,
            procedure: evidence::Procedure::Blocks,
            also: Vec::new(),
            baseline: None,
            within_s: None,
        };
        let in_outage = compare("event a: outage", 5e6);
        assert_eq!(by("event a: outage").min_effect(&in_outage), MinEffect::difference(5e6));
        assert_eq!(by("recovery").min_effect(&in_outage), MinEffect::difference(5e6), "a time too");
        assert_eq!(by("lost").min_effect(&in_outage), MinEffect::difference(1.0));
        assert_eq!(by("p99").min_effect(&in_outage), MinEffect::share(0.03));
        let in_p99 = compare("p99", 0.1);
        assert_eq!(by("throughput").min_effect(&in_p99), MinEffect::share(0.1));
        assert_eq!(by("outage").min_effect(&in_p99), MinEffect::difference(20e6));
    }
}
