//! Formats figures in the sentences of bottlenecks.

use super::evidence::Evidence;
use crate::words::{self, decimal};

/// Returns ` (the system used 0.35 of 2 cores)`; empty if not sampled.
pub(super) fn cpu_in_brackets(evidence: &Evidence<'_>) -> String {
    let used = evidence.cores().and_then(|cores| Some((cores.system?, cores.all)));
    used.map_or_else(String::new, |(used, all)| {
        format!(" (the system used {} of {})", decimal(used, 2), cores_of(all))
    })
}

pub(super) fn cores_of(cores: usize) -> String {
    if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") }
}

pub(super) fn percent(share: f64) -> String {
    let decimals = usize::from(share < 0.1 || share > 0.99 && share < 1.0);
    words::percent(share, decimals)
}
