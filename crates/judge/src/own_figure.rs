//! Figures that a plan defines itself and reads with a command, a statement, or from an exporter: their names in plans
//! and in the store, their units, and their values in a run.
//!
//! ```text
//! figure NAME[ in UNIT][, higher]
//! ```
//!
//! Plans write `figure NAME`. The store has the whole form, so that a stored study can be read without its plan.

use evidence::Run;

use crate::kind::MetricKind;
use crate::metric::Metric;
use crate::physical_cost::CostUnit;
use crate::results::Spread;

/// Prefix of the name in `compare`, in conditions, and in the store.
const FIGURE: &str = "figure ";
const IN: &str = " in ";
const HIGHER: &str = ", higher";
/// Max length of a name and of a unit.
const CHARACTERS_MAX: usize = 40;
/// Key of the figures in the stored plan of a run.
pub const FIGURES_OF_PLAN: &str = "figures";
/// Subject of the readings of figures.
pub const FIGURE_SUBJECT: &str = "figure";
/// Label of the reading that is the value of the run. Readings during the load have the label [`FIGURE_EACH`].
pub const FIGURE_VALUE: &str = "value";
/// Label of readings before, during, and after the load.
pub const FIGURE_EACH: &str = "each";

/// Units with a meaning, their kinds, and their sizes in the internal unit. Any other word counts the things that it
/// names.
const UNITS: [(&str, &Metric, f64); 5] =
    [("bytes", &SIZE, 1.0), ("ns", &TIME, 1.0), ("us", &TIME, 1e3), ("ms", &TIME, 1e6), ("s", &TIME, 1e9)];

static NUMBER: Metric = Metric::own(MetricKind::Number);
static SIZE: Metric = Metric::own(MetricKind::Size);
static TIME: Metric = Metric::own(MetricKind::Time);

/// A figure that a plan defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnFigure {
    /// Name in the plan: letters, digits, `_`, `.`, and `-`.
    pub name: String,
    /// Unit as written; empty for a plain number.
    pub unit: String,
    /// Whether higher values are better.
    pub higher_is_better: bool,
}

impl OwnFigure {
    /// Parses `figure index_size in bytes`. `None` if the text is no figure of a plan.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(FIGURE)?;
        let (rest, higher_is_better) = match rest.strip_suffix(HIGHER) {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let (name, unit) = match rest.split_once(IN) {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (rest, ""),
        };
        (is_name(name) && (unit.is_empty() || is_unit(unit))).then(|| Self {
            name: name.to_owned(),
            unit: unit.to_owned(),
            higher_is_better,
        })
    }

    /// Returns the whole form, for the store.
    pub fn stored_name(&self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!("{IN}{}", self.unit) };
        format!("{FIGURE}{}{unit}{}", self.name, if self.higher_is_better { HIGHER } else { "" })
    }

    /// Returns the head of a column: the name, and a unit that the values do not show.
    pub fn label(&self) -> String {
        match UNITS.iter().any(|(unit, ..)| *unit == self.unit) || self.unit.is_empty() {
            true => self.name.clone(),
            false => format!("{} ({})", self.name, self.unit),
        }
    }

    /// Returns the metric of the figure's kind.
    pub fn metric(&self) -> &'static Metric {
        let known = UNITS.iter().find(|(unit, ..)| *unit == self.unit);
        known.map_or(&NUMBER, |(_, metric, _)| metric)
    }

    /// Returns the size of the unit in the internal unit: a number, bytes, or nanoseconds.
    pub fn unit_size(&self) -> f64 {
        UNITS.iter().find(|(unit, ..)| *unit == self.unit).map_or(1.0, |(.., size)| *size)
    }

    /// Returns the value of the figure in a run. `None` if it was not read.
    pub fn read(&self, run: &Run) -> Option<f64> {
        let is_it = |subject: &str, metric: &str, label: &str| {
            subject == FIGURE_SUBJECT && metric == self.name && label == FIGURE_VALUE
        };
        let found = run.readings().filter(|one| is_it(one.subject, one.metric, one.label)).last();
        found.map(|reading| reading.value)
    }

    /// Returns median and range over runs. `None` if no run has the figure.
    pub fn spread<'r>(&self, runs: impl Iterator<Item = &'r Run>) -> Option<Spread> {
        Spread::with_infinite(runs.filter_map(|run| self.read(run)))
    }

    /// Returns the figures that the plan of a run defines.
    pub fn of_run(run: &Run) -> Vec<Self> {
        let defined = run.new.plan_json.get(FIGURES_OF_PLAN).and_then(|figures| figures.as_array());
        let names = defined.into_iter().flatten().filter_map(|figure| figure.as_str());
        names.filter_map(Self::parse).collect()
    }
}

/// Returns the metric of a physical cost's kind.
pub(crate) fn metric_of_cost(unit: CostUnit) -> &'static Metric {
    match unit {
        CostUnit::Bytes => &SIZE,
        CostUnit::Count => &NUMBER,
    }
}

/// Returns the metric for a limit on a plan's figure, by the unit of the limit. The unit of the figure itself is not
/// known here.
pub(crate) fn metric_of_limit(limit: &str) -> &'static Metric {
    let is_of = |metric: &&&Metric| metric.kind.limit(limit).is_ok();
    [&NUMBER, &TIME, &SIZE].iter().find(is_of).map_or(&NUMBER, |metric| metric)
}

/// Returns whether the text is a valid figure name.
pub fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    text.len() <= CHARACTERS_MAX
        && text.bytes().next().is_some_and(|first| first.is_ascii_alphabetic())
        && text.bytes().all(is_plain)
}

/// Returns whether the text is a valid figure unit.
pub fn is_unit(text: &str) -> bool {
    let is_plain = |sign: char| sign.is_alphanumeric() || "_/%-".contains(sign);
    !text.is_empty() && text.chars().count() <= CHARACTERS_MAX && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_name_is_parsed_back() {
        for (text, unit, higher_is_better) in [
            ("figure queue", "", false),
            ("figure index_size in bytes", "bytes", false),
            ("figure hits in pages, higher", "pages", true),
            ("figure hits, higher", "", true),
        ] {
            let figure = OwnFigure::parse(text).expect(text);
            assert_eq!((figure.stored_name().as_str(), figure.unit.as_str()), (text, unit));
            assert_eq!(figure.higher_is_better, higher_is_better);
        }
        for wrong in
            ["queue", "figure ", "figure a b", "figure <b>", "figure 1", "figure a in <b>", "figure a in "]
        {
            assert_eq!(OwnFigure::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn unit_decides_how_values_are_written() {
        let written = |text: &str, value: f64| {
            let figure = OwnFigure::parse(text).expect(text);
            figure.metric().kind.writer()(value * figure.unit_size())
        };
        assert_eq!(written("figure a in bytes", 8192.0), "8.00 KiB");
        assert_eq!(written("figure a in s", 0.25), "250 ms");
        assert_eq!(written("figure a in pages", 1234.0), "1,234");
        assert_eq!(
            OwnFigure::parse("figure a in pages").map(|figure| figure.label()).as_deref(),
            Some("a (pages)")
        );
    }
}
