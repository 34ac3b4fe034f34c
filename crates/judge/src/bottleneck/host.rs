//! Processor time that other guests of the host took.

use super::evidence::Evidence;
use super::words::percent;
use super::{Bottleneck, suspected};
use crate::causes::Resource;

/// Taken by other guests of the host.
const STEAL: f64 = 0.05;

pub(super) fn cores_taken_by_the_host(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let steal = evidence.signal(|signals| signals.steal).filter(|share| *share >= STEAL)?;
    let because = format!("other guests of the host took {} of the machine's processor time", percent(steal));
    suspected(Resource::Steal, "the host of this machine", because)
}
