//! The generator or its machine failed, or the load could not go on.

use std::collections::BTreeSet;

use record::class::GENERATOR_FAULT;
use store::Level;

use super::evidence::Evidence;
use super::words::{Found, found, units};
use crate::causes::Doubt;

/// Threads that died.
pub(super) fn internal(evidence: &Evidence<'_>) -> Vec<Found> {
    let died = evidence.broke.iter();
    died.map(|what| found(Level::Invalid, Doubt::Internal, what, "report it with the command that led to it"))
        .collect()
}

/// Loads that their own script or log-in ended.
pub(super) fn hopeless(evidence: &Evidence<'_>) -> Vec<Found> {
    let remedy = "correct the script, or what the log-in rests on, and run it again";
    evidence.hopeless.iter().map(|what| found(Level::Invalid, Doubt::Hopeless, what, remedy)).collect()
}

/// Requests that failed because this machine was out of something.
pub(super) fn generator_fault(evidence: &Evidence<'_>) -> Vec<Found> {
    let own: Vec<_> = evidence.tally.errors.of(&GENERATOR_FAULT).collect();
    let faults: u64 = own.iter().map(|entry| entry.count).sum();
    if faults == 0 {
        return Vec::new();
    }
    let what = own.iter().map(|entry| entry.message.to_string()).collect::<Vec<_>>().join("; ");
    let sentence = format!(
        "{faults} {} failed because this machine ran out of ports, descriptors or memory: {what}",
        units(evidence.planned)
    );
    let remedies: BTreeSet<&str> = own.iter().map(|entry| remedy(entry.code)).collect();
    let remedies = remedies.into_iter().collect::<Vec<_>>().join("; ");
    vec![found(Level::Invalid, Doubt::GeneratorFault, sentence, remedies)]
}

/// By the number of the error on Linux.
fn remedy(errno: u32) -> &'static str {
    match errno {
        23 | 24 => "use fewer connections, or raise the limit of open files (ulimit -n)",
        99 => {
            "use keep-alive or fewer connections, or widen the range of ports (sysctl net.ipv4.ip_local_port_range)"
        }
        12 | 105 => "use fewer connections, or give this machine more memory",
        _ => "use keep-alive or fewer connections",
    }
}
