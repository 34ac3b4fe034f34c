//! What the system itself refuses, and at once.

use super::evidence::Evidence;
use super::words::{cpu_in_brackets, percent};
use super::{Bottleneck, REFUSED, suspected};
use crate::causes::Resource;
use crate::words::duration;

/// Of the requests that ended.
const MOSTLY_REFUSED: f64 = 0.9;
/// What tells of errors itself.
pub(super) const REFUSALS: [Resource; 2] = [Resource::RequestQueue, Resource::RateLimit];
/// Refusals that took less than this share of what good answers took were not waited for.
const AT_ONCE: f64 = 0.5;

/// Then processor time goes into refusing, and is no cause of it.
pub(super) fn hardly_anything_but_refusals(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    refusals(evidence, MOSTLY_REFUSED)
}

pub(super) fn some_refusals(evidence: &Evidence<'_>) -> Option<Bottleneck> {
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
        429 => suspected(REFUSALS[1], "a limit of its own on requests (429)", because),
        _ => suspected(REFUSALS[0], "a limit of its own on what may wait (503)", because),
    }
}
