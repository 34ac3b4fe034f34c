//! Messages of an experiment while it runs.

use std::time::Duration;

use evidence::Changed;
use judge::diagnosis::EXPERIMENT_BLOCKS;
use plan::Study as Plan;

use super::{INTERVENTIONS_MAX, Subject};
use crate::procedure::setting;

/// Message if no variant has a run that counts.
pub(super) const NO_SUBJECT: &str =
    "no experiment: no valid run of a system that Tenbin starts, under a load without `stages`";
/// Message after a study with too few runs that count.
pub(super) const TOO_FEW_RUNS: &str = "no experiment: too many runs were invalid, failed, or had no figure to compare, so a change would show nothing";
/// Message if no intervention is possible.
pub(super) const NOTHING_TO_CHANGE: &str =
    "no experiment: nothing can be changed; use a load with `users`, or name parameters under `limits`";

/// Message about instrumented runs, in which runtimes and stores of the system report on themselves.
pub(super) const INSTRUMENTS: &str = "  instrumented: runtimes and stores of the system report what they do, in runs of their own; what that costs is measured";
/// Reason why no run is instrumented.
pub(super) const NO_INSTRUMENTS: &str = "instrumented runs, in which runtimes and stores report what they do: the time does not suffice; use a longer --why-within";

/// Returns messages about the subject, the length, and the predictions of an experiment.
pub(super) fn start_messages(
    plan: &Plan,
    subject: &Subject,
    changes: &[Changed],
    block: Duration,
) -> Vec<String> {
    let name = setting(plan, subject.variant).name();
    let under = if plan.loads.len() > 1 {
        format!(" under {}", plan.loads[subject.load].name)
    } else {
        String::new()
    };
    let suspected = subject.bottleneck.as_ref().map_or("not known", |bottleneck| bottleneck.what);
    let mut lines = vec![format!("experiment on {name}{under}; likely bottleneck: {suspected}")];
    if !changes.is_empty() {
        let runs = super::block_runs(changes).count();
        let seconds = (block * EXPERIMENT_BLOCKS).as_secs_f64();
        lines.push(format!(
            "{EXPERIMENT_BLOCKS} blocks of {runs} runs, about {:.1} min; predictions:",
            seconds / 60.0
        ));
    }
    lines.extend(changes.iter().map(|changed| format!("  {}: {}", changed.name, changed.prediction)));
    lines
}

/// Returns one message for each intervention that is not tested.
pub(super) fn untested_messages(left_out: &[String]) -> impl Iterator<Item = String> {
    left_out.iter().map(|why| format!("not tested: {why}"))
}

/// Returns a message about the other numbers of users. `None` if there are none.
pub(super) fn ladder(rungs: &[u32]) -> Option<String> {
    (!rungs.is_empty())
        .then(|| format!("  {} users, twice each: how throughput grows with them", listed(rungs)))
}

/// Returns the reason why no other numbers of users are tested: lack of time. `None` if there are none.
pub(super) fn no_ladder_message(rungs: &[u32]) -> Option<String> {
    (!rungs.is_empty())
        .then(|| format!("{} users: the time does not suffice; use a longer --why-within", listed(rungs)))
}

fn listed(rungs: &[u32]) -> String {
    let mut rungs = rungs.to_vec();
    rungs.sort_unstable();
    rungs.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns the reason why `changes` are not tested: lack of time. `None` if there are none.
pub(super) fn left(changes: &[Changed]) -> Option<String> {
    (!changes.is_empty())
        .then(|| format!("{}: the time does not suffice; use a longer --why-within", join_names(changes)))
}

/// Returns the reason why `changes` are not tested: each one takes a share of the error rate. `None` if there are none.
pub(super) fn too_many(changes: &[Changed]) -> Option<String> {
    (!changes.is_empty()).then(|| {
        format!(
            "{}: at most {INTERVENTIONS_MAX} changes share the error rate; shorten `limits`",
            join_names(changes)
        )
    })
}

/// Returns the messages about interventions that are dropped after `blocks` blocks. Empty if there are none.
pub(super) fn dropped(changes: &[Changed], blocks: u32) -> Vec<String> {
    if changes.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "out of time for {} after {blocks} of {EXPERIMENT_BLOCKS} blocks; use a longer --why-within",
        join_names(changes)
    )]
}

fn join_names(changes: &[Changed]) -> String {
    changes.iter().map(|changed| changed.name.as_str()).collect::<Vec<_>>().join(", ")
}
