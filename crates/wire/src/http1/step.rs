//! Step of a scenario: its request, the checks of its reply, and the values to save.

use alloc::vec::Vec;

use super::capture::Capture;
use super::checks::Checks;
use super::known_heads::KnownHeads;
use super::template::Template;

/// Request of a scenario, with checks and captures.
#[derive(Clone, Debug)]
pub struct Step {
    /// Request to send.
    pub request: Template,
    /// Checks of the reply.
    pub checks: Checks,
    /// Values that are saved from a reply that passes the checks.
    pub captures: Vec<Capture>,
}

/// A step with facts about its replies that are computed once.
#[derive(Debug)]
pub(super) struct CompiledStep {
    pub(super) step: Step,
    /// Whether bodies must be kept while they arrive.
    pub(super) keeps_body: bool,
    /// Whether a reply can be rejected after its head passed the checks.
    pub(super) checks_body: bool,
    /// Whether error messages of rejected replies quote the beginning of the body.
    pub(super) quotes_body: bool,
    /// Max bytes of a body that are kept for the quotation.
    pub(super) quoted_bytes_max: usize,
    /// Number of the part of the first request, followed by the parts of the redirects. `None` if redirects are not followed.
    pub(super) first_part: Option<u16>,
    pub(super) known_heads: KnownHeads,
}

impl CompiledStep {
    pub(super) fn new(step: Step) -> Self {
        let keeps_body =
            step.checks.needs_body() || step.captures.iter().any(|capture| capture.from.is_in_body());
        let checks_body = keeps_body || step.checks.size.is_some() || !step.captures.is_empty();
        Self {
            step,
            keeps_body,
            checks_body,
            quotes_body: false,
            quoted_bytes_max: 0,
            first_part: None,
            known_heads: KnownHeads::new(),
        }
    }

    /// Whether equal heads have equal results, because no value is taken from them or compared with them.
    pub(super) fn has_equal_results(&self) -> bool {
        let Step { request, checks, captures } = &self.step;
        captures.is_empty()
            && checks.headers.is_empty()
            && request.origin().is_none()
            && request.cookies().is_none()
    }

    /// Whether only the status of a reply is checked.
    pub(super) fn checks_only_status(&self) -> bool {
        !self.checks_body && self.step.checks.headers.is_empty()
    }
}
