//! A checked plan of one load.

use std::sync::Arc;

use load::{DataSource, Load, Scenarios, Stop};
use sql::SqlStep;
use wire::step::{self, LoadSteps, Site, Step, Unit};
use wire::{Channels, Protocol, Secrets, StepError};

use crate::database::Database;
use crate::endpoint::{Endpoint, EndpointLoad, Peer};
use crate::replay::Replay;
use crate::running::RunningAs;
use crate::study::{LaunchCommand, PlannedFigure, SqlFile, Written};

/// Max number of addresses that are counted separately. Each counter costs memory in every thread, and a line in reports.
const ADDRESS_ACCOUNTS_MAX: usize = 1_000;

/// Load on one or more systems, free of contradictions. Made by [`crate::Draft::check`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// Title in reports: method and URL, without secrets.
    pub title: String,
    /// Name of the system that a command line gives. `None` if it gives none, and for the systems of a study.
    pub system: Option<String>,
    /// Address of the system itself, which is started and monitored: the one in `url`.
    pub front: Peer,
    /// Systems that steps talk to, by number: systems for requests first, then databases. At least one.
    pub endpoints: Vec<Endpoint>,
    /// Database behind a system that accepts only requests. It is queried for the wait events of its sessions.
    pub watched: Option<Database>,
    /// Processes of a system that already runs, if the plan names them. `None` means the processes that listen at its address.
    pub running: Option<RunningAs>,
    /// Figures of the plan's own, which are read around the load.
    pub figures: Vec<PlannedFigure>,
    /// Rows that the load writes, which are checked after it.
    pub written: Option<Written>,
    /// All steps, in the order of their numbers.
    pub steps: Vec<PlannedStep>,
    /// Requests that run before and after the load, and are not part of it.
    pub errands: Errands,
    /// Names of variables, in the order of their numbers.
    pub variables: Vec<String>,
    /// Scenarios that users follow.
    pub scenarios: Scenarios,
    /// Sources of the variables that are not saved from replies.
    pub data: Vec<DataSource>,
    /// Values of environment variables. They go only into requests.
    pub secrets: Secrets,
    /// Load model: closed or open, and the amount.
    pub load: Load,
    /// Max requests in flight on one connection. Users of a closed load, and slots of an open one, are connections times this
    /// number.
    pub pipeline: u32,
    /// Condition that ends the load.
    pub stop: Stop,
    /// Max number of times that the load is extended by its own duration while it is not steady. `stop` has the latest end.
    pub extend: u32,
    /// Duration of the warm-up, which is excluded from the result, in nanoseconds.
    pub warm_up_ns: u64,
    /// Timeout from the start of a request to the last byte of its reply, in nanoseconds.
    pub timeout_ns: u64,
    /// Timeout of opening a connection, including TLS, in nanoseconds.
    pub connect_timeout_ns: u64,
    /// Time after which each connection is renewed, in nanoseconds. `None` if connections are not renewed.
    pub connection_lifetime_ns: Option<u64>,
    /// Reactor threads. If `None`, the runner chooses by the number of cores and the location of the system.
    pub threads: Option<u32>,
    /// Cores that the generator's threads are pinned to.
    pub pin: Pin,
    /// Seed of every random draw.
    pub seed: u64,
    /// Individual requests that are logged per second.
    pub log_per_second: u32,
    /// Whether idempotent requests are retried once if the server closed the connection before it received them.
    pub retry_stale: bool,
    /// Total connections that an open load may grow to on demand. `None` if their number is fixed.
    pub grows_to: Option<u32>,
    /// Method of sampling the stacks of the system. `None` if they are not sampled.
    pub profile: Option<Stacks>,
    /// Whether the run is a trial of a capacity search. Requests that could not be sent because the system did not keep up are then a
    /// result, and no reason to doubt the run.
    pub is_trial: bool,
    /// Log that the load replays, with one step for all of its statements or requests. `None` if users follow the scenarios.
    pub replay: Option<Replay>,
}

impl Plan {
    /// Database that runs transactions, or the one behind a system that accepts only requests.
    pub fn database(&self) -> Option<&Database> {
        self.loads().find_map(EndpointLoad::database).or(self.watched.as_ref())
    }

    /// Whether a step may change data. A request may, because the system that answers it is unknown.
    pub fn may_write(&self) -> bool {
        match &self.replay {
            Some(replay) => !replay.is_read_only,
            None => self.steps.iter().any(|step| self.endpoints[usize::from(step.endpoint)].load.may_write()),
        }
    }

    /// First system: the one of `url`.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoints[0]
    }

    /// Loads of all systems, in the order of their numbers.
    pub(crate) fn loads(&self) -> impl Iterator<Item = &dyn EndpointLoad> {
        self.endpoints.iter().map(|endpoint| &*endpoint.load)
    }

    /// Connections of a closed load, if there are fewer than users. `None` if each user has its own.
    pub fn pool(&self) -> Option<u32> {
        self.loads().find_map(EndpointLoad::pool)
    }

    /// Latency above which a transaction counts as late, in nanoseconds. `None` if there is no limit.
    pub fn latency_limit_ns(&self) -> Option<u64> {
        self.loads().find_map(EndpointLoad::latency_limit_ns)
    }
}

/// Requests that one client makes before and after each load.
#[derive(Clone, Debug, Default)]
pub struct Errands {
    /// Requests before the load.
    pub setup: Vec<PlannedStep>,
    /// Requests after the load.
    pub teardown: Vec<PlannedStep>,
    /// Systems of the requests. Empty before the plan of a variant is built.
    pub at: Vec<Endpoint>,
    /// Statements before the load.
    pub setup_sql: Vec<ErrandSql>,
    /// Statements after the load.
    pub teardown_sql: Vec<ErrandSql>,
}

/// Statements of `setup` or `teardown`.
#[derive(Clone, Debug)]
pub struct ErrandSql {
    /// Number of requests of the section before them.
    pub after_requests: usize,
    /// Name of the database among the endpoints. `None` for `url` or `database`.
    pub endpoint: Option<String>,
    /// The statements, and their file if they have one.
    pub sql: SqlFile,
    /// Database of the endpoint. `None` before the plan of a variant is built.
    pub database: Option<Database>,
}

impl Errands {
    /// All requests: setup first, then teardown.
    pub fn steps(&self) -> impl Iterator<Item = &PlannedStep> {
        self.setup.iter().chain(&self.teardown)
    }

    pub(crate) fn steps_mut(&mut self) -> impl Iterator<Item = &mut PlannedStep> {
        self.setup.iter_mut().chain(&mut self.teardown)
    }

    /// Whether there are no requests and no statements.
    pub fn is_empty(&self) -> bool {
        self.steps().next().is_none() && self.setup_sql.is_empty() && self.teardown_sql.is_empty()
    }

    pub(crate) fn sql_mut(&mut self) -> impl Iterator<Item = &mut ErrandSql> {
        self.setup_sql.iter_mut().chain(&mut self.teardown_sql)
    }

    /// Numbers of the variables that setup saves for all users.
    pub fn saved(&self) -> Vec<u16> {
        let actions = self.setup.iter().filter_map(PlannedStep::owned);
        let mut saved: Vec<u16> = actions.flat_map(|action| action.step.saves()).collect();
        saved.sort_unstable();
        saved.dedup();
        saved
    }
}

/// Request or transaction of a plan.
#[derive(Clone, Debug)]
pub struct PlannedStep {
    /// Name in reports, without secrets.
    pub name: String,
    /// Number of the system that the step talks to, an index of [`Plan::endpoints`], or of [`Errands::at`].
    pub endpoint: u16,
    /// Request, transaction, or load of a tool.
    pub action: Action,
}

/// Action of a step.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there are few, and they are made once")]
pub enum Action {
    /// A request or a transaction.
    Owned(OwnedAction),
    /// Load from an external load generator.
    Tool(ToolAction),
}

/// A load that an external load generator makes.
#[derive(Clone, Debug)]
pub struct ToolAction {
    /// The load generator.
    pub tool: &'static loadtools::Tool,
    /// Words of its command as the plan has them, with names in braces.
    pub written: Vec<String>,
    /// Concurrent users. `None` if the plan does not set their number.
    pub users: Option<u32>,
    /// Command of the warm-up, whose output is discarded. `None` if the load has no warm-up.
    pub warm_up: Option<LaunchCommand>,
    /// Command of the measurement, whose output is parsed.
    pub measured: LaunchCommand,
}

/// A request and its reply, or a transaction.
#[derive(Clone, Debug)]
pub struct OwnedAction {
    /// Protocol that owns the step. `None` if several protocols have such steps, and the system decides.
    pub protocol: Option<&'static Protocol>,
    /// Step as its protocol parsed it.
    pub step: Arc<dyn Step>,
    /// Host and port of the system, for the record.
    pub host: String,
    /// Whether the connection is kept for further exchanges.
    pub keep_alive: bool,
}

impl OwnedAction {
    /// Creates a transaction.
    pub(crate) fn transaction(step: SqlStep) -> Self {
        Self { protocol: None, step: Arc::new(step), host: String::new(), keep_alive: true }
    }

    /// Compiles the channels of this step alone. `None` if the system decides its protocol.
    ///
    /// # Errors
    ///
    /// The step cannot be sent as it is written.
    pub fn compile(
        &self,
        variables: &[String],
        secrets: &Secrets,
    ) -> Option<Result<Box<dyn Channels>, StepError>> {
        let own = self.protocol.and_then(Protocol::steps)?;
        let steps = [Arc::clone(&self.step)];
        Some((own.compile)(&LoadSteps { secrets, ..LoadSteps::of(&steps, variables) }))
    }

    /// Bytes that distinguish the step from others, for the hash of a plan.
    pub fn identity(&self) -> Vec<u8> {
        let of_message = || step::identity(&*self.step, &self.method(), &self.host, self.keep_alive);
        self.step.identity().unwrap_or_else(of_message)
    }

    /// Method of the step, or the name of its protocol.
    pub(crate) fn method(&self) -> String {
        let name = self.protocol.map_or("", |protocol| protocol.name);
        self.step.method().map_or_else(|| name.to_uppercase(), str::to_owned)
    }

    /// Sends the step to a system.
    pub(crate) fn send_to(&mut self, site: &Site) {
        self.host.clone_from(&site.host);
        self.keep_alive = site.keep_alive;
        if let Some(step) = self.step.at(site) {
            self.step = step;
        }
    }
}

/// Method by which a profiler unwinds stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stacks {
    /// Unwinds stacks by frame pointers.
    FramePointers,
    /// Unwinds stacks by DWARF debug information, from a copy of the stack.
    Dwarf,
}

impl Stacks {
    /// Name of the method in stored plans.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FramePointers => "fp",
            Self::Dwarf => "dwarf",
        }
    }
}

/// Cores that the generator's threads are pinned to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pin {
    /// Not pinned.
    No,
    /// One core per thread, from the cores that this process may use.
    Auto,
    /// Listed cores, assigned in turn.
    Cores(Vec<usize>),
}

impl PlannedStep {
    /// The request or transaction. `None` for the load of a tool.
    pub fn owned(&self) -> Option<&OwnedAction> {
        match &self.action {
            Action::Owned(action) => Some(action),
            Action::Tool(_) => None,
        }
    }

    /// Unit in which reports count the runs of the step.
    pub fn unit(&self) -> Unit {
        match &self.action {
            Action::Owned(action) => action.step.unit(),
            Action::Tool(tool) => tool_unit(tool.tool),
        }
    }

    /// Numbers of the variables that its replies set.
    pub fn saves(&self) -> Vec<u16> {
        self.owned().map(|action| action.step.saves()).unwrap_or_default()
    }

    /// Whether the connection is kept for further requests.
    fn keep_alive(&self) -> bool {
        match &self.action {
            Action::Owned(action) => action.keep_alive,
            Action::Tool(_) => true,
        }
    }
}

impl Plan {
    /// Planned duration in nanoseconds, including the warm-up. `None` if a number of requests ends the load.
    pub fn planned_ns(&self) -> Option<u64> {
        self.stop.at_ns
    }

    /// Earliest end if the load is steady by then, in nanoseconds from its start. `None` if the load cannot be extended.
    pub fn first_end_ns(&self) -> Option<u64> {
        first_end_ns(&self.stop, self.extend, self.warm_up_ns)
    }

    /// Transactions on a system, as the parts of an SQL script.
    pub fn sql_steps(&self, endpoint: u16) -> Vec<sql::TransactionStep> {
        let steps = (0..).zip(self.steps_at(endpoint));
        let transaction = |(script, (_, step)): (u16, (u16, &PlannedStep))| {
            let expects = sql::expected_rows_of(&*step.owned()?.step)?;
            Some(sql::TransactionStep { name: step.name.clone(), script, expects })
        };
        steps.filter_map(transaction).collect()
    }

    /// Number of a step within its system.
    pub(crate) fn number_at_endpoint(&self, number: usize) -> u16 {
        let endpoint = self.steps[number].endpoint;
        self.steps[..number].iter().filter(|step| step.endpoint == endpoint).count() as u16
    }

    /// External load generator, whose load is the only step. `None` if Tenbin makes the load.
    pub fn tool(&self) -> Option<&ToolAction> {
        self.steps.iter().find_map(|step| match &step.action {
            Action::Tool(tool) => Some(tool),
            Action::Owned(_) => None,
        })
    }

    /// Parts of steps that are counted separately: requests that redirects may lead to, then statements of transactions. Both are ordered
    /// by endpoint. Parts of a replay are its fingerprints.
    pub fn parts(&self) -> Vec<sql::Part> {
        if let Some(replay) = &self.replay {
            let fingerprints = replay.fingerprints.iter();
            return fingerprints.map(|text| sql::Part { name: text.clone(), of: 0 }).collect();
        }
        (0..).zip(self.loads()).flat_map(|(number, load)| load.parts(self, number)).collect()
    }

    /// Addresses of each step at an endpoint with a list of URLs. They are counted separately, after [`Self::parts`]. Empty if there are
    /// more than 1,000.
    pub fn address_parts(&self) -> Vec<sql::Part> {
        let of_step = |(of, step): (u16, &PlannedStep)| {
            let endpoint = &self.endpoints[usize::from(step.endpoint)];
            let addresses = if endpoint.select.is_some() { endpoint.peers() } else { &[] };
            addresses.iter().map(move |peer| sql::Part { name: peer.authority(), of }).collect::<Vec<_>>()
        };
        let parts: Vec<sql::Part> = (0..).zip(&self.steps).flat_map(of_step).collect();
        if parts.len() > ADDRESS_ACCOUNTS_MAX { Vec::new() } else { parts }
    }

    /// Steps that speak to a system, with their numbers.
    pub fn steps_at(&self, endpoint: u16) -> impl Iterator<Item = (u16, &PlannedStep)> {
        (0..).zip(&self.steps).filter(move |(_, step)| step.endpoint == endpoint)
    }

    /// All addresses of all systems.
    pub fn peers(&self) -> impl Iterator<Item = &Peer> {
        self.endpoints.iter().flat_map(Endpoint::peers)
    }

    /// Whether users connect to several systems.
    pub fn is_mixed(&self) -> bool {
        self.endpoints.len() > 1
    }

    /// Whether a connection carries more than one request or transaction.
    pub fn keep_alive(&self) -> bool {
        self.loads().all(EndpointLoad::keep_alive) && self.steps.iter().all(PlannedStep::keep_alive)
    }

    /// Concurrent connections to each system.
    pub fn connections(&self) -> u32 {
        connections(&self.load) / self.pipeline.max(1)
    }
}

/// Unit in which an external load generator counts.
pub(crate) fn tool_unit(tool: &loadtools::Tool) -> Unit {
    if tool.counts_transactions { Unit::Transaction } else { Unit::Request }
}

/// Connections of a load. A closed load has one for each user.
pub(crate) fn connections(load: &Load) -> u32 {
    match load {
        Load::Closed(closed) => closed.users,
        Load::Open(open) => open.connections,
    }
}

/// Earliest end if the load is steady by then, in nanoseconds from its start. `None` if the load cannot be extended.
pub(crate) fn first_end_ns(stop: &Stop, extend: u32, warm_up_ns: u64) -> Option<u64> {
    let measured_ns = stop.at_ns?.saturating_sub(warm_up_ns);
    (extend > 0).then(|| warm_up_ns + measured_ns / (u64::from(extend) + 1))
}
