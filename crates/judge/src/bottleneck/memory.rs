//! Memory of the machine.

use super::evidence::Evidence;
use super::words::percent;
use super::{Bottleneck, Rule, suspected};
use crate::causes::Resource;

/// Of the time, what some task waited for memory.
const MEMORY_PRESSURE: f64 = 0.1;
/// Of the seconds in which pages were swapped.
const SWAPPING: f64 = 0.5;

impl Resource {
    /// Memory of the machine.
    pub const MEMORY: Self = Self::new("memory", "memory").of_the_machine();
}

pub(super) const MEMORY: Rule = Rule {
    finds: &[Resource::MEMORY],
    when: "pages were swapped in half of the seconds, or something waited for memory 10 % of the time",
    why: "a machine that swaps occasionally is not out of memory",
    find: memory,
};

fn memory(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    if let Some(swapping) = evidence.signal(|signals| signals.swapping).filter(|share| *share >= SWAPPING) {
        let because = format!("pages were swapped in or out in {} of the seconds", percent(swapping));
        return suspected(Resource::MEMORY, because);
    }
    let waited =
        evidence.signal(|signals| signals.memory_pressure).filter(|share| *share >= MEMORY_PRESSURE)?;
    suspected(
        Resource::MEMORY,
        format!("something on the machine waited for memory {} of the time", percent(waited)),
    )
}
