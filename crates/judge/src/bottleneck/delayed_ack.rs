//! Answers in two writes: the second write waits until the client acknowledges the first (Nagle's algorithm and delayed
//! ACKs).

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::evidence::Evidence;
use super::little::REPLY_IN_PROGRESS;
use super::words::{cpu_in_brackets, percent};
use super::{Coverage, Rule, Rung};
use crate::causes::Resource;
use crate::words::duration;

/// Time for which Linux delays an ACK, plus measurement overhead, in nanoseconds.
const DELAY_NS: std::ops::RangeInclusive<f64> = 39e6..=50e6;
/// Min share of an answer's time after its first byte.
const TRANSFER_MIN_SHARE: f64 = 0.75;

impl Resource {
    /// A delayed ACK that an answer waits for.
    pub const DELAYED_ACK: Self =
        Self::new("delayed_ack", "delayed ACKs, which answers in several writes wait for")
            .next("set TCP_NODELAY on the system's connections, or write head and body of an answer at once");
}

/// Min share of requests in flight with an active session.
const ACTIVE_SESSION_MIN_SHARE: f64 = 0.5;

/// While an answer waits for an ACK, its database session is idle.
const IN_SESSIONS: Refutation = Refutation {
    when: "half of the requests in flight had a session of the database that was active",
    is_read: |evidence| {
        let active = evidence.signal(|signals| Some(signals.inside.as_ref()?.active));
        active
            .and_then(|active| evidence.in_flight_share(active))
            .is_some_and(|share| share >= ACTIVE_SESSION_MIN_SHARE)
    },
};

/// Description of the reading, shared by the rule and its refutation.
const DELAYED: &str = "p10 and p90 of the answers lie between 39 and 50 ms, and three quarters of that passed after the first byte";

/// Refutes causes that depend on load: each answer takes as long as a delayed ACK, for any number of users.
pub(super) const REPLIES_AWAIT_DELAYED_ACKS: Refutation = Refutation {
    when: DELAYED,
    is_read: |evidence| {
        let is_refuted =
            [REPLY_IN_PROGRESS, IN_SESSIONS].iter().any(|refutation| (refutation.is_read)(evidence));
        !is_refuted && delayed_acks(evidence).is_some()
    },
};

pub(super) const DELAYED_ACKS: Rule = Rule {
    finds: &[Resource::DELAYED_ACK],
    when: DELAYED,
    why: "Linux delays the ACK of a lone segment for 40 ms or little more. Without TCP_NODELAY the next small write waits for it",
    refuted_by: &[REPLY_IN_PROGRESS, IN_SESSIONS],
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: delayed_acks,
};

fn delayed_acks(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let place =
        |at: usize| evidence.pace(move |pace| Some(pace.ok_ns?[at])).filter(|ns| DELAY_NS.contains(ns));
    let (low, high) = (place(0)?, place(2)?);
    let share = evidence.transfer().filter(|share| *share >= TRANSFER_MIN_SHARE)?;
    let because = format!(
        "80 % of the answers took {} to {}, as long as Linux delays an ACK, and {} of that passed after the first byte{}",
        duration(low),
        duration(high),
        percent(share),
        cpu_in_brackets(evidence)
    );
    Some(suspected(Resource::DELAYED_ACK, Scope::System, because).direct(Some(share)))
}
