//! CPU time that other guests of the host took (steal).

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::evidence::Evidence;
use super::words::percent;
use super::{Coverage, Rule, Rung};
use crate::causes::Resource;

/// Min share of the machine's CPU time taken by other guests.
const STEAL: f64 = 0.05;
/// Min number of running or runnable threads of the system at which stolen cores matter.
const READY_THREADS_MIN: f64 = 0.5;

impl Resource {
    /// The host of this machine.
    pub const STEAL: Self = Self::new("steal", "the host of this machine")
        .of_the_machine()
        .next("measure on a machine with cores of its own");
}

pub(super) const STOLEN_CORES: Rule = Rule {
    finds: &[Resource::STEAL],
    when: "other guests of the host took 5 % of the processor time or more",
    why: "no configuration of the system can recover it",
    refuted_by: &[NO_CORE_WANTED],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: stolen_cores,
};

/// Stolen cores matter only to a system that could use them.
const NO_CORE_WANTED: Refutation = Refutation {
    when: "threads of the system ran or were ready for less than half a core",
    is_read: |evidence| {
        evidence.ran_and_waited().is_some_and(|[ran, waited]| ran + waited < READY_THREADS_MIN)
    },
};

fn stolen_cores(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let steal = evidence.signal(|signals| signals.steal).filter(|share| *share >= STEAL)?;
    let because = format!("other guests of the host took {} of the machine's processor time", percent(steal));
    Some(suspected(Resource::STEAL, Scope::Machine, because).indirect(Some(steal)))
}
