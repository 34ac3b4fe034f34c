//! Connections of an open load, or connections that users share: all busy, while the system answers at its usual speed.

use stats::median;

use super::cause::{Bottleneck, Scope, suspected};
use super::evidence::{Evidence, RunEvidence};
use super::{Covers, Rule, Rung};
use crate::causes::Resource;
use crate::words::{Share, decimal, duration, percent_of};
use evidence::Model;

/// Smallest share of the connections that is busy on average.
const CONNECTIONS_BUSY_MIN_SHARE: f64 = 0.9;
/// Smallest concurrency of the system as a share of the connections, at which requests do not wait for each other.
const CONCURRENCY_MIN_SHARE: f64 = 0.8;
/// Headroom over the mean number of connections needed, because requests come in bursts.
const BURST_HEADROOM: f64 = 1.3;

impl Resource {
    /// Connections of the load.
    pub const CONNECTIONS: Self = Self::new("connections", "connections of the load")
        .telling_errors()
        .next("give the load more connections (-c)");
}

pub(super) const CONNECTIONS_OF_THE_LOAD: Rule = Rule {
    finds: &[Resource::CONNECTIONS],
    when: "an open load was not answered in full, its connections were busy 90 % of the time, and throughput × the fastest answer is 80 % of \
           their number",
    why: "the system answered no later than when it was alone, and could not be sent more",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Covers::Runs,
    find: connections,
};

fn connections(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let is_open = evidence.runs.iter().all(|run| run.run.new.model == Model::Open);
    if !is_open || evidence.is_answered_in_full() || evidence.is_exhausted() {
        return None;
    }
    let open = evidence.connections()?;
    let in_flight = busy_all_the_time(evidence, open)?;
    let offered = |run: &RunEvidence<'_>| {
        let window = run.measured.window?;
        Some(window.per_s(window.offered?))
    };
    let offered_per_s = median(evidence.runs.iter().filter_map(offered))?;
    let [ok_ns, needed] = {
        let ok_ns = evidence.together.ok_ns?;
        [ok_ns, (offered_per_s * ok_ns / 1e9 * BURST_HEADROOM).ceil().max(open + 1.0)]
    };
    let because = format!(
        "all {} connections were busy ({} of the time), and a reply took {} as ever: {} a second need {} of them",
        decimal(open, 0),
        percent_of(of_connections(in_flight, open)),
        duration(ok_ns),
        decimal(offered_per_s, 0),
        decimal(needed, 0)
    );
    let cause = suspected(Resource::CONNECTIONS, Scope::Generator, because);
    let cause = cause.direct(waited_for_a_connection(evidence, ok_ns));
    Some(cause.next(format!("give the load about {} connections (-c)", decimal(needed, 0))).first())
}

pub(super) const SHARED_CONNECTIONS: Rule = Rule {
    finds: &[Resource::CONNECTIONS],
    when: "users of a closed load share fewer connections (`--pool`), these were busy 90 % of the time, throughput × the fastest answer is \
           80 % of their number, and users waited for half of the response time or more until one was free",
    why: "the system answered no later than when it was alone, and could not be sent more",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Covers::Runs,
    find: shared_connections,
};

/// Smallest share of the response time spent waiting for a connection at which the number of connections is the bottleneck.
const WAITED_MIN_SHARE: f64 = 0.5;

fn shared_connections(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let [open, users] = evidence.shared_connections().filter(|_| !evidence.is_exhausted())?;
    let in_flight = busy_all_the_time(evidence, open)?;
    let ok_ns = evidence.together.ok_ns?;
    let share = waited_for_a_connection(evidence, ok_ns).filter(|share| *share >= WAITED_MIN_SHARE)?;
    let connections = match open <= 1.0 {
        true => "a connection, which was".to_owned(),
        false => format!("{} connections, which were", decimal(open, 0)),
    };
    let because = format!(
        "{} users shared {connections} busy {} of the time, and a reply took {} as ever",
        decimal(users, 0),
        percent_of(of_connections(in_flight, open)),
        duration(ok_ns)
    );
    let cause = suspected(Resource::CONNECTIONS, Scope::Generator, because).direct(Some(share));
    Some(
        cause
            .next(format!("let the users share more connections (--pool), up to {}", decimal(users, 0)))
            .first(),
    )
}

/// Mean number of busy connections, if the load kept nearly all of them busy and the system worked on as many requests at once.
fn busy_all_the_time(evidence: &Evidence<'_>, open: f64) -> Option<f64> {
    let in_flight =
        evidence.in_flight().filter(|in_flight| *in_flight >= CONNECTIONS_BUSY_MIN_SHARE * open)?;
    evidence.at_once().filter(|at_once| *at_once >= CONCURRENCY_MIN_SHARE * open)?;
    Some(in_flight)
}

/// Share of the connections that were busy on average.
fn of_connections(in_flight: f64, open: f64) -> f64 {
    Share::of_measured(in_flight, open).map_or(0.0, Share::get)
}

/// Share of the response time that passed before the request was sent, the median of all runs.
fn waited_for_a_connection(evidence: &Evidence<'_>, ok_ns: f64) -> Option<f64> {
    let response_ns = evidence.runs.iter().filter_map(|run| run.measured.response.mean_ns);
    let response_ns = median(response_ns)?;
    Share::of_measured(response_ns - ok_ns, response_ns).map(Share::get)
}
