//! Sums that must agree, because they are one thing counted twice: where they do not, something was counted wrongly.

use evidence::{Distorted, Level};
use record::ErrorClass;

use super::evidence::Evidence;
use super::words::{Finding, found, percent, units};
use crate::causes::Doubt;

/// By how much two counts of one thing may differ.
const TOLERATED: f64 = 0.02;
/// Less time in flight than this is a matter of rounding.
const IN_FLIGHT_MIN_NS: u64 = 10_000_000;

impl Doubt {
    /// Little's law does not hold.
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

    /// More bytes in replies than were read.
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

    /// The target counted other requests than were sent.
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

    /// Replies came that no request asked for.
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

/// Little's law: requests in flight × time is the sum of service times.
pub(super) fn little(evidence: &Evidence<'_>) -> Option<Finding> {
    let ratio = evidence.little_ratio().filter(|_| evidence.in_flight_ns() >= IN_FLIGHT_MIN_NS)?;
    if (ratio - 1.0).abs() <= TOLERATED {
        return None;
    }
    let sentence = format!(
        "requests in flight, counted by themselves, come to {} of throughput times service time; by Little's law it is 100 %",
        percent(ratio)
    );
    let remedy = "this is a fault of Tenbin: report it with the command that led to it";
    Some(found(Level::Suspect, sentence, remedy))
}

/// Bytes of replies: no more than the sockets gave.
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

/// Replies on connections that had a reply too many: an answer may have been counted for another request than its own.
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

/// What the built-in target counted itself: at least what it answered, at most what was sent.
pub(super) fn server_count(evidence: &Evidence<'_>) -> Option<Finding> {
    // What a tool sends for its warm-up is known to nobody.
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
