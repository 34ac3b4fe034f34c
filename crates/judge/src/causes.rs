//! Codes and texts of findings: causes of doubt about a run, and resources that may be the bottleneck. Each is defined
//! in the file of its rule. The store and JSON record the code, which never changes.

use evidence::{Cause, Distorted, Distortion, Level, Unit};

use crate::words::many;

/// Text of doubts in which the generator may have been slower than the system.
pub(crate) const MEASURED_ITSELF: &str = "the generator may have measured itself";
/// Text of doubts about the generator's cores.
pub(crate) const NO_CORE: &str = "the generator waited for a core";

/// A cause of doubt about the figures of a run. Its texts are in `docs/validity.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// Code in the store and JSON.
    pub code: &'static str,
    /// Short description, with `{units}` for the unit that was counted; may be empty.
    pub(crate) words: &'static str,
    /// Threshold for a suspect run.
    pub suspect: &'static str,
    /// Threshold for an invalid run.
    pub invalid: &'static str,
    /// Signal that the rule examines.
    pub looks_at: &'static str,
    /// Figures that it can distort.
    pub distorts: &'static [Distorted],
    /// Whether the doubt shows that the generator limited the run instead of the system.
    pub is_limit: bool,
    /// Whether the doubt only means that requests were sent late, or replies read late, which lengthens response times.
    pub is_lateness: bool,
}

impl Doubt {
    /// Returns the short description; `None` if the code says enough.
    pub fn words(&self, unit: Unit) -> Option<String> {
        (!self.words.is_empty()).then(|| self.words.replace("{units}", many(unit)))
    }

    /// Creates a cause of doubt at `level`, for a distortion of unknown size.
    pub fn cause(&self, level: Level, sentence: String, remedy: String) -> Cause {
        let distorts =
            self.distorts.iter().map(|figure| Distortion::with_unknown_size(*figure, level)).collect();
        Cause { code: self.code.to_owned(), sentence, remedy, distorts }
    }
}

/// A resource that may be the bottleneck. Its rules are in `docs/why.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Code in JSON.
    pub code: &'static str,
    /// Name for people.
    pub words: &'static str,
    /// Default next step, for rules without a better one; may be empty.
    pub(crate) next: &'static str,
    /// Whether the resource is sampled on the generator's machine.
    pub(crate) is_of_the_machine: bool,
    /// Whether the sentence already covers failed requests.
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

    pub(crate) const fn with_error_share(self) -> Self {
        Self { tells_errors: true, ..self }
    }
}
