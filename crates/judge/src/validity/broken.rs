//! Rules for failures of the generator or its machine, and for loads that could not continue.

use std::collections::BTreeSet;

use evidence::{Distorted, Level};
use record::ErrorClass;

use super::evidence::Evidence;
use super::words::{Finding, found, units};
use crate::causes::{Doubt, MEASURED_ITSELF};

impl Doubt {
    /// A thread of the generator died.
    pub const INTERNAL: Self = Self {
        code: "internal",
        words: MEASURED_ITSELF,
        suspect: "",
        invalid: "always",
        looks_at: "a thread of the generator died",
        distorts: &Distorted::ALL,
        is_limit: true,
        is_lateness: false,
    };

    /// The load could not continue.
    pub const HOPELESS: Self = Self {
        code: "hopeless",
        words: "the load could not continue",
        suspect: "",
        invalid: "always",
        looks_at: "the load could not continue: a script that divides by zero, a log-in that will be rejected each time, another load generator that fails",
        distorts: &Distorted::ALL,
        is_limit: false,
        is_lateness: false,
    };

    /// The machine of the generator ran out of ports, descriptors, or memory.
    pub const GENERATOR_FAULT: Self = Self {
        code: ErrorClass::GeneratorFault.name(),
        words: MEASURED_ITSELF,
        suspect: "",
        invalid: "one request",
        looks_at: "requests failed because this machine is out of ports, descriptors or memory; the error says which",
        distorts: &Distorted::ALL,
        is_limit: true,
        is_lateness: false,
    };
}

/// Reports threads of the generator that died.
pub(super) fn internal(evidence: &Evidence<'_>) -> Option<Finding> {
    let is_any = !evidence.broke.is_empty();
    is_any.then(|| {
        found(Level::Invalid, evidence.broke.join("; "), "report it with the command that led to it")
    })
}

/// Reports loads that ended because of their own script or log-in.
pub(super) fn hopeless(evidence: &Evidence<'_>) -> Option<Finding> {
    let remedy = match evidence.tool {
        Some(_) => "run its command by hand, and correct it in the plan",
        None => "correct the script, or what the log-in rests on, and run it again",
    };
    (!evidence.hopeless.is_empty()).then(|| found(Level::Invalid, evidence.hopeless.join("; "), remedy))
}

/// Reports requests that failed because the generator's machine ran out of a resource.
pub(super) fn generator_fault(evidence: &Evidence<'_>) -> Option<Finding> {
    let own: Vec<_> = evidence.tally.errors.of(ErrorClass::GeneratorFault).collect();
    let faults: u64 = own.iter().map(|entry| entry.count).sum();
    if faults == 0 {
        return None;
    }
    let what = own.iter().map(|entry| entry.message.to_string()).collect::<Vec<_>>().join("; ");
    let sentence = format!(
        "{faults} {} failed because this machine ran out of ports, descriptors or memory: {what}",
        units(evidence.planned)
    );
    let remedies: BTreeSet<&str> = own.iter().map(|entry| remedy(entry.code)).collect();
    let remedies = remedies.into_iter().collect::<Vec<_>>().join("; ");
    Some(found(Level::Invalid, sentence, remedies))
}

/// Returns the remedy for a Linux error number.
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
