//! Processes stopped from outside: by SIGSTOP, a debugger, or the freezer of their control group.

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::evidence::Evidence;
use super::words::percent;
use super::{Coverage, Rule, Rung};
use crate::causes::Resource;
use crate::words::decimal;

/// Min share of time for which a process's request-carrying threads were stopped.
const STOPPED: f64 = 0.2;
/// Min mean number of threads that is not noise.
const THREADS_MIN: f64 = 0.5;
/// Min stopped share of time at which a process answers nothing.
const STOPPED_MIN_SHARE: f64 = 0.95;
/// Min share of planned requests that ended ok at which another process must have answered.
const ANSWERED_MIN_SHARE: f64 = 0.5;

impl Resource {
    /// Stopped processes of the system.
    pub const STOPPED: Self = Self::new("stopped", "stopped processes of the system").next(
        "find out who stops them: SIGSTOP, a debugger, a tool that limits CPU time by it (cpulimit), or a freezer (docker pause)",
    );
}

/// Another process answered, not the stopped one.
const OTHER_PROCESS_ANSWERED: Refutation = Refutation {
    when: "a process was stopped 95 % of the time, and half of the requests ended *ok*",
    is_read: |evidence| {
        let counts = &evidence.together.counts;
        let is_answered = counts.ok as f64 >= ANSWERED_MIN_SHARE * counts.planned as f64 && counts.ok > 0;
        is_answered && most_stopped(evidence).is_some_and(|(_, _, share)| share >= STOPPED_MIN_SHARE)
    },
};

pub(super) const PROCESSES: Rule = Rule {
    finds: &[Resource::STOPPED],
    when: "the threads of a process that can carry requests were stopped 20 % of the time",
    why: "nothing that it holds goes on meanwhile. Linux counts a thread as stopped that a signal, a debugger, or a freezer holds",
    refuted_by: &[OTHER_PROCESS_ANSWERED],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: processes,
};

/// Processes that were stopped from outside explain pauses of the system.
pub(super) const PROCESSES_STOPPED: Refutation =
    Refutation { when: PROCESSES.when, is_read: |evidence| processes(evidence).is_some() };

fn processes(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let (name, carrying, share) = most_stopped(evidence).filter(|(_, _, share)| *share >= STOPPED)?;
    let because = format!(
        "the {} threads of {name} were stopped {} of the time (SIGSTOP, a debugger, or a freezer)",
        decimal(carrying, 1),
        percent(share)
    );
    Some(suspected(Resource::STOPPED, Scope::Process(name), because).direct(Some(share)))
}

/// Returns the process stopped for the largest share of time, the number of its threads that can carry requests, and
/// that share. A thread that waits for a child or a signal carries none.
fn most_stopped(evidence: &Evidence<'_>) -> Option<(String, f64, f64)> {
    let shares = evidence.workers().into_iter().filter_map(|(name, workers)| {
        let carrying = workers.all() - workers.in_state("other");
        let share = workers.in_state("stopped") / carrying;
        (carrying >= THREADS_MIN).then_some((name, carrying, share))
    });
    shares.max_by(|one, other| one.2.total_cmp(&other.2))
}
