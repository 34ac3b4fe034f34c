//! The generator, and not the system, as its own signals judged.

use super::evidence::Evidence;
use super::{Bottleneck, Rule, suspected};
use crate::causes::Resource;

impl Resource {
    /// The generator.
    pub const GENERATOR: Self = Self::new("generator", "the generator");
}

pub(super) const THE_GENERATOR: Rule = Rule {
    finds: &[Resource::GENERATOR],
    when: "the run is in doubt for {limits}; for a configuration, in at least half of its runs",
    why: "the generator's own signals come before everything else",
    find: the_generator,
};

/// Its own signals have judged already.
fn the_generator(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let (sentence, in_runs) = evidence.causes(|doubt| doubt.is_limit)?;
    let of_runs = match evidence.runs.len() {
        runs if in_runs == runs => String::new(),
        runs if in_runs * 2 >= runs => format!(" (in {in_runs} of {runs} runs)"),
        _ => return None,
    };
    suspected(Resource::GENERATOR, format!("{sentence}{of_runs}"))
}
