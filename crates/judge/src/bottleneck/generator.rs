//! The generator, and not the system, as its own signals judged.

use super::evidence::Evidence;
use super::{Bottleneck, suspected};
use crate::causes::{Doubt, Resource};

/// Its own signals have judged already.
pub(super) fn the_generator(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let causes = [
        Doubt::GeneratorCpu,
        Doubt::GeneratorBound,
        Doubt::WakeLag,
        Doubt::GeneratorLag,
        Doubt::GeneratorStalled,
        Doubt::Throttled,
        Doubt::GeneratorFault,
        Doubt::Internal,
    ];
    let (sentence, in_runs) = evidence.causes(&causes)?;
    let of_runs = match evidence.runs.len() {
        runs if in_runs == runs => String::new(),
        runs if in_runs * 2 >= runs => format!(" (in {in_runs} of {runs} runs)"),
        _ => return None,
    };
    suspected(Resource::Generator, "the generator", format!("{sentence}{of_runs}"))
}
