//! By what variants are compared: a metric of a run, or what its events cost.
//!
//! ```text
//! [event NAME: ]METRIC
//! ```

use evidence::{Compare, Distorted, Run, Unit};
use stats::{MinEffect, Scale};

use crate::event_cost::EventSums;
use crate::kind::MetricKind;
use crate::measured::Measured;
use crate::metric::Metric;

/// Before the name of an event, as in a condition.
const EVENT: &str = "event ";
const NAME_CHARACTERS_MAX: usize = 100;
/// Where the plan says nothing.
const TIME_NS: f64 = 20e6;
const REQUESTS: f64 = 1.0;

/// By what variants are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedBy {
    /// The metric.
    pub metric: &'static Metric,
    /// The event that it is about; `None`: all events of the run, or a metric that no event has.
    pub event: Option<String>,
}

impl ComparedBy {
    /// The smallest difference that matters where the plan says nothing, as a share.
    pub(crate) const SHARE: f64 = 0.03;

    /// A metric, of all events if it is of events.
    pub const fn of(metric: &'static Metric) -> Self {
        Self { metric, event: None }
    }

    /// The one of this name, such as `p99` or `event deploy: outage`; `None` if this version does not know it.
    pub fn named(text: &str) -> Option<Self> {
        let Some(of_event) = text.strip_prefix(EVENT) else { return Some(Self::of(Metric::named(text)?)) };
        let (event, metric) = of_event.rsplit_once(": ")?;
        let metric = Metric::named(metric).filter(|metric| metric.cost.is_some())?;
        can_be_named(event).then(|| Self { metric, event: Some(event.to_owned()) })
    }

    /// As plans, the store, and reports for programs write it.
    pub fn name(&self) -> String {
        match &self.event {
            None => self.metric.name.to_owned(),
            Some(event) => format!("{EVENT}{event}: {}", self.metric.name),
        }
    }

    /// How it is called in a sentence about what was counted. Needs no escaping.
    pub fn words(&self, unit: Unit) -> String {
        match &self.metric.cost {
            None => self.metric.words(unit).to_owned(),
            Some(cost) => format!("{} {}", cost.words, self.event.as_deref().unwrap_or("events")),
        }
    }

    /// Which figure a generator distorts if it distorts this one; `None` of those that count only where none is distorted.
    pub const fn distorted(&self) -> Option<Distorted> {
        self.metric.distorted
    }

    /// Whether it is what events cost.
    pub const fn is_of_events(&self) -> bool {
        self.metric.cost.is_some()
    }

    /// What events cost may be 0, so it is compared by difference.
    pub const fn scale(&self) -> Scale {
        if self.is_of_events() { Scale::Difference } else { Scale::Ratio }
    }

    /// The figure of a run, for people; `None` where there is nothing to say. A time without an end is infinite: the system was not back
    /// before the load, or the next event, took the possibility to see it.
    pub fn figure(&self, run: &Run, measured: &Measured) -> Option<f64> {
        let Some(cost) = &self.metric.cost else { return self.metric.figure(measured) };
        let sums = match &self.event {
            None => measured.events,
            Some(event) => EventSums::of_event(event, run),
        };
        sums.map(|sums| (cost.read)(&sums))
    }

    /// The same, if it has samples enough for a verdict.
    pub fn judgeable(&self, run: &Run, measured: &Measured) -> Option<f64> {
        if self.is_of_events() { self.figure(run, measured) } else { self.metric.judgeable(measured) }
    }

    /// Whether more of it is better, in a study that compares so.
    pub fn higher_is_better(&self, compare: &Compare) -> bool {
        if self.name() == compare.by { compare.higher_is_better } else { self.metric.higher_is_better }
    }

    /// What does not matter where the plan says nothing: a share, or a number in the unit that is read.
    pub const fn usual_min_effect(&self) -> MinEffect {
        match (self.scale(), self.metric.kind) {
            (Scale::Ratio, _) => MinEffect::share(Self::SHARE),
            (Scale::Difference, MetricKind::Count) => MinEffect::difference(REQUESTS),
            (Scale::Difference, _) => MinEffect::difference(TIME_NS),
        }
    }

    /// The size of a difference, in words: `20.0 ms`, `1 request`.
    pub fn sized(&self, size: f64) -> String {
        let words = self.metric.kind.writer()(size);
        match self.metric.kind {
            MetricKind::Count if size == 1.0 => format!("{words} request"),
            MetricKind::Count => format!("{words} requests"),
            _ => words,
        }
    }

    /// Whether one size says for both what does not matter.
    pub fn has_unit_of(&self, other: &Self) -> bool {
        let by_ratio = |by: &Self| by.scale() == Scale::Ratio;
        by_ratio(self) && by_ratio(other)
            || !by_ratio(self) && !by_ratio(other) && self.metric.kind == other.metric.kind
    }

    /// What does not matter, in a study that compares so: what the plan says, if it says it in a unit that fits.
    pub fn min_effect(&self, compare: &Compare) -> MinEffect {
        let is_said = Self::named(&compare.by).is_none_or(|by| self.has_unit_of(&by));
        let usual = self.usual_min_effect();
        if is_said { MinEffect { size: compare.matters, ..usual } } else { usual }
    }
}

/// Whether a comparison can name an event: its name stands in sentences as it is.
pub fn can_be_named(event: &str) -> bool {
    let is_plain = |character: char| character.is_alphanumeric() || "-_. ".contains(character);
    !event.is_empty() && event.chars().count() <= NAME_CHARACTERS_MAX && event.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_may_be_that_of_one_event() {
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
    fn what_matters_has_the_unit_of_the_metric() {
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
