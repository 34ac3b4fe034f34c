//! The accept queue: connections that wait to be accepted.

use record::ErrorClass;

use super::cause::{Bottleneck, Scope, suspected};
use super::evidence::Evidence;
use super::{Coverage, LIMIT_REACHED_MIN_SHARE, Rule, Rung};
use crate::causes::Resource;
use crate::words::{count, decimal};

impl Resource {
    /// The accept queue.
    pub const LISTEN_QUEUE: Self = Self::new("listen_queue", "the listen queue")
        .next("find out why the system accepts so slowly; then raise its backlog and net.core.somaxconn");
}

pub(super) const ACCEPT_QUEUE: Rule = Rule {
    finds: &[Resource::LISTEN_QUEUE],
    when: "connections were dropped at a full queue while one of the system's was 95 % full, or a Unix socket turned connections away",
    why: "drops are counted for the whole machine, so a queue of the system must have been full, too",
    refuted_by: &[],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: accept_queue,
};

fn accept_queue(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let queue =
        evidence.listen_queue().filter(|[waiting, limit]| *waiting >= LIMIT_REACHED_MIN_SHARE * limit);
    let dropped = evidence.sum(|signals| signals.listen_overflows).filter(|dropped| *dropped >= 1.0);
    let refused = evidence.together.errors.get(&ErrorClass::ConnectBacklogFull.into()).copied().unwrap_or(0);
    let because = match (queue, dropped) {
        (Some([waiting, limit]), Some(dropped)) => format!(
            "{} of at most {} connections waited to be accepted, and {} were dropped at a full queue",
            decimal(waiting, 0),
            decimal(limit, 0),
            decimal(dropped, 0)
        ),
        _ if refused > 0 => format!("{} connections were turned away at a full queue", count(refused)),
        _ => return None,
    };
    Some(suspected(Resource::LISTEN_QUEUE, Scope::System, because).symptom())
}
