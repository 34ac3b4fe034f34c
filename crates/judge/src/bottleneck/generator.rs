//! The generator, and not the system, as its own signals judged.

use super::evidence::Evidence;
use super::{Bottleneck, suspected};

/// Its own signals have judged already.
pub(super) fn the_generator(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let causes = [
        "generator_cpu",
        "generator_bound",
        "wake_lag",
        "generator_lag",
        "generator_stalled",
        "throttled",
        "generator_fault",
        "internal",
    ];
    let (sentence, in_runs) = evidence.causes(&causes)?;
    let of_runs = match evidence.runs.len() {
        runs if in_runs == runs => String::new(),
        runs if in_runs * 2 >= runs => format!(" (in {in_runs} of {runs} runs)"),
        _ => return None,
    };
    suspected("generator", "the generator", format!("{sentence}{of_runs}"))
}
