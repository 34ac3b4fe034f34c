//! The generator as the bottleneck, by the causes of doubt of a run.

use super::cause::{Bottleneck, Scope, suspected};
use super::evidence::Evidence;
use super::{Coverage, Rule, Rung};
use crate::causes::Resource;

impl Resource {
    /// The generator.
    pub const GENERATOR: Self = Self::new("generator", "the generator")
        .next("give the generator a core of its own (--pin), more --threads, or another machine");
}

pub(super) const GENERATOR_LIMITED: Rule = Rule {
    finds: &[Resource::GENERATOR],
    when: "the run is in doubt for {limits}; for a configuration, in at least half of its runs",
    why: "these signals show that the generator could not send more. Signals of a late tail do not, and are no bottleneck",
    refuted_by: &[],
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: generator_limited,
};

/// Reports the generator if causes of doubt identify it as the limit in at least half of the runs.
fn generator_limited(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let (sentence, in_runs) = evidence.causes(|doubt| doubt.is_limit)?;
    let of_runs = match evidence.runs.len() {
        runs if in_runs == runs => String::new(),
        runs if in_runs * 2 >= runs => format!(" (in {in_runs} of {runs} runs)"),
        _ => return None,
    };
    Some(suspected(Resource::GENERATOR, Scope::Generator, format!("{sentence}{of_runs}")).first())
}
