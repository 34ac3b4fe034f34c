//! One step of a scenario: what is sent, what the reply must be, and what is kept of it.

use alloc::vec::Vec;

use super::capture::Capture;
use super::checks::Checks;
use super::template::Template;

/// One request of a scenario.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is sent.
    pub request: Template,
    /// What the reply is held against.
    pub checks: Checks,
    /// What is kept of a reply that holds.
    pub captures: Vec<Capture>,
}

impl Step {
    /// Whether bodies must be kept while they come.
    #[inline]
    pub(super) fn need_body(&self) -> bool {
        self.checks.need_body() || self.captures.iter().any(|capture| capture.from.is_in_body())
    }
}
