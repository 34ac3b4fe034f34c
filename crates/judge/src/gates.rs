//! Whether the gates of a study held: in every run that may be believed, of every setting.

use std::collections::BTreeMap;

use store::{GateResult, Run, Study};

use crate::setting::Setting;
use crate::standing::{Standing, standing};

/// What the gates of a study came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gates {
    /// Whether one was breached in a run that may be believed, or by a system that failed.
    pub is_breached: bool,
    /// Settings under a load without a single run that may be believed: nothing held for them.
    pub unjudged: Vec<(String, Setting)>,
}

impl Gates {
    /// Of a study; without gates nothing is breached, and nothing is asked of any setting.
    pub fn of(study: &Study) -> Self {
        if study.new.gates.is_empty() {
            return Self::default();
        }
        let has_failed = |run: &Run| run.ending.as_ref().is_some_and(|ending| ending.failure.is_some());
        let valid = || study.runs.iter().filter(|run| standing(run) == Standing::Valid);
        let is_breach = |gate: &GateResult| !gate.holds && is_told(study, gate);
        let is_breached =
            study.runs.iter().any(has_failed) || valid().flat_map(|run| run.gates()).any(is_breach);
        // Of a study that goes on, what has not been run yet may still hold.
        let is_over = study.ending.is_some();
        let mut settings: BTreeMap<(&str, Setting), bool> = BTreeMap::new();
        let planned = study.new.planned.iter().filter(|_| is_over);
        let run = study.runs.iter().filter_map(|run| run.new.place.as_ref()).map(|(_, place)| place);
        for place in planned.chain(run) {
            settings.entry((&place.load, Setting::of(place))).or_default();
        }
        for (_, place) in valid().filter_map(|run| run.new.place.as_ref()) {
            settings.insert((&place.load, Setting::of(place)), true);
        }
        let unjudged = settings.into_iter().filter(|(_, is_judged)| !is_judged);
        Self {
            is_breached,
            unjudged: unjudged.map(|((load, setting), _)| (load.to_owned(), setting)).collect(),
        }
    }

    /// Whether every gate held, in every run that may be believed, of every setting.
    pub fn held(&self) -> bool {
        !self.is_breached && self.unjudged.is_empty()
    }
}

/// What a short form has too few samples to tell is no breach of it.
fn is_told(study: &Study, gate: &GateResult) -> bool {
    gate.observed.is_some() || !study.new.is_quick
}
