//! A mistake in what was asked for: where, what, and the way out.

use std::fmt;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The flag or the part of the plan.
    pub place: String,
    /// What is wrong with it.
    pub what: String,
    /// What to do instead.
    pub way_out: String,
}

impl Fault {
    /// A mistake at a place.
    pub fn new(place: impl Into<String>, what: impl Into<String>, way_out: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into(), way_out: way_out.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n  way out: {}", self.place, self.what, self.way_out)
    }
}
