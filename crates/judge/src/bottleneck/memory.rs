//! Memory of the machine, and of the system's control group.

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::evidence::Evidence;
use super::words::percent;
use super::{Coverage, Rule, Rung};
use crate::causes::Resource;
use crate::words::decimal;

/// Min share of time in which some task waited for memory.
const MEMORY_PRESSURE_MIN_SHARE: f64 = 0.1;
/// Min share of seconds in which pages were swapped.
const SWAPPING_MIN_SHARE: f64 = 0.5;
/// Min share of the system's memory that is swapped out at which swapping slows it down.
const SWAPPED_OUT_MIN_SHARE: f64 = 0.01;

/// Min share of seconds in which a control group reached its limit.
const LIMIT_MET_MIN_SHARE: f64 = 0.5;
/// Min number of refaulted pages per second (pages read again soon after eviction): 2 MiB.
const REFAULTS_MIN_PER_S: f64 = 512.0;

impl Resource {
    /// Memory limit of the system's control group.
    pub const MEMORY_LIMIT: Self = Self::new("memory_limit", "memory limit of the system")
        .next("raise the memory limit, or let the system use less memory");

    /// Memory of the machine.
    pub const MEMORY: Self = Self::new("memory", "memory")
        .of_the_machine()
        .next("use fewer workers, smaller caches, or a machine with more memory");
}

/// If no task waits and no page is swapped, memory is not short.
const NOTHING_WAITED: Refutation = Refutation {
    when: "no page was swapped, and something in its own control group, or else on the machine, waited for memory less than 10 % of the time",
    is_read: |evidence| {
        let is_below = |share: Option<f64>, limit| share.is_some_and(|share| share < limit);
        is_below(evidence.signal(|signals| signals.swapping), SWAPPING_MIN_SHARE)
            && is_below(evidence.memory_pressure().map(|waited| waited.share), MEMORY_PRESSURE_MIN_SHARE)
    },
};

pub(super) const LIMIT_OF_MEMORY: Rule = Rule {
    finds: &[Resource::MEMORY_LIMIT],
    when: "the control group of the system met its limit of memory, or had used 97 % of it, in half of the seconds, and 512 pages a \
           second had to be read again soon after they were dropped",
    why: "a group at its limit is full of files, which costs nothing until they are needed again",
    refuted_by: &[],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: limit_of_memory,
};

fn limit_of_memory(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let met = evidence
        .signal(|signals| signals.waits.memory_limit_met)
        .filter(|met| *met >= LIMIT_MET_MIN_SHARE)?;
    let pages = evidence.signal(|signals| signals.waits.refaulted_pages_per_s);
    let pages = pages.filter(|pages| *pages >= REFAULTS_MIN_PER_S)?;
    let because = format!(
        "its control group was at its limit of memory in {} of the seconds, and {} pages a second had to be read again soon after they \
         were dropped",
        percent(met),
        decimal(pages, 0)
    );
    // Threads sleep for refaulted pages, and wait while memory is reclaimed for them.
    let waited = evidence.memory_pressure().map_or(0.0, |waited| waited.share);
    let share = evidence.disk_sleep_share().max(waited);
    Some(suspected(Resource::MEMORY_LIMIT, Scope::ControlGroup, because).direct(Some(share)))
}

pub(super) const MEMORY: Rule = Rule {
    finds: &[Resource::MEMORY],
    when: "pages were swapped in half of the seconds, and 1 % of the system's memory was swapped out, if that was read; or something waited \
           for memory 10 % of the time",
    why: "a machine that swaps occasionally is not out of memory",
    refuted_by: &[NOTHING_WAITED],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: memory,
};

fn memory(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let swapped_out = evidence.signal(|signals| signals.swapped_out);
    // Pages of other processes may be swapped while all of the system's own memory is resident.
    let is_resident = swapped_out.is_some_and(|share| share < SWAPPED_OUT_MIN_SHARE);
    let swapping = evidence.signal(|signals| signals.swapping);
    if let Some(swapping) = swapping.filter(|share| *share >= SWAPPING_MIN_SHARE && !is_resident) {
        let because = format!("pages were swapped in or out in {} of the seconds", percent(swapping));
        let own =
            swapped_out.map(|share| format!("{} of the system's memory was swapped out", percent(share)));
        return Some(suspected(Resource::MEMORY, Scope::Machine, because).and(own));
    }
    let waited = evidence.memory_pressure().filter(|waited| waited.share >= MEMORY_PRESSURE_MIN_SHARE)?;
    let cause =
        suspected(Resource::MEMORY, Scope::Machine, format!("{} of the time", waited.words("memory")));
    Some(cause.indirect(Some(waited.share)))
}
