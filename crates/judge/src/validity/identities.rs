//! Rules for identities: two counts of one quantity must agree, otherwise one of them is wrong.

use evidence::{Distorted, Level};
use record::ErrorClass;

use super::evidence::Evidence;
use super::words::{Finding, found, units};
use crate::causes::Doubt;
use crate::words;

/// Max relative difference of two counts of one quantity.
const DIFFERENCE_MAX_SHARE: f64 = 0.02;
/// Min total time in flight, in nanoseconds, at which rounding does not matter.
const IN_FLIGHT_MIN_NS: u64 = 10_000_000;

impl Doubt {
    /// Little's law is violated.
    pub const LITTLE: Self = Self {
        code: "little",
        words: "",
        suspect: "2 % off",
        invalid: "never",
        looks_at: "requests in flight × time against the sum of service times",
        distorts: &Distorted::ALL,
        is_limit: false,
        is_lateness: false,
    };

    /// Replies have more bytes than were read.
    pub const BYTES: Self = Self {
        code: "bytes",
        words: "",
        suspect: "more bytes in replies than were read",
        invalid: "never",
        looks_at: "",
        distorts: &Distorted::ALL,
        is_limit: false,
        is_lateness: false,
    };

    /// The target's count of requests does not match.
    pub const SERVER_COUNT: Self = Self {
        code: "server_count",
        words: "",
        suspect: "",
        invalid: "fewer than answered, or more than sent",
        looks_at: "what the built-in target counted itself",
        distorts: &Distorted::ALL,
        is_limit: false,
        is_lateness: false,
    };

    /// Replies arrived without a request.
    pub const UNSOLICITED_REPLIES: Self = Self {
        code: "unsolicited_replies",
        words: "",
        suspect: "one reply",
        invalid: "never",
        looks_at: "a connection had a reply that no request asked for, so that earlier replies on it are [in doubt](measurement.md#replies-out-of-turn)",
        distorts: &Distorted::ALL,
        is_limit: false,
        is_lateness: false,
    };
}

/// Checks Little's law: requests in flight × time equals the sum of service times.
pub(super) fn little(evidence: &Evidence<'_>) -> Option<Finding> {
    let ratio = evidence.little_ratio().filter(|_| evidence.in_flight_ns() >= IN_FLIGHT_MIN_NS)?;
    if (ratio - 1.0).abs() <= DIFFERENCE_MAX_SHARE {
        return None;
    }
    let sentence = format!(
        "requests in flight, counted by themselves, come to {} × throughput × service time; by Little's law it is 1",
        words::decimal(ratio, 3)
    );
    let remedy = "this is a fault of Tenbin: report it with the command that led to it";
    Some(found(Level::Suspect, sentence, remedy))
}

/// Checks that replies have no more bytes than were read from sockets.
pub(super) fn bytes(evidence: &Evidence<'_>) -> Option<Finding> {
    let (counted, received) = (evidence.reply_bytes(), evidence.tally.received_bytes);
    let is_compared = evidence.warm_up.sent == 0 && received > 0;
    if !is_compared || counted <= received {
        return None;
    }
    let sentence = format!("replies have {counted} bytes in all, and {received} bytes were read");
    let remedy = "this is a fault of Tenbin: report it with the command that led to it";
    Some(found(Level::Suspect, sentence, remedy))
}

/// Reports replies on connections that had an unsolicited reply. An earlier answer may have been counted for another
/// request.
pub(super) fn doubted_replies(evidence: &Evidence<'_>) -> Option<Finding> {
    let doubted: u64 = evidence.workers.iter().map(|worker| worker.doubted_replies).sum();
    let surplus: u64 = evidence.tally.errors.of(ErrorClass::UnsolicitedReply).map(|entry| entry.count).sum();
    if doubted == 0 {
        return None;
    }
    let sentence = format!(
        "{surplus} {} came that no request asked for: {doubted} earlier replies on the same connections may have answered other requests",
        if surplus == 1 { "reply" } else { "replies" }
    );
    let remedy = "find what sends a second reply to one request, such as a proxy that shares connections; until then \
                  do not trust response times or checks";
    Some(found(Level::Suspect, sentence, remedy))
}

/// Checks the count of the built-in target: at least the answered requests, at most the sent requests.
pub(super) fn server_count(evidence: &Evidence<'_>) -> Option<Finding> {
    // The number of requests in another tool's warm-up is unknown.
    let heard = evidence.environment.server_requests.filter(|_| evidence.tool.is_none())?;
    let counts = evidence.tally.counts;
    let sent = counts.sent + evidence.warm_up.sent;
    let answered = counts.ok + counts.rejected + evidence.warm_up.ok + evidence.warm_up.rejected;
    if (answered..=sent).contains(&heard) {
        return None;
    }
    let noun = units(evidence.planned);
    let sentence = if heard > sent {
        format!(
            "the target counted {heard} {noun}, and only {sent} were sent: another client loads it, or some were sent twice"
        )
    } else {
        format!("the target counted {heard} {noun}, and {answered} were answered: some answers are none")
    };
    let remedy =
        "stop other clients of the target; if there are none, report it with the command that led to it";
    Some(found(Level::Invalid, sentence, remedy))
}
