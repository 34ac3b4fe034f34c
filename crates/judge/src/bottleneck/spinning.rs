//! Threads that spin while they wait, and so use CPU time that no request needs.

use super::cause::{Bottleneck, Scope, suspected};
use super::evidence::{Evidence, RunEvidence};
use super::{Covers, Rule, Rung};
use crate::causes::Resource;
use crate::words::{decimal, duration, percent_of};

/// Largest ratio of p5 of the answers to the mean CPU time of a request.
const QUICK: f64 = 0.5;
/// Largest ratio of the fastest answer to the mean CPU time of a request.
const FASTEST: f64 = 0.3;
/// Smallest number of threads on a CPU.
const RUN: f64 = 0.6;
/// Smallest number of threads on a CPU or ready for one.
const READY_THREADS_MIN: f64 = 3.0;

impl Resource {
    /// Threads that spin while they wait for each other.
    pub const SPINNING: Self = Self::new("spinning", "threads that compute while they wait (a spinlock)")
        .next("profile the system (--profile) and look for a lock or a queue that spins, then let it sleep");
}

pub(super) const SPINNING_THREADS: Rule = Rule {
    finds: &[Resource::SPINNING],
    when: "one kind of request, three threads of a process or more that ran or were ready, and 5 % of the answers took less than half of the \
           CPU time that a request takes on average, the fastest less than 30 %",
    why: "a request that is answered by one thread takes at least its CPU time. The rest was computed while waiting",
    refuted_by: &[],
    rung: Rung::Arithmetic,
    covers: Covers::Runs,
    find: threads_that_spin,
};

fn threads_that_spin(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let is_one_kind = |run: &RunEvidence<'_>| run.run.new.steps.len() == 1;
    if !evidence.runs.iter().all(is_one_kind) || evidence.together.error_share() >= super::REFUSED {
        return None;
    }
    let all = evidence.workers();
    let workers = all.values().max_by(|a, b| a.computing().total_cmp(&b.computing()))?;
    let ran = workers.in_state("on_cpu");
    if ran < RUN || workers.computing() < READY_THREADS_MIN {
        return None;
    }
    let cpu_ns = ran / evidence.ended_per_s()? * 1e9;
    let quick_ns = evidence.pace(|pace| pace.quick_ns).filter(|ns| *ns <= QUICK * cpu_ns)?;
    let fastest_ns = evidence.pace(|pace| pace.fastest_ns).filter(|ns| *ns <= FASTEST * cpu_ns)?;
    let because = format!(
        "a request took {} of CPU time on average, but the fastest was answered in {}, and 5 % within {}: {} threads ran, and {} more were ready",
        duration(cpu_ns),
        duration(fastest_ns),
        duration(quick_ns),
        decimal(ran, 1),
        decimal(workers.in_state("runnable"), 1)
    );
    let against = format!(
        "requests that need different CPU time, of which {} or more need little, look the same",
        percent_of(0.05)
    );
    let cause = suspected(Resource::SPINNING, Scope::System, because).direct(Some(1.0)).without_share();
    Some(cause.against([against]))
}
