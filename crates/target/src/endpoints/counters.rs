//! `/counters`: replies with the target's own counters, for comparison with those of a load generator.

use super::{Endpoint, Work};
use crate::reply::Reply;
use crate::tally::Counters;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    path: "/counters",
    sentence: "Answers what was counted so far as JSON: connections, requests, replies by class of status. A target that was \
               started again has another instance. Asking is neither limited nor counted.",
    example: "/counters",
    methods: &["GET"],
    keys: &[],
    prepare: |_| Ok(Work::Counters),
};

/// Builds a reply with the counters on one line.
pub(crate) fn reply(counters: &Counters, instance: u64) -> Reply {
    let Counters {
        accepted,
        open,
        requests,
        bad_requests,
        replies,
        queue_rejected,
        rate_limited,
        inserts,
        ..
    } = *counters;
    let line = serde_json::json!({
        "instance": instance,
        "accepted": accepted,
        "open": open,
        "requests": requests,
        "bad_requests": bad_requests,
        "replies": replies,
        "queue_rejected": queue_rejected,
        "rate_limited": rate_limited,
        "inserts": inserts,
    });
    Reply::text(200, format!("{line}\n"))
}
