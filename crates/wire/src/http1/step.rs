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

/// A step, and what its replies are looked at for: worked out once.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) step: Step,
    /// Whether bodies must be kept while they come.
    pub(super) keeps_body: bool,
    /// Whether a reply whose head is fine can still be refused.
    pub(super) judges_body: bool,
    /// Whether the words of a refusal quote the beginning of the body.
    pub(super) quotes_body: bool,
    /// Bytes of it that are looked at for that.
    pub(super) quoted_bytes_max: usize,
    /// The account of its first request, if redirects are followed; those of the redirects come after it.
    pub(super) first_part: Option<u16>,
}

impl Prepared {
    pub(super) fn new(step: Step) -> Self {
        let keeps_body =
            step.checks.need_body() || step.captures.iter().any(|capture| capture.from.is_in_body());
        let judges_body = keeps_body || step.checks.size.is_some() || !step.captures.is_empty();
        Self { step, keeps_body, judges_body, quotes_body: false, quoted_bytes_max: 0, first_part: None }
    }

    /// Whether a reply is held against its status alone.
    pub(super) fn expects_nothing(&self) -> bool {
        !self.judges_body && self.step.checks.headers.is_empty()
    }
}
