//! The queue of connections that wait to be accepted.

use record::class::CONNECT_BACKLOG_FULL;

use super::evidence::Evidence;
use super::{Bottleneck, FULL, suspected};
use crate::causes::Resource;
use crate::words::{count, decimal};

pub(super) fn a_queue_of_connections(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let queue = evidence.listen_queue().filter(|[waiting, limit]| *waiting >= FULL * limit);
    let dropped = evidence.sum(|signals| signals.listen_overflows).filter(|dropped| *dropped >= 1.0);
    let refused = evidence.together.errors.get(CONNECT_BACKLOG_FULL.name).copied().unwrap_or(0);
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
    suspected(Resource::ListenQueue, "the queue of connections", because)
}
