//! One core, because the system runs on no more at a time.

use super::evidence::Evidence;
use super::load::PAUSED;
use super::words::{cores_of, cpu_in_brackets, percent};
use super::{BUSY, Bottleneck, ROOMY, Rule, suspected};
use crate::causes::Resource;
use crate::words::decimal;

/// Cores of a system whose threads run in turns: one, and what runs next to them.
const IN_TURNS: std::ops::RangeInclusive<f64> = 0.9..=1.15;

impl Resource {
    /// One core.
    pub const ONE_CORE: Self = Self::new("one_core", "one core");
}

pub(super) const ONE_THREAD: Rule = Rule {
    finds: &[Resource::ONE_CORE],
    when: "the busiest thread of the system ran 90 % of the time",
    why: "more threads or processes could use other cores, that one cannot",
    find: one_thread,
};

fn one_thread(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let thread = evidence.signal(|signals| signals.busiest_thread).filter(|share| *share >= BUSY)?;
    let because = format!(
        "one of its threads ran {} of the time{}",
        percent(thread.min(1.0)),
        cpu_in_brackets(evidence)
    );
    suspected(Resource::ONE_CORE, because)
}

pub(super) const ONE_CORE: Rule = Rule {
    finds: &[Resource::ONE_CORE],
    when: "one core was 90 % busy, and the system used 0.75 cores or more",
    why: "it may use that core alone, or does",
    find: one_core,
};

/// Several threads on one core: the only one that they may use.
fn one_core(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let (name, busy) = evidence.busiest_core().filter(|(_, busy)| *busy >= BUSY)?;
    let cores = evidence.cores()?;
    let used = cores.system.filter(|used| *used >= ROOMY)?;
    let because = format!(
        "{name} was {} busy, and the system used {} of {}",
        percent(busy),
        decimal(used, 2),
        cores_of(cores.all)
    );
    suspected(Resource::ONE_CORE, because)
}

pub(super) const ONE_CORE_IN_TURNS: Rule = Rule {
    finds: &[Resource::ONE_CORE],
    when: "a process of the system, its children included, used 0.9 to 1.15 cores of several",
    why: "as if one thread or worker ran at a time, as under an interpreter's lock. Chance can look like it",
    find: one_core_in_turns,
};

/// Threads that run in turns use one core together, and wander over all of them.
fn one_core_in_turns(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let is_waited_for = evidence.users().is_none_or(|[users, waiting]| waiting >= PAUSED * users);
    let cores = evidence.cores().filter(|cores| cores.all > 1 && is_waited_for)?;
    let (name, used) = evidence.busiest_process().filter(|(_, used)| IN_TURNS.contains(used))?;
    let because = format!(
        "its process {name} used {} of {}, as if only one of its threads or workers could run at a time",
        decimal(used, 2),
        cores_of(cores.all)
    );
    suspected(Resource::ONE_CORE, because)
}
