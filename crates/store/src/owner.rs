//! What a row belongs to, for messages about damage.

use std::fmt::Display;

use evidence::{RunId, StudyId};

/// A run or a study, by its name.
pub(crate) trait Owner: Display {
    /// The word for people.
    const WORD: &str;
}

impl Owner for RunId {
    const WORD: &str = "run";
}

impl Owner for StudyId {
    const WORD: &str = "study";
}
