//! Connections of an open load, or connections shared by users, that are all busy while the system answers at its usual
//! speed.

use stats::median;

use super::cause::{Bottleneck, Scope, suspected};
use super::evidence::{Evidence, RunEvidence};
use super::{Coverage, Rule, Rung};
use crate::causes::Resource;
use crate::endpoint_pool::EndpointPool;
use crate::words::{Share, decimal, duration, percent_of};
use evidence::Model;

/// Min mean share of busy connections.
const CONNECTIONS_BUSY_MIN_SHARE: f64 = 0.9;
/// Min concurrency of the system, as a share of the connections, at which requests do not wait for each other.
const CONCURRENCY_MIN_SHARE: f64 = 0.8;
/// Headroom over the mean number of connections needed, because requests come in bursts.
const BURST_HEADROOM: f64 = 1.3;

impl Resource {
    /// Connections of the load.
    pub const CONNECTIONS: Self = Self::new("connections", "connections of the load")
        .with_error_share()
        .next("give the load more connections (-c)");
}

pub(super) const CONNECTIONS_OF_THE_LOAD: Rule = Rule {
    finds: &[Resource::CONNECTIONS],
    when: "an open load was not answered in full, its connections were busy 90 % of the time, and throughput × the fastest answer is 80 % of \
           their number",
    why: "the system answered no later than when it was alone, and could not be sent more",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: connections,
};

fn connections(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let is_open = evidence.runs.iter().all(|run| run.run.new.model == Model::Open);
    if !is_open || evidence.is_answered_in_full() || evidence.is_exhausted() {
        return None;
    }
    let open = evidence.connections()?;
    let in_flight = fully_busy_connections(evidence, open)?;
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
    let cause = cause.direct(connection_wait_share(evidence, ok_ns));
    Some(cause.next(format!("give the load about {} connections (-c)", decimal(needed, 0))).first())
}

pub(super) const SHARED_CONNECTIONS: Rule = Rule {
    finds: &[Resource::CONNECTIONS],
    when: "users of a closed load share fewer connections (`--pool`), these were busy 90 % of the time, throughput × the fastest answer is \
           80 % of their number, and users waited for half of the response time or more until one was free",
    why: "the system answered no later than when it was alone, and could not be sent more",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: shared_connections,
};

/// Min share of the response time spent waiting for a connection at which the number of connections is the bottleneck.
const WAITED_MIN_SHARE: f64 = 0.5;

fn shared_connections(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let [open, users] = evidence.shared_connections().filter(|_| !evidence.is_exhausted())?;
    if !pools(evidence).is_empty() {
        return None;
    }
    let in_flight = fully_busy_connections(evidence, open)?;
    let ok_ns = evidence.together.ok_ns?;
    let share = connection_wait_share(evidence, ok_ns).filter(|share| *share >= WAITED_MIN_SHARE)?;
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

pub(super) const POOL_OF_AN_ENDPOINT: Rule = Rule {
    finds: &[Resource::CONNECTIONS],
    when: "requests share the connections of an endpoint (`pool`), these were busy 90 % of the time, would be busy 80 % of it if each reply took \
           as long as the fastest of its step, got replies to 95 % of the requests, and waits for one of them are half of the response \
           times of all steps or more",
    why: "the endpoint answered no later than when it was alone, and could not be sent more",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: pool_of_an_endpoint,
};

/// Min share of requests with a reply at which busy connections point to a pool. Without replies, the endpoint is the
/// limit for any number of connections.
const REPLIED_MIN_SHARE: f64 = 0.95;

/// Returns whether requests wait for the pool of an endpoint. In an open load the wait then grows, even if all requests
/// are answered.
pub(super) fn is_pool_short(evidence: &Evidence<'_>) -> bool {
    short_pool(evidence).is_some()
}

/// Returns the pool with the longest wait for a connection, if its endpoint could have answered more requests.
fn short_pool(evidence: &Evidence<'_>) -> Option<EndpointPool> {
    let short = pools(evidence).into_iter().filter(|pool| {
        let connections = pool.connections as f64;
        pool.busy >= CONNECTIONS_BUSY_MIN_SHARE * connections
            && pool.busy_at_fastest >= CONCURRENCY_MIN_SHARE * connections
            && pool.waited_share >= WAITED_MIN_SHARE
            && pool.replied_share >= REPLIED_MIN_SHARE
    });
    let pool = short.max_by(|one, other| one.waited_share.total_cmp(&other.waited_share));
    pool.filter(|_| !evidence.is_exhausted())
}

fn pool_of_an_endpoint(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let pool = short_pool(evidence)?;
    let users = evidence.users().map(|[users, _]| decimal(users, 0));
    let connections = match pool.connections {
        1 => format!("a connection to {}, which was", pool.endpoint),
        connections => format!("{connections} connections to {}, which were", pool.endpoint),
    };
    let because = format!(
        "{} shared {connections} busy {} of the time; each waited {} for one, and the reply took {} as ever",
        users.as_ref().map_or("requests".to_owned(), |users| format!("the requests of {users} users")),
        percent_of(pool.busy_share()),
        duration(pool.waited_ns),
        duration(pool.service_ns)
    );
    let up_to = users.map_or_else(String::new, |users| format!(", up to {users}"));
    let cause = suspected(Resource::CONNECTIONS, Scope::Generator, because).direct(Some(pool.waited_share));
    Some(cause.next(format!("raise `pool` of the endpoint {}{up_to}", pool.endpoint)).first())
}

/// Returns the pools of endpoints, with medians over all runs. Empty if the runs differ in their pools.
fn pools(evidence: &Evidence<'_>) -> Vec<EndpointPool> {
    let Some(first) = evidence.runs.first() else { return Vec::new() };
    let of_all = |pool: &EndpointPool| {
        let alike = |other: &&EndpointPool| {
            (&other.endpoint, other.connections) == (&pool.endpoint, pool.connections)
        };
        let found: Option<Vec<_>> = evidence.runs.iter().map(|run| run.pools.iter().find(alike)).collect();
        let found = found?;
        let middle = |figure: fn(&EndpointPool) -> f64| median(found.iter().map(|pool| figure(pool)));
        Some(EndpointPool {
            busy: middle(|pool| pool.busy)?,
            busy_at_fastest: middle(|pool| pool.busy_at_fastest)?,
            waited_ns: middle(|pool| pool.waited_ns)?,
            service_ns: middle(|pool| pool.service_ns)?,
            waited_share: middle(|pool| pool.waited_share)?,
            replied_share: middle(|pool| pool.replied_share)?,
            ..pool.clone()
        })
    };
    first.pools.iter().filter_map(of_all).collect()
}

/// Returns the mean number of busy connections, if the load kept nearly all of them busy and the system worked on as
/// many requests at once.
fn fully_busy_connections(evidence: &Evidence<'_>, open: f64) -> Option<f64> {
    let in_flight =
        evidence.in_flight().filter(|in_flight| *in_flight >= CONNECTIONS_BUSY_MIN_SHARE * open)?;
    evidence.concurrency().filter(|concurrency| *concurrency >= CONCURRENCY_MIN_SHARE * open)?;
    Some(in_flight)
}

/// Returns the mean share of busy connections.
fn of_connections(in_flight: f64, open: f64) -> f64 {
    Share::of_measured(in_flight, open).map_or(0.0, Share::get)
}

/// Returns the share of the response time before the request was sent: the median over all runs.
fn connection_wait_share(evidence: &Evidence<'_>, ok_ns: f64) -> Option<f64> {
    let response_ns = evidence.runs.iter().filter_map(|run| run.measured.response.mean_ns);
    let response_ns = median(response_ns)?;
    Share::of_measured(response_ns - ok_ns, response_ns).map(Share::get)
}
