//! Processes of the plan that were not running.

use record::ErrorClass;

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::evidence::{CombinedFigures, Evidence, share};
use super::stopped::PROCESSES_STOPPED;
use super::words::percent;
use super::{Coverage, Rule, Rung};
use crate::causes::Resource;
use crate::words::{count, many};

/// Min share of seconds at whose end a process was not running.
const ABSENT_MIN_SHARE: f64 = 0.2;
/// Ratio of the error share to the share of seconds without the process, below which the process was not needed.
const ERROR_MIN_RATIO: f64 = 0.5;

impl Resource {
    /// A process that should answer is not running.
    pub const NOT_RUNNING: Self = Self::new("not_running", "a process of the system that was not running")
        .next("start the new process before the old one ends, or let another process answer meanwhile");
}

/// If few requests failed, the process was not needed.
const NOTHING_LOST: Refutation = Refutation {
    when: "the share of the planned requests that did not end *ok* is less than half of the share of these seconds",
    is_read: |evidence| {
        most_absent_process(evidence)
            .is_some_and(|(_, gone)| evidence.together.error_share() < ERROR_MIN_RATIO * gone)
    },
};

pub(super) const PROCESSES: Rule = Rule {
    finds: &[Resource::NOT_RUNNING],
    when: "a process of the plan was not there at the end of 20 % of the seconds",
    why: "it was stopped or killed, or it ended, and no other has taken its place yet",
    refuted_by: &[NOTHING_LOST],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: processes,
};

/// Min share of planned requests that found no connection.
const NO_CONNECTION_MIN_SHARE: f64 = 0.2;

/// A full queue implies a process that listens.
const QUEUE_FULL: Refutation = Refutation {
    when: "the machine dropped connections at a full queue",
    is_read: |evidence| {
        evidence.sum(|signals| signals.listen_overflows).is_some_and(|dropped| dropped >= 1.0)
    },
};

/// Applies only to seconds of an event. A whole run without a listener for a while is covered by the rules for pauses
/// and errors.
pub(super) const NO_LISTENER: Rule = Rule {
    finds: &[Resource::NOT_RUNNING],
    when: "20 % of the planned requests found no connection",
    why: "a process that begins is there before it listens",
    refuted_by: &[PROCESSES_STOPPED, QUEUE_FULL],
    rung: Rung::Kernel,
    covers: Coverage::Seconds,
    find: no_listener,
};

fn no_listener(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let CombinedFigures { errors, counts, unit, .. } = &evidence.together;
    let refused = errors.get(&ErrorClass::ConnectRefused.into()).copied().unwrap_or(0);
    let refused_share =
        Some(share(refused, counts.planned)).filter(|share| *share >= NO_CONNECTION_MIN_SHARE)?;
    let because = format!("nobody listened: {} {} found no connection", count(refused), many(*unit));
    let cause = suspected(Resource::NOT_RUNNING, Scope::System, because);
    Some(cause.direct(Some(refused_share)).without_share())
}

fn processes(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let (name, gone) = most_absent_process(evidence).filter(|(_, gone)| *gone >= ABSENT_MIN_SHARE)?;
    let because = format!("{name} had no process at the end of {} of the seconds", percent(gone));
    Some(suspected(Resource::NOT_RUNNING, Scope::Process(name), because).direct(Some(gone)))
}

/// Returns the process of the plan that was not running in most seconds, and the share of these seconds: the median
/// over all runs.
fn most_absent_process(evidence: &Evidence<'_>) -> Option<(String, f64)> {
    let signals = evidence.runs.iter().filter_map(|run| run.signals);
    let shares = signals.flat_map(|signals| signals.not_running.keys()).filter_map(|name| {
        let gone = evidence.signal(|signals| Some(signals.not_running.get(name).copied().unwrap_or(0.0)))?;
        Some((name.clone(), gone))
    });
    shares.max_by(|one, other| one.1.total_cmp(&other.1))
}
