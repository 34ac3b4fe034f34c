//! Rules for loads that were not sent as planned, with the reason, which is rarely the generator.

use evidence::{Distorted, Level};
use record::Counts;

use super::evidence::Evidence;
use super::words::{Finding, found, own_core, per_s, percent, units};
use crate::causes::Doubt;
use crate::planned::{Offered, Planned};
use crate::words::{Share, duration};

/// Max share of planned requests that may be unsent.
const NOT_SENT_SHARE_MAX: f64 = 0.001;
/// Min busy share of connections that leave no room for more requests.
const CONNECTIONS_BUSY_MIN_SHARE: f64 = 0.7;
/// Min share of failed requests among those sent at which errors explain the state of the connections.
const ERRORS_MIN_SHARE: f64 = 0.01;
/// Min share of the generator's own delay in the total send delay at which the generator is the cause.
const OWN_DELAY_MIN_SHARE: f64 = 0.5;
/// Headroom over the mean number of connections needed, because requests come in bursts.
const BURST_HEADROOM: f64 = 1.3;

impl Doubt {
    /// Planned requests were never sent.
    pub const NOT_SENT: Self = Self {
        code: "not_sent",
        words: "{units} were not sent",
        suspect: "",
        invalid: "0.1 % of the planned requests, and the run was not interrupted",
        looks_at: "the plan was not kept; the sentence says why",
        distorts: &Distorted::ALL,
        is_limit: false,
        is_lateness: false,
    };

    /// No request was due in the measured time.
    pub const NOTHING_PLANNED: Self = Self {
        code: "nothing_planned",
        words: "",
        suspect: "",
        invalid: "always",
        looks_at: "the load ended before its first request was due, and the run was not interrupted",
        distorts: &Distorted::ALL,
        is_limit: false,
        is_lateness: false,
    };
}

/// Reports planned requests that were never sent.
pub(super) fn not_sent(evidence: &Evidence<'_>) -> Option<Finding> {
    let counts = evidence.tally.counts;
    let not_sent = counts.not_sent as f64 - due_at_the_end(evidence)?;
    // Stopping a run also drops the requests that were due.
    if evidence.was_stopped || not_sent <= counts.planned as f64 * NOT_SENT_SHARE_MAX {
        return None;
    }
    // No requests can be sent to an unavailable system. This is a result of the system, and casts no doubt on the
    // figures.
    let is_expected = (evidence.planned.is_trial || evidence.was_unavailable) && !is_own(evidence);
    let (why, remedy) = match evidence.planned.offered {
        Offered::Closed { users, pool } => shared(evidence, users, pool),
        Offered::Open { connections, .. } => match late_skip_advice(evidence) {
            Some(why) => why,
            None if is_own(evidence) => own_delay_advice(evidence.planned),
            None => busy(evidence, connections),
        },
    };
    let sentence = format!(
        "{} of {} planned {} ({}) were not sent: {why}",
        counts.not_sent,
        counts.planned,
        units(evidence.planned),
        Share::of_count(counts.not_sent, counts.planned)
            .map_or_else(String::new, |share| percent(share.get()))
    );
    let level = if is_expected { Level::Suspect } else { Level::Invalid };
    Some(found(level, sentence, remedy))
}

/// Reports a load that ended before its first request was due, so that nothing was measured.
pub(super) fn nothing_planned(evidence: &Evidence<'_>) -> Option<Finding> {
    if evidence.was_stopped || evidence.tally.counts.planned > 0 {
        return None;
    }
    if let Some(tool) = evidence.tool.filter(|_| evidence.hopeless.is_empty()) {
        let sentence = format!("{tool} reported no {} at all", units(evidence.planned));
        return Some(found(Level::Invalid, sentence, "run its command by hand, and see what it prints"));
    } else if evidence.tool.is_some() {
        return None;
    }
    let sentence = format!("none of the {} was due in the measured time", units(evidence.planned));
    Some(found(Level::Invalid, sentence, "let the load last longer (-d), or raise its rate (-R)"))
}

/// Returns the max number of requests that may have been due when the load was ended as steady, which is no error. It
/// is the number that arrives within the time after which requests are abandoned. `None` if any number may have been
/// due.
fn due_at_the_end(evidence: &Evidence<'_>) -> Option<f64> {
    if !evidence.is_settled {
        return Some(0.0);
    }
    let Offered::Open { shed_after_ns, .. } = evidence.planned.offered else { return None };
    Some(asked_per_s(evidence)? * shed_after_ns? as f64 / 1e9)
}

/// Returns whether requests were late because of the generator, not because no connection was free.
fn is_own(evidence: &Evidence<'_>) -> bool {
    let lateness_ns = evidence.tally.lateness.all().sum_ns() as f64;
    lateness_ns > 0.0 && evidence.tail.all().lag_ns as f64 >= OWN_DELAY_MIN_SHARE * lateness_ns
}

fn own_delay_advice(planned: &Planned) -> (String, String) {
    let why = "connections were free, and the generator came too late".to_owned();
    (why, format!("use more threads; or {}", own_core(planned)))
}

/// Explains transactions skipped by the user's own latency limit; `None` if there is no limit.
fn late_skip_advice(evidence: &Evidence<'_>) -> Option<(String, String)> {
    let limit_ns = evidence.planned.latency_limit_ns?;
    let why = format!(
        "no connection became free within the latency limit of {}, so they were skipped as requested{}",
        duration(limit_ns as f64),
        carried(evidence)
    );
    let remedy = "the generator is not the cause: the database does not sustain the rate on these connections; lower -R, or raise \
                  -c if the database can do more at once";
    Some((why, remedy.to_owned()))
}

/// Explains unsent requests of a closed load: users wait for connections that others hold, or for replies.
fn shared(evidence: &Evidence<'_>, users: u32, pool: u32) -> (String, String) {
    if !evidence.planned.pools.is_empty() {
        let pools = evidence.planned.pools.iter();
        let (named, keys): (Vec<String>, Vec<String>) =
            pools.map(|(name, pool)| (format!("{pool} to {name}"), name.clone())).unzip();
        let why = format!(
            "{users} users share connections ({}), and some still waited for one 2 s after the load had ended{}",
            named.join(", "),
            carried(evidence)
        );
        let remedy = format!(
            "the generator is not the cause: raise `pool` of {}, or have fewer users; a longer load has a smaller share of them",
            keys.join(" or ")
        );
        return (why, remedy);
    }
    if pool >= users {
        let why = format!(
            "users still waited for replies when further requests of theirs were due, and some did so 2 s after the load had \
             ended{}",
            carried(evidence)
        );
        let remedy = "the generator is not the cause: the system is slower than the recorded one; play the recording without `users`";
        return (why, remedy.to_owned());
    }
    let why = format!(
        "{users} users share {pool} connections, and some still waited for one 2 s after the load had ended{}",
        carried(evidence)
    );
    let remedy = "the generator is not the cause: raise --pool, or have fewer users; a longer load has a smaller share of them";
    (why, remedy.to_owned())
}

/// Explains unsent requests of an open load that wait for busy connections.
fn busy(evidence: &Evidence<'_>, connections: u32) -> (String, String) {
    let busy =
        evidence.mean_in_flight().and_then(|in_flight| Share::of_measured(in_flight, connections.into()));
    let busy = busy.map_or(0.0, Share::get);
    let service_ns = evidence.tally.service.all().mean_ns();
    let (Some(service_ns), true) = (service_ns, busy >= CONNECTIONS_BUSY_MIN_SHARE) else {
        return not_free(evidence, connections);
    };
    let why = format!(
        "all {connections} connections were busy ({} of the time), a reply took {} on average{}",
        percent(busy),
        duration(service_ns),
        carried(evidence)
    );
    let needed = asked_per_s(evidence)
        .map(|rate| (rate * service_ns / 1e9 * BURST_HEADROOM).ceil().max(f64::from(connections) + 1.0));
    let raise = needed.map_or_else(
        || "raise -c".to_owned(),
        |needed| format!("give it about {needed:.0} connections (-c)"),
    );
    let remedy = format!(
        "the generator is not the cause: ask for less, or {raise}; if replies then take longer instead, the system is the limit"
    );
    (why, remedy)
}

/// Explains unsent requests of an open load whose connections were neither free nor waiting for replies, as far as
/// counted.
fn not_free(evidence: &Evidence<'_>, connections: u32) -> (String, String) {
    let Counts { sent, rejected, failed, timed_out, .. } = evidence.tally.counts;
    let carried = carried(evidence);
    let lost = rejected + failed + timed_out;
    let most = evidence.tally.errors.entries().iter().max_by_key(|entry| entry.count);
    if let (true, Some(most)) = (lost as f64 >= ERRORS_MIN_SHARE * sent as f64, most) {
        let why = format!(
            "none of the {connections} connections was free: {lost} of {sent} {} ended in errors, {} of them {}, and a connection that \
             is refused or lost waits up to 1 s before it is opened again{carried}",
            units(evidence.planned),
            most.count,
            most.class
        );
        let remedy = "the generator is not the cause: see why the system refuses or loses connections, or lower the rate";
        return (why, remedy.to_owned());
    }
    let why = format!(
        "none of the {connections} connections was free: they were held by iterations, or were being opened{carried}"
    );
    let remedy = "the generator is not the cause: look at the errors, lower the rate, or raise the number of connections (-c)";
    (why, remedy.to_owned())
}

/// Returns the achieved rate: `; sustained 79.6/s`; empty if unknown.
fn carried(evidence: &Evidence<'_>) -> String {
    evidence.reached_per_s().map_or_else(String::new, |rate| format!("; sustained {}", per_s(rate)))
}

/// Returns the mean planned rate per second; `None` if the load does not end by time.
fn asked_per_s(evidence: &Evidence<'_>) -> Option<f64> {
    let lasting_ns = evidence.window_ns.filter(|_| evidence.planned.ends_at_ns.is_some())?;
    Some(evidence.tally.counts.planned as f64 * 1e9 / lasting_ns as f64)
}
