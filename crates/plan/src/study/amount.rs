//! Replaces the amount of a load: each run of a capacity search has its own amount.

use load::open::{POISSON, Stage};
use load::{Order, Scenario, ThinkTime, Visit};

use super::{Launch, Study};
use crate::fault::Fault;
use crate::plan::Plan;
use crate::spec::{LoadSpec, Spanned};

/// Spare connections in addition to rate × response time, so that random bursts do not wait for a connection.
const CONNECTIONS_SPARE: u32 = 8;
/// Max connections that a search opens. More would cost more than they show.
const CONNECTIONS_MAX: u32 = 10_000;

/// Amount and duration of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount {
    /// Amount of load.
    pub at: At,
    /// Duration of the warm-up, which is excluded from the result, in nanoseconds. It comes first.
    pub warm_up_ns: u64,
    /// Measured duration in nanoseconds.
    pub measured_ns: u64,
    /// Connections of an open load.
    pub connections: u32,
    /// Seed of every random draw.
    pub seed: u64,
}

/// Amount of load. Rates count requests and transactions of all steps: with three steps, iterations start at a third of the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum At {
    /// Users of a closed load who send their next request without a pause.
    Users(u32),
    /// Rate of an open load per second. Arrivals are Poisson, unless the plan sets even ones.
    PerS(f64),
    /// Overload, followed by a rate that the system sustained before, without a restart.
    AfterOverload {
        /// Rate of the overload per second.
        over_per_s: f64,
        /// Duration of the overload in nanoseconds.
        over_ns: u64,
        /// Time to recover from the overload, before the measurement, in nanoseconds.
        grace_ns: u64,
        /// Rate per second before the overload, during the recovery, and during the measurement.
        per_s: f64,
        /// Send delay in nanoseconds after which requests are dropped. Otherwise, requests that queued up in the generator during an
        /// overload would count against the system.
        shed_after_ns: u64,
    },
}

impl At {
    /// Peak rate per second. `None` for a closed load.
    pub fn peak_per_s(self) -> Option<f64> {
        match self {
            Self::Users(_) => None,
            Self::PerS(per_s) => Some(per_s),
            Self::AfterOverload { over_per_s, .. } => Some(over_per_s),
        }
    }
}

impl Amount {
    /// Duration in nanoseconds, from the first request to the last.
    pub fn run_ns(&self) -> u64 {
        let before_ns = match self.at {
            At::AfterOverload { over_ns, grace_ns, .. } => over_ns.saturating_add(grace_ns),
            At::Users(_) | At::PerS(_) => 0,
        };
        self.warm_up_ns.saturating_add(before_ns).saturating_add(self.measured_ns)
    }

    /// Returns `spec` with this amount of load. `steps` is the number of steps per iteration.
    fn of(&self, spec: &LoadSpec, steps: f64) -> LoadSpec {
        let connections = match self.at {
            At::Users(users) => users,
            At::PerS(_) | At::AfterOverload { .. } => self.connections,
        };
        // A thread without a connection would be idle.
        let threads = spec.threads.clone().map(|threads| threads.map(|n| n.min(u64::from(connections))));
        let connections = Some(u64::from(connections).into());
        let spec = LoadSpec {
            requests: None,
            extend: None,
            measured_ns: Some(self.measured_ns.into()),
            warm_up_ns: Some(self.warm_up_ns.into()),
            users: None,
            rate_per_s: None,
            stages: None,
            threads,
            seed: Some(self.seed.into()),
            ..spec.clone()
        };
        let arrivals = spec.arrivals.clone().or_else(|| Some((&POISSON).into()));
        match self.at {
            At::Users(_) => {
                // A load without a rate has no send delay.
                LoadSpec {
                    users: connections,
                    connections: None,
                    arrivals: None,
                    shed_after_ns: None,
                    ..spec
                }
            }
            At::PerS(per_s) => {
                let rate_per_s = Some((per_s / steps).into());
                LoadSpec { connections, rate_per_s, arrivals, pool: None, ..spec }
            }
            At::AfterOverload { over_per_s, over_ns, grace_ns, per_s, shed_after_ns } => {
                let (per_s, over_per_s) = (per_s / steps, over_per_s / steps);
                let stages = vec![
                    Stage { for_ns: self.warm_up_ns, to_per_s: per_s },
                    Stage { for_ns: 0, to_per_s: over_per_s },
                    Stage { for_ns: over_ns, to_per_s: over_per_s },
                    Stage { for_ns: 0, to_per_s: per_s },
                    Stage { for_ns: grace_ns.saturating_add(self.measured_ns), to_per_s: per_s },
                ];
                LoadSpec {
                    connections,
                    measured_ns: None,
                    // The warm-up is one of the stages.
                    warm_up_ns: None,
                    ramp_from_per_s: Some(per_s.into()),
                    stages: Some(stages.into()),
                    shed_after_ns: spec.latency_limit_ns.is_none().then(|| shed_after_ns.into()),
                    arrivals,
                    pool: None,
                    ..spec
                }
            }
        }
    }
}

impl Study {
    /// Plan of one run of a search: like [`Study::plan`], but with this amount of load.
    ///
    /// [`Study::search_obstacles`] must return no errors for the load.
    pub fn plan_at(&self, load: usize, launch: &Launch, amount: &Amount) -> Result<Plan, Vec<Fault>> {
        let mut study = self.setting(launch.number).clone();
        let mut spec = amount.of(&study.loads[load].spec, study.mean_iteration(load).steps);
        if let (At::Users(users), Some(given)) = (amount.at, study.planned_connections(load))
            && study.has_sessions(load)
        {
            // A database keeps its number of connections, regardless of how many users share them.
            spec.pool = (u64::from(users) > given).then(|| given.into());
        }
        study.loads[load].spec = spec;
        let mut plan = study.plan(load, launch)?;
        plan.is_trial = true;
        // After an overload, only the time after the recovery is measured.
        plan.warm_up_ns = amount.run_ns() - amount.measured_ns;
        Ok(plan)
    }

    /// Reasons why a search cannot choose the amount of a load. Empty if it can.
    pub fn search_obstacles(&self, load: usize) -> Vec<Fault> {
        let spec = &self.loads[load].spec;
        let keys = [
            ("tool", spec.tool.is_some(), "another load generator makes the load"),
            ("replay", spec.replay.is_some(), "the load has the statements and times of a log"),
            ("stages", spec.stages.is_some(), "the load has its own rates"),
            ("recorded", spec.recorded.is_some(), "the load has its own times"),
            ("from", spec.ramp_from_per_s.is_some(), "the rate of the load grows"),
            (
                "think",
                spec.think.is_some(),
                "the users of the load pause, and a search sends at its own rate",
            ),
            (
                "pacing",
                spec.pacing_ns.is_some(),
                "the users of the load are paced, and a search sends at its own rate",
            ),
            (
                "ramp-up",
                spec.ramp_up_ns.is_some(),
                "the users of the load start gradually, and a search requires all of them",
            ),
            (
                "throughput",
                spec.throughput_per_s.is_some(),
                "the load has a limit, which the search would find",
            ),
        ];
        let given = keys.iter().filter(|(_, is_given, _)| *is_given);
        let fault = |(key, _, why): &(&str, bool, &str)| {
            let help = format!(
                "remove `{key}`, or add a load to the plan, such as `{{ name: capacity, rate: 100/s, for: 10s }}`, \
                 and select it with --load capacity"
            );
            Fault::new(self.place_of(load), format!("{why} (`{key}`)"), help)
        };
        given.map(fault).collect()
    }

    /// Measured duration of a load in nanoseconds. `None` if a number of requests ends it.
    pub fn measured_ns(&self, load: usize) -> Option<u64> {
        let load = &self.loads[load];
        load.run_ns.map(|run_ns| run_ns.saturating_sub(load.warm_up_ns))
    }

    /// Number of connections for an open load of `per_s` requests or transactions per second, and whether the plan sets it. `response_ns`
    /// is the max response time of a system that keeps up.
    ///
    /// By Little's law, at most rate × time requests are in flight in a system that keeps up. If all connections are in use, the system is
    /// overloaded. A plan that sets the number of connections, or of users of a database, takes precedence.
    pub fn connections_for(&self, load: usize, per_s: f64, response_ns: u64) -> (u32, bool) {
        if let Some(given) = self.planned_connections(load) {
            return (given.min(u64::from(u32::MAX)) as u32, true);
        }
        // A user who pauses between two steps keeps the connection.
        let Iteration { steps, pauses_ns } = self.mean_iteration(load);
        let each_s = (response_ns as f64 + pauses_ns / steps) / 1e9;
        let under_way = (per_s * each_s).ceil().min(f64::from(CONNECTIONS_MAX));
        ((under_way as u32 + CONNECTIONS_SPARE).min(CONNECTIONS_MAX), false)
    }

    /// Connections that the plan sets for an open load, or for any load of a database. `None` if it sets none.
    fn planned_connections(&self, load: usize) -> Option<u64> {
        let spec = &self.loads[load].spec;
        let given = |value: &Option<Spanned<u64>>| value.as_ref().and_then(Spanned::get).copied();
        let of_users = given(&spec.users).filter(|_| self.has_sessions(load));
        given(&spec.pool).or(given(&spec.connections)).or(of_users)
    }

    /// Mean number of requests and transactions in one iteration of a load.
    pub fn steps_per_iteration(&self, load: usize) -> f64 {
        self.mean_iteration(load).steps
    }

    fn mean_iteration(&self, load: usize) -> Iteration {
        let follows = self.loads[load].scenario.as_ref();
        let scenarios = &self.script.scenarios.list;
        let followed: Vec<&Scenario> =
            scenarios.iter().filter(|one| follows.is_none_or(|name| one.name == *name)).collect();
        let shares: f64 = followed.iter().map(|scenario| scenario.share).sum();
        let mean = |of: fn(&Scenario) -> f64| {
            followed.iter().map(|scenario| scenario.share * of(scenario)).sum::<f64>() / shares
        };
        // A plan has at least one scenario with a positive share and at least one step.
        Iteration { steps: mean(steps).max(1.0), pauses_ns: mean(pauses_ns).max(0.0) }
    }
}

/// Mean values of one iteration of a load.
struct Iteration {
    steps: f64,
    /// Sum of all pauses in nanoseconds.
    pauses_ns: f64,
}

fn steps(scenario: &Scenario) -> f64 {
    match &scenario.order {
        Order::InTurn(visits) => visits.len() as f64,
        Order::Mix(_) => 1.0,
    }
}

fn pauses_ns(scenario: &Scenario) -> f64 {
    let pause_ns = |visit: &Visit| match visit.think {
        ThinkTime::None => 0.0,
        ThinkTime::Constant { ns } => ns as f64,
        ThinkTime::Uniform { min_ns, max_ns } => (min_ns as f64 + max_ns as f64) / 2.0,
        ThinkTime::Exponential { constant_ns, mean_ns } => constant_ns as f64 + mean_ns as f64,
    };
    match &scenario.order {
        Order::InTurn(visits) => visits.iter().map(pause_ns).sum(),
        Order::Mix(visits) => {
            let weights: f64 = visits.iter().map(|(_, weight)| weight).sum();
            visits.iter().map(|(visit, weight)| weight * pause_ns(visit)).sum::<f64>() / weights
        }
    }
}
