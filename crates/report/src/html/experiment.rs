//! What an experiment changed, and what came of it, for the page: the figures of the terminal's table.

use super::document::{Experiment, Fact};
use super::table;
use crate::item;
use crate::study::{self, LoadView, StudyView};
use crate::text::harmless;

const TEXT_CHARACTERS_MAX: usize = 600;

/// The experiment that a study made under a load, if it made one.
pub(super) fn of_load(view: &StudyView<'_>, load: &LoadView<'_>) -> Option<Experiment> {
    let diagnosis = view.diagnosis.as_ref().filter(|diagnosis| diagnosis.load == load.name)?;
    let text = |text: &str| harmless(text, TEXT_CHARACTERS_MAX);
    let fact = |item::Fact { name, words, .. }| Fact { name, value: words };
    Some(Experiment {
        about: text(&diagnosis.setting.name()),
        table: table::of(study::experiment::table(diagnosis, text), &[]),
        facts: study::experiment::facts(diagnosis, text).into_iter().map(fact).collect(),
    })
}
