//! Findings of rules, and formatting of figures in their sentences.

use evidence::{Distortion, Level};

use crate::planned::Planned;
use crate::words;

/// A finding of a rule, with its level.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Finding {
    pub(super) level: Level,
    /// Description of the observation, with its figures.
    pub(super) sentence: String,
    /// Advice.
    pub(super) remedy: String,
    /// Possible distortions of figures; `None` if no reading gives their size.
    pub(super) distorts: Option<Vec<Distortion>>,
}

impl Finding {
    /// Sets the possible distortions, which determine the level.
    pub(super) fn distorting(self, distorts: Vec<Distortion>) -> Self {
        let level = distorts.iter().map(|distortion| distortion.level).max().unwrap_or_default();
        Self { level, distorts: Some(distorts), ..self }
    }
}

pub(super) fn found(level: Level, sentence: impl Into<String>, remedy: impl Into<String>) -> Finding {
    Finding { level, sentence: sentence.into(), remedy: remedy.into(), distorts: None }
}

/// Returns advice to give the generator a core of its own, if it has none yet.
pub(super) fn own_core(planned: &Planned) -> &'static str {
    match planned.is_pinned {
        false => {
            "give the generator a core of its own (--pin, or pin: auto in a plan), or use another machine"
        }
        true => {
            "the generator's threads are pinned already: keep other processes off their cores, ask for less load, or load from another machine"
        }
    }
}

/// Returns the name of the counted units.
pub(super) fn units(planned: &Planned) -> &'static str {
    let first = planned.units.first().copied().unwrap_or_default();
    match planned.units.iter().all(|unit| *unit == first) {
        true => first.name(),
        false => "requests and transactions",
    }
}

/// Formats a share: `12.3 %`.
pub(super) fn percent(share: f64) -> String {
    words::percent(share, 1)
}

/// Formats a rate: `80.0/s`.
pub(super) fn per_s(rate: f64) -> String {
    format!("{}/s", words::rate(rate))
}
