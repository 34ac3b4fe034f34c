//! What the system itself refuses, and at once.

use super::evidence::Evidence;
use super::words::{cpu_in_brackets, percent};
use super::{Bottleneck, REFUSED, Rule, suspected};
use crate::causes::Resource;
use crate::words::duration;

/// Of the requests that ended.
const MOSTLY_REFUSED: f64 = 0.9;
/// Refusals that took less than this share of what good answers took were not waited for.
const AT_ONCE: f64 = 0.5;

impl Resource {
    /// A limit of the system's own on what may wait.
    pub const REQUEST_QUEUE: Self =
        Self::new("request_queue", "the system's own queue limit (503)").telling_errors();

    /// A limit of the system's own on requests.
    pub const RATE_LIMIT: Self =
        Self::new("rate_limit", "the system's own rate limit (429)").telling_errors();
}

pub(super) const HARDLY_ANYTHING_BUT_REFUSALS: Rule = Rule {
    finds: &[Resource::REQUEST_QUEUE, Resource::RATE_LIMIT],
    when: "90 % of the requests or more were answered 503, or 429, in less than half of the time of a good answer",
    why: "rejecting then uses processor time, and is not caused by its lack",
    find: hardly_anything_but_refusals,
};

/// Then processor time goes into refusing, and is no cause of it.
fn hardly_anything_but_refusals(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    refusals(evidence, MOSTLY_REFUSED)
}

pub(super) const SOME_REFUSALS: Rule = Rule {
    finds: &[Resource::REQUEST_QUEUE, Resource::RATE_LIMIT],
    when: "1 % of the requests or more were answered 503, or 429, in less than half of the time of a good answer",
    why: "what is rejected at once was not waited for. Slow rejections are time-outs of something else",
    find: some_refusals,
};

fn some_refusals(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    refusals(evidence, REFUSED)
}

/// What refuses this share of the requests or more at once.
fn refusals(evidence: &Evidence<'_>, share_min: f64) -> Option<Bottleneck> {
    let [refused_ns, ok_ns] = [evidence.together.rejected_ns?, evidence.together.ok_ns?];
    let status = [503, 429].into_iter().find(|status| evidence.share_of_status(*status) >= share_min)?;
    if refused_ns > AT_ONCE * ok_ns {
        return None;
    }
    let because = format!(
        "{} of the requests were answered {status} after {} on average, the good ones after {}{}",
        percent(evidence.share_of_status(status)),
        duration(refused_ns),
        duration(ok_ns),
        cpu_in_brackets(evidence)
    );
    match status {
        429 => suspected(Resource::RATE_LIMIT, because),
        _ => suspected(Resource::REQUEST_QUEUE, because),
    }
}
