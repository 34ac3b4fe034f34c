//! A mistake in what was asked for, as it is printed: where, what, and what to do.

use std::fmt;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The flag or the part of the plan.
    pub place: String,
    /// What is wrong with it.
    pub what: String,
    /// What to do instead.
    pub help: String,
}

impl Fault {
    /// A mistake at a place.
    pub fn new(place: impl Into<String>, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into(), help: help.into() }
    }
}

/// What stands between an error and what to do about it, in every text for people.
const HELP: &str = "\n  help: ";

/// What is wrong, and what to do about it if the text of an error says so.
pub fn split_help(text: &str) -> (&str, Option<&str>) {
    text.split_once(HELP).map_or((text, None), |(what, help)| (what, Some(help)))
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}{HELP}{}", self.place, self.what, self.help)
    }
}
