//! A checked plan of one load.

use std::sync::Arc;

use load::{DataSource, Load, Scenarios, Stop};
use sql::RowCount;
use wire::http1::{Capture, Checks, Request};
use wire::step::{Step, StepsOfLoad};
use wire::{Channels, Protocol, Secrets, WrongStep};

use crate::database::Database;
use crate::endpoint::{Endpoint, Peer};
use crate::running::RunningAs;
use crate::study::Cmd;
use crate::transactions::Transactions;

/// Each costs memory in every thread, and a line in reports.
const ADDRESS_ACCOUNTS_MAX: usize = 1_000;

/// One load on one system, free of contradictions. Made by [`crate::Draft::check`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// What it is called in reports: method and URL, without secrets.
    pub title: String,
    /// Name of the system that a command line gives; `None` if it gives none, and for the systems of a study.
    pub system: Option<String>,
    /// The address of the system itself, which is started and watched: that of the `url`.
    pub front: Peer,
    /// The systems that steps speak to, by number: those of requests before those of transactions; at least one.
    pub endpoints: Vec<Endpoint>,
    /// The database of a system that gets requests alone: it is asked what its sessions wait for.
    pub watched: Option<Database>,
    /// The processes of the system, if the plan names them and it runs already; `None`: those that listen at its address.
    pub running: Option<RunningAs>,
    /// Every request that is made, in the order of their numbers.
    pub steps: Vec<PlannedStep>,
    /// Requests around the load, which are no part of it.
    pub errands: Errands,
    /// Names of the variables, in the order of their numbers.
    pub variables: Vec<String>,
    /// Which steps a user goes through.
    pub scenarios: Scenarios,
    /// Where variables that are not saved from replies get their values.
    pub data: Vec<DataSource>,
    /// Values of the environment, which go into requests and nowhere else.
    pub secrets: Secrets,
    /// How much, in which shape.
    pub load: Load,
    /// Requests under way on each connection, at most; the users of a closed load, and the slots of an open one, are as many times
    /// the connections.
    pub pipeline: u32,
    /// When nothing more is started.
    pub stop: Stop,
    /// While it is not steady at the end of its time it goes on for as long again, so often at most; `stop` has the last end.
    pub extend: u32,
    /// Left out of the result.
    pub warm_up_ns: u64,
    /// From the start of a request to the last byte of its reply.
    pub timeout_ns: u64,
    /// For a connection, TLS included.
    pub connect_timeout_ns: u64,
    /// Time after which each connection is renewed; `None`: it is not.
    pub connection_lifetime_ns: Option<u64>,
    /// Reactor threads; `None`: the runner chooses, by the cores and by where the system is.
    pub threads: Option<u32>,
    /// Which cores they stay on.
    pub pin: Pin,
    /// The seed of every draw.
    pub seed: u64,
    /// Single requests kept of each second.
    pub log_per_second: u32,
    /// Whether idempotent requests are sent once more if their server closed the connection without having received them.
    pub retry_stale: bool,
    /// Connections that an open load may open beyond its own as it needs them, all in all. `None`: it has its own, and no more.
    pub grows_to: Option<u32>,
    /// How the stacks of the system are sampled; `None`: they are not.
    pub profile: Option<Stacks>,
    /// Whether it is a trial of a capacity search: requests that could not be sent, because the system did not keep up, are then
    /// a result, and no reason to doubt the run.
    pub is_trial: bool,
}

impl Plan {
    /// The database that transactions go to, or that works for the system.
    pub fn database(&self) -> Option<&Database> {
        self.sql().map(|sql| &sql.database).or(self.watched.as_ref())
    }

    /// The first system: that of the `url`.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoints[0]
    }

    /// The transactions of the first database that gets any.
    pub fn sql(&self) -> Option<&Transactions> {
        self.databases().next()
    }

    /// The transactions of each database that gets some, in the order of its number.
    pub fn databases(&self) -> impl Iterator<Item = &Transactions> {
        self.endpoints.iter().filter_map(Endpoint::transactions)
    }
}

/// Requests that one client makes before and after each load.
#[derive(Clone, Debug, Default)]
pub struct Errands {
    /// Before it.
    pub setup: Vec<PlannedStep>,
    /// After it.
    pub teardown: Vec<PlannedStep>,
    /// Where they go; there if there are any.
    pub at: Option<Endpoint>,
}

impl Errands {
    /// All of them, in order.
    pub fn steps(&self) -> impl Iterator<Item = &PlannedStep> {
        self.setup.iter().chain(&self.teardown)
    }

    pub(crate) fn steps_mut(&mut self) -> impl Iterator<Item = &mut PlannedStep> {
        self.setup.iter_mut().chain(&mut self.teardown)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.setup.is_empty() && self.teardown.is_empty()
    }

    /// The variables that the setup gives values to, for all users.
    pub fn saved(&self) -> Vec<u16> {
        let captures = self.setup.iter().filter_map(PlannedStep::request).flat_map(|action| &action.captures);
        let mut saved: Vec<u16> = captures.map(|capture| capture.variable).collect();
        saved.sort_unstable();
        saved.dedup();
        saved
    }
}

/// One request or transaction of a plan.
#[derive(Clone, Debug)]
pub struct PlannedStep {
    /// Its name in reports; shows no secret.
    pub name: String,
    /// The number of the system that it speaks to, in [`Plan::endpoints`].
    pub endpoint: u16,
    /// What it does.
    pub action: Action,
}

/// What a step does.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there are few, and they are made once")]
pub enum Action {
    /// A request and its reply.
    Http(HttpAction),
    /// An exchange in a protocol that owns its steps.
    Owned(OwnedAction),
    /// A transaction.
    Sql(SqlAction),
    /// Whatever another load generator does.
    Tool(ToolAction),
}

/// A load that another load generator makes.
#[derive(Clone, Debug)]
pub struct ToolAction {
    /// Which one.
    pub tool: &'static loadtools::Tool,
    /// The words of its command as the plan has them, with names in braces.
    pub written: Vec<String>,
    /// Concurrent users, if the plan says how many.
    pub users: Option<u32>,
    /// Run and forgotten before it is measured, if the load has a warm-up.
    pub warm_up: Option<Cmd>,
    /// Run, and its figures read.
    pub measured: Cmd,
}

/// A transaction: one run of a script.
#[derive(Clone, Debug)]
pub struct SqlAction {
    /// The number of the script in [`Transactions::deck`].
    pub script: u16,
    /// How many rows the last statement must send or change.
    pub expects: Option<RowCount>,
    /// Names of what it saves for later steps of the same iteration.
    pub saves: Vec<String>,
}

/// A request.
#[derive(Clone, Debug)]
pub struct HttpAction {
    /// What is sent. Target, header values and body may have names of variables in braces, as [`wire::braces`] reads them.
    pub request: Request,
    /// What replies are held against.
    pub checks: Checks,
    /// What is kept of replies for later requests of the same iteration.
    pub captures: Vec<Capture>,
}

/// An exchange in a protocol that owns its steps.
#[derive(Clone, Debug)]
pub struct OwnedAction {
    /// The protocol.
    pub protocol: &'static Protocol,
    /// The step as its protocol read it.
    pub step: Arc<dyn Step>,
    /// Host and port of the system, for the record.
    pub host: String,
    /// Whether the connection is kept for further exchanges.
    pub keep_alive: bool,
}

impl OwnedAction {
    /// The channels of this step alone.
    ///
    /// # Errors
    ///
    /// The step cannot be sent as it is written.
    pub fn compile(&self, variables: &[String], secrets: &Secrets) -> Result<Box<dyn Channels>, WrongStep> {
        let own = self.protocol.own_steps().ok_or_else(|| WrongStep {
            step: 0,
            what: format!("{} has no steps of its own", self.protocol.name),
        })?;
        let steps = [Arc::clone(&self.step)];
        (own.compile)(&StepsOfLoad { secrets, ..StepsOfLoad::of(&steps, variables) })
    }

    /// The step as a request with the name of its protocol as method. Records and hashes of plans are made from it, so that they stay
    /// comparable with those of versions that had no steps of protocols.
    pub fn as_request(&self) -> Request {
        Request {
            method: self.method(),
            body: Some(self.step.message().to_vec()),
            keep_alive: self.keep_alive,
            ..Request::get(&self.host, "/")
        }
    }

    /// The name of the protocol as a method.
    pub(crate) fn method(&self) -> String {
        self.protocol.name.to_uppercase()
    }
}

/// How a profiler finds the callers of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stacks {
    /// By frame pointers.
    FramePointers,
    /// By debug information, from a copy of the stack.
    Dwarf,
}

impl Stacks {
    /// The word in stored plans.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FramePointers => "fp",
            Self::Dwarf => "dwarf",
        }
    }
}

/// Which cores the generator's threads stay on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pin {
    /// Not pinned.
    No,
    /// One core each, of those this process may use.
    Auto,
    /// These cores, in turn.
    Cores(Vec<usize>),
}

impl PlannedStep {
    /// Its request, if it is one.
    pub fn request(&self) -> Option<&HttpAction> {
        match &self.action {
            Action::Http(action) => Some(action),
            Action::Owned(_) | Action::Sql(_) | Action::Tool(_) => None,
        }
    }

    /// Its exchange, if it is one of a protocol that owns its steps.
    pub fn owned(&self) -> Option<&OwnedAction> {
        match &self.action {
            Action::Owned(action) => Some(action),
            Action::Http(_) | Action::Sql(_) | Action::Tool(_) => None,
        }
    }

    /// Whether it is a request in any protocol, and neither a transaction nor the load of a tool.
    pub fn is_request(&self) -> bool {
        matches!(self.action, Action::Http(_) | Action::Owned(_))
    }

    /// Whether its connection is kept for further requests.
    fn keep_alive(&self) -> bool {
        match &self.action {
            Action::Http(action) => action.request.keep_alive,
            Action::Owned(action) => action.keep_alive,
            Action::Sql(_) | Action::Tool(_) => true,
        }
    }
}

impl Plan {
    /// How long the load goes on, warm-up included, if time ends it.
    pub fn planned_ns(&self) -> Option<u64> {
        self.stop.at_ns
    }

    /// When it may end if it is steady by then: the first of its ends, warm-up included; `None`: it has but one.
    pub fn first_end_ns(&self) -> Option<u64> {
        first_end_ns(&self.stop, self.extend, self.warm_up_ns)
    }

    /// The transactions on a system, as the parts of a script of SQL.
    pub fn sql_steps(&self, endpoint: u16) -> Vec<sql::TransactionStep> {
        let transaction = |(_, step): (u16, &PlannedStep)| match &step.action {
            Action::Sql(action) => Some(sql::TransactionStep {
                name: step.name.clone(),
                script: action.script,
                expects: action.expects,
            }),
            Action::Http(_) | Action::Owned(_) | Action::Tool(_) => None,
        };
        self.steps_at(endpoint).filter_map(transaction).collect()
    }

    /// The load generator that makes the load in Tenbin's place, if one does: it is the only step.
    pub fn tool(&self) -> Option<&ToolAction> {
        self.steps.iter().find_map(|step| match &step.action {
            Action::Tool(tool) => Some(tool),
            Action::Http(_) | Action::Owned(_) | Action::Sql(_) => None,
        })
    }

    /// The parts of its steps that have accounts of their own: requests that redirects may lead to, then statements of
    /// transactions; each by endpoint.
    pub fn parts(&self) -> Vec<sql::Part> {
        let of = |endpoint: u16| match self.endpoints[usize::from(endpoint)].transactions() {
            None => self.hops_at(endpoint),
            Some(transactions) => self.statements_at(endpoint, transactions),
        };
        (0..self.endpoints.len() as u16).flat_map(of).collect()
    }

    /// The addresses of each step at an endpoint with a list of them, which have accounts of their own next to [`Self::parts`]. None
    /// if there are more than [`ADDRESS_ACCOUNTS_MAX`].
    pub fn address_parts(&self) -> Vec<sql::Part> {
        let of_step = |(of, step): (u16, &PlannedStep)| {
            let endpoint = &self.endpoints[usize::from(step.endpoint)];
            let addresses = if endpoint.select.is_some() { endpoint.peers() } else { &[] };
            addresses.iter().map(move |peer| sql::Part { name: peer.authority(), of }).collect::<Vec<_>>()
        };
        let parts: Vec<sql::Part> = (0..).zip(&self.steps).flat_map(of_step).collect();
        if parts.len() > ADDRESS_ACCOUNTS_MAX { Vec::new() } else { parts }
    }

    fn hops_at(&self, endpoint: u16) -> Vec<sql::Part> {
        let steps = self.steps_at(endpoint);
        steps.filter_map(|(number, step)| Some(hops(number, step.request()?))).flatten().collect()
    }

    fn statements_at(&self, endpoint: u16, transactions: &Transactions) -> Vec<sql::Part> {
        let numbers: Vec<u16> = self.steps_at(endpoint).map(|(number, _)| number).collect();
        let mut parts = sql::parts(&transactions.deck, &self.sql_steps(endpoint));
        parts.iter_mut().for_each(|part| part.of = numbers[usize::from(part.of)]);
        parts
    }

    /// The steps that speak to a system, with their numbers.
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

    /// Whether any step is a request.
    pub fn has_requests(&self) -> bool {
        self.steps.iter().any(PlannedStep::is_request)
    }

    /// Whether a connection carries more than one request or transaction.
    pub fn keep_alive(&self) -> bool {
        self.databases().all(|sql| sql.keep_alive) && self.steps.iter().all(PlannedStep::keep_alive)
    }

    /// Connections at the same time to each system.
    pub fn connections(&self) -> u32 {
        connections(&self.load) / self.pipeline.max(1)
    }
}

/// The first request of a step that follows redirects, and those that they may lead to.
fn hops(of: u16, action: &HttpAction) -> Vec<sql::Part> {
    let Some(redirects) = action.request.redirects else { return Vec::new() };
    let name = |hop| if hop == 0 { "first request".to_owned() } else { format!("redirect {hop}") };
    (0..=redirects.max).map(|hop| sql::Part { name: name(hop), of }).collect()
}

/// Connections of a load; in a closed one, users.
pub(crate) fn connections(load: &Load) -> u32 {
    match load {
        Load::Closed(closed) => closed.users,
        Load::Open(open) => open.connections,
    }
}

/// When a load may end if it is steady by then; `None`: it has but one end.
pub(crate) fn first_end_ns(stop: &Stop, extend: u32, warm_up_ns: u64) -> Option<u64> {
    let measured_ns = stop.at_ns?.saturating_sub(warm_up_ns);
    (extend > 0).then(|| warm_up_ns + measured_ns / (u64::from(extend) + 1))
}
