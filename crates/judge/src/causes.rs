//! What a finding names: why a run is in doubt, and its likely bottleneck. Each stands in the file of the rule that finds it.
//! The store and JSON have it by its code, which never changes.

use evidence::{Cause, Distorted, Distortion, Level, Unit};

use crate::words::many;

/// Of doubts that put the generator in the place of the system.
pub(crate) const MEASURED_ITSELF: &str = "the generator may have measured itself";
/// Of doubts about the cores of the generator.
pub(crate) const NO_CORE: &str = "the generator waited for a core";

/// Why the numbers of a run are in doubt. `docs/validity.md` has its texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// As the store and JSON have it.
    pub code: &'static str,
    /// The words of an answer in one line, with `{units}` for what was counted; may be empty.
    pub(crate) words: &'static str,
    /// From where on a run is suspect.
    pub suspect: &'static str,
    /// From where on it is invalid.
    pub invalid: &'static str,
    /// What is looked at.
    pub looks_at: &'static str,
    /// The figures that it can distort.
    pub distorts: &'static [Distorted],
    /// Whether the generator, and not the system, is then what limited the run.
    pub is_limit: bool,
    /// Whether requests were sent late, or replies read late, and nothing else: that makes response times longer.
    pub is_lateness: bool,
}

impl Doubt {
    /// In a few words; `None` if its code says enough.
    pub fn words(&self, unit: Unit) -> Option<String> {
        (!self.words.is_empty()).then(|| self.words.replace("{units}", many(unit)))
    }

    /// A cause of it, of a run that it makes suspect or invalid by an amount that no reading tells.
    pub fn cause(&self, level: Level, sentence: String, remedy: String) -> Cause {
        let distorts = self.distorts.iter().map(|figure| Distortion::unsized_of(*figure, level)).collect();
        Cause { code: self.code.to_owned(), sentence, remedy, distorts }
    }
}

/// The likely bottleneck of a system. `docs/why.md` has the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// As JSON has it.
    pub code: &'static str,
    /// For people.
    pub words: &'static str,
    /// What to do next where a rule knows nothing better; may be empty.
    pub(crate) next: &'static str,
    /// Whether it is read of the machine that the load comes from.
    pub(crate) is_of_the_machine: bool,
    /// Whether it says itself what did not end ok.
    pub(crate) tells_errors: bool,
}

impl Resource {
    pub(crate) const fn new(code: &'static str, words: &'static str) -> Self {
        Self { code, words, next: "", is_of_the_machine: false, tells_errors: false }
    }

    pub(crate) const fn next(self, next: &'static str) -> Self {
        Self { next, ..self }
    }

    pub(crate) const fn of_the_machine(self) -> Self {
        Self { is_of_the_machine: true, ..self }
    }

    pub(crate) const fn telling_errors(self) -> Self {
        Self { tells_errors: true, ..self }
    }
}
