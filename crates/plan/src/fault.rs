//! Error in printed form: place, message, and help.

use std::fmt;

use judge::ConditionError;

use crate::file::near::nearest;

/// Error with its place and help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The flag, or the part of the plan.
    pub place: String,
    /// Message.
    pub what: String,
    /// Help: what to do instead.
    pub help: String,
}

impl Fault {
    /// Creates an error.
    pub fn new(place: impl Into<String>, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into(), help: help.into() }
    }

    /// Error in a condition of a flag. For an unknown metric, suggests one with a similar name.
    pub fn from_condition(flag: &str, error: &ConditionError) -> Self {
        let ConditionError { condition, part: (start, end), unknown, .. } = error;
        let meant = unknown
            .as_ref()
            .and_then(|unknown| nearest(&unknown.name, unknown.known.iter().map(String::as_str)));
        let corrected = meant.zip(condition.get(..*start).zip(condition.get(*end..)));
        let help = corrected.map_or_else(
            || error.help(),
            |(meant, (before, after))| format!("did you mean {meant}? write {before}{meant}{after}"),
        );
        Self::new(format!("{flag} {condition:?}"), &error.what, help)
    }
}

/// Separates message and help in every text for people.
const HELP: &str = "\n  help: ";

/// Splits a printed error into message and help. The help is `None` if the text has none.
pub fn split_help(text: &str) -> (&str, Option<&str>) {
    text.split_once(HELP).map_or((text, None), |(what, help)| (what, Some(help)))
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}{HELP}{}", self.place, self.what, self.help)
    }
}
