//! Owner of a row, for messages about damage.

use std::fmt::Display;

use evidence::{RunId, StudyId};

/// A run or a study, displayed by its name.
pub(crate) trait Owner: Display {
    /// Noun for messages.
    const WORD: &str;
}

impl Owner for RunId {
    const WORD: &str = "run";
}

impl Owner for StudyId {
    const WORD: &str = "study";
}
