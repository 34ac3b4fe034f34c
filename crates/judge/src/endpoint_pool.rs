//! Pools of endpoints: utilization of the connections that users share at an endpoint, and waits for them.

use evidence::{EvidenceError, Run};
use record::{Phase, Tally};

use crate::window::Window;
use crate::words::Share;

/// Connections that users share at an endpoint, over the measured time.
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointPool {
    /// Name of the endpoint.
    pub endpoint: String,
    /// Number of connections, at most the number of users. Each server that a hash selects has its own set.
    pub connections: u64,
    /// Mean number of connections with a request under way, by Little's law: sum of service times ÷ length of the window.
    pub busy: f64,
    /// Mean number of connections that would be busy if every reply took as long as the fastest of its step.
    pub busy_at_fastest: f64,
    /// Mean time from the intended to the actual send, in nanoseconds.
    pub waited_ns: f64,
    /// Mean time from sending to the end of the reply, in nanoseconds.
    pub service_ns: f64,
    /// Waits at this endpoint as a share of the response times of all steps.
    pub waited_share: f64,
    /// Share of the requests sent here that got a reply.
    pub replied_share: f64,
}

impl EndpointPool {
    /// Returns the pools of the endpoints of a run, in the order of the plan. Endpoints without a pool or without
    /// replies have none.
    ///
    /// # Errors
    ///
    /// Stored seconds that cannot be decoded.
    pub fn of_run(run: &Run) -> Result<Vec<Self>, EvidenceError> {
        let plan = &run.new.plan_json;
        let endpoints = plan["endpoints"].as_array().map_or(&[][..], Vec::as_slice);
        // Users hold at most one connection each.
        let users = run.new.users.map_or(u64::MAX, u64::from);
        let pooled = endpoints.iter().filter_map(|endpoint| {
            let pool = endpoint["pool"].as_u64().filter(|pool| *pool > 0)?.min(users);
            let select = &endpoint["select"];
            let shards = match select["rule"].as_str() {
                Some("hash") => {
                    select["shards"].as_u64().or(select["addresses"].as_u64()).unwrap_or(1).max(1)
                }
                _ => 1,
            };
            Some((endpoint["name"].as_str()?, pool.saturating_mul(shards)))
        });
        let pooled: Vec<(&str, u64)> = pooled.collect();
        let Some(window) = Window::of(run).filter(|_| !pooled.is_empty()) else { return Ok(Vec::new()) };
        let tallies = (0..run.new.steps.len() as u16).map(|step| run.total(step, Phase::Measured));
        let tallies = tallies.collect::<Result<Vec<Tally>, _>>()?;
        let response_ns: f64 = tallies.iter().map(|tally| tally.response.all().sum_ns() as f64).sum();
        let steps = plan["steps"].as_array().map_or(&[][..], Vec::as_slice);
        let pool = |(name, connections): (&str, u64)| {
            let at_endpoint = steps.iter().zip(&tallies);
            let own = at_endpoint.filter(|(step, _)| step["endpoint"].as_str() == Some(name));
            let own: Vec<&Tally> = own.map(|(_, tally)| tally).collect();
            Self::from_tallies(name, connections, &own, window.length_s, response_ns)
        };
        Ok(pooled.into_iter().filter_map(pool).collect())
    }

    fn from_tallies(
        endpoint: &str,
        connections: u64,
        tallies: &[&Tally],
        length_s: f64,
        response_ns: f64,
    ) -> Option<Self> {
        let [mut service_ns, mut fastest_ns, mut waited_ns] = [0.0; 3];
        let (mut ended, mut sent, mut replies) = (0, 0, 0);
        for tally in tallies {
            let (service, lateness) = (tally.service.all(), tally.lateness.all());
            service_ns += service.sum_ns() as f64;
            fastest_ns += service.min_ns().unwrap_or_default() as f64 * service.count() as f64;
            waited_ns += lateness.sum_ns() as f64;
            ended += service.count();
            sent += tally.counts.sent;
            replies += tally.counts.ok + tally.counts.rejected;
        }
        if ended == 0 || sent == 0 {
            return None;
        }
        let busy = |sum_ns: f64| (sum_ns / 1e9 / length_s).min(connections as f64);
        Some(Self {
            endpoint: endpoint.to_owned(),
            connections,
            busy: busy(service_ns),
            busy_at_fastest: busy(fastest_ns),
            waited_ns: waited_ns / ended as f64,
            service_ns: service_ns / ended as f64,
            waited_share: if response_ns > 0.0 { (waited_ns / response_ns).min(1.0) } else { 0.0 },
            replied_share: replies as f64 / sent as f64,
        })
    }

    /// Returns the share of the connections that was busy on average.
    pub fn busy_share(&self) -> f64 {
        Share::of_measured(self.busy, self.connections as f64).map_or(0.0, Share::get)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use evidence::{Ending, NewRun};
    use fixtures::{OwnStore, new_run};
    use record::Interval;

    use super::*;

    pub(crate) const MS: u64 = 1_000_000;

    /// Builds one second of requests that each waited `waited_ms` and then took `service_ms`.
    pub(crate) fn interval(count: u64, service_ms: u64, waited_ms: u64) -> Interval {
        let mut tally = Tally::default();
        (tally.counts.planned, tally.counts.sent, tally.counts.ok) = (count, count, count);
        tally.service.ok.record_many(service_ms * MS, count);
        tally.lateness.ok.record_many(waited_ms * MS, count);
        tally.response.ok.record_many((service_ms + waited_ms) * MS, count);
        Interval { second: 0, phase: Phase::Measured, tally, sampled: Vec::new() }
    }

    fn pools(endpoints: &str, intervals: [Interval; 3]) -> Vec<EndpointPool> {
        EndpointPool::of_run(&run(endpoints, intervals)).expect("its seconds are sound")
    }

    /// Builds a run of one second with steps at the system itself, at `stock`, and at `cache`.
    pub(crate) fn run(endpoints: &str, intervals: [Interval; 3]) -> Run {
        let steps = r#"[{}, { "endpoint": "stock" }, { "endpoint": "cache" }]"#;
        let plan = format!(r#"{{ "steps": {steps}, "endpoints": {endpoints} }}"#);
        let mut new = NewRun { plan_json: plan.parse().expect("JSON"), ..new_run() };
        new.steps = ["page", "a", "b"].map(str::to_owned).to_vec();
        new.units = vec![new.unit(); 3];
        let store = OwnStore::new();
        let run = store.begin(&new).expect("it begins");
        for (step, interval) in (0..).zip(intervals) {
            store.keep_second(&run, step, &[interval]).expect("its seconds are kept");
        }
        let ending = Ending { window_ns: Some(1_000 * MS), ..Ending::default() };
        store.finish(&run, &ending).expect("it ends");
        store.load(&run).expect("it is there")
    }

    #[test]
    fn each_endpoint_has_the_waits_of_its_own_steps() {
        let endpoints = r#"[{ "name": "" }, { "name": "stock", "pool": 2 }, { "name": "cache", "pool": 4 }]"#;
        let found = pools(endpoints, [interval(40, 2, 0), interval(40, 50, 350), interval(40, 1, 0)]);
        let [stock, cache] = found.as_slice() else { panic!("two pools: {found:?}") };
        assert_eq!((stock.endpoint.as_str(), stock.connections), ("stock", 2));
        assert!(stock.busy_share() > 0.95 && stock.busy_at_fastest > 1.9, "{stock:?}");
        assert!((stock.waited_ns - 350e6).abs() < 4e6 && stock.waited_share > 0.8, "{stock:?}");
        assert!(
            cache.busy_share() < 0.02 && cache.waited_ns == 0.0 && cache.waited_share == 0.0,
            "{cache:?}"
        );
    }

    #[test]
    fn pool_of_shards_counts_at_each_server_and_endpoint_without_pool_has_none() {
        let endpoints = r#"[
            { "name": "stock", "pool": 2, "select": { "rule": "hash", "addresses": 3 } },
            { "name": "cache", "select": { "rule": "in-turn", "addresses": 3 } }
        ]"#;
        let found = pools(endpoints, [interval(40, 2, 0), interval(40, 50, 0), interval(40, 1, 0)]);
        assert_eq!(found.iter().map(|pool| pool.connections).collect::<Vec<_>>(), [6]);
    }
}
