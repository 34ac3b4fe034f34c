//! Steps of users, compiled for the protocols of their systems.

use std::sync::Arc;
use std::time::Duration;

use engine::{ExchangeClient, FirstRequests, Job, Peer, Running};
use plan::{Endpoint, Fault, Plan, Select};
use ring::rand::{SecureRandom, SystemRandom};
use wire::step::LoadSteps;
use wire::{Channel, Channels, Footprint, Mix, PeerStep, Shards};

use crate::databases;
use crate::endpoint_kind::{EndpointKind, StepsAt};
use crate::prepare::Refusal;
use crate::stretching;

/// Compiled steps of a plan: requests, transactions, or both.
#[derive(Debug)]
pub(crate) struct Steps {
    script: Box<dyn Channels>,
    /// Variables of requests that contain values saved by transactions.
    saved: Vec<u16>,
}

impl Steps {
    pub(crate) fn read(plan: &Plan) -> Result<Self, Refusal> {
        Self::read_at(plan, &[])
    }

    /// Steps that are already compiled, for one peer.
    pub(crate) fn compiled(script: Box<dyn Channels>) -> Self {
        Self { script, saved: Vec::new() }
    }

    /// Whether a link to the first peer carries one request at a time.
    pub(crate) fn is_serial(&self) -> bool {
        self.script.room(0) == 1 && !self.script.is_in_process(0)
    }

    /// Compiles transactions to text, without a server.
    pub(crate) fn recorded(plan: &Plan) -> Result<Self, Refusal> {
        Self::with(plan, &[], |kind| kind.compile_to_text)
    }

    /// Compiles with the scales that were read from the tables, by endpoint.
    pub(crate) fn read_at(plan: &Plan, scales: &[Option<i64>]) -> Result<Self, Refusal> {
        Self::with(plan, scales, |kind| kind.compile)
    }

    fn with(
        plan: &Plan,
        scales: &[Option<i64>],
        compile: impl Fn(&EndpointKind) -> Compile,
    ) -> Result<Self, Refusal> {
        let steps = plan.steps.len();
        if let Some(visit) = plan.scenarios.visits().find(|visit| usize::from(visit.step) >= steps) {
            return refuse(&visit.step.to_string(), "a scenario has it, and the plan does not".to_owned());
        }
        let mut scripts = Vec::new();
        for (number, endpoint) in (0..).zip(&plan.endpoints) {
            let scale = scales.get(usize::from(number)).copied().flatten();
            // All nodes of a cluster share a script.
            let count = if endpoint.nodes().is_some() { 1 } else { endpoint.shards() };
            for shard in 0..count {
                let steps = StepsAt { plan, number, shard, scale };
                scripts.push(compile(databases::kind_at(endpoint))(&steps)?);
            }
        }
        if scripts.len() == 1 {
            return Ok(Self { script: scripts.remove(0), saved: Vec::new() });
        }
        let saved = plan.endpoints.iter().flat_map(|endpoint| endpoint.load.script_variables());
        let saved = saved.copied().collect();
        let mix = Mix::new(scripts, &places(plan)).with_shards(shard_rules(plan)?);
        Ok(Self { script: Box::new(mix), saved })
    }

    /// Opens a channel to a peer, in addition to the channels of the load.
    pub(crate) fn open(&self, peer: u16) -> Box<dyn Channel> {
        self.script.open(peer, 0)
    }

    /// Client that runs steps outside of a load, each on request.
    pub(crate) fn errand(self, peers: Vec<Peer>, timeout: Duration) -> ExchangeClient {
        ExchangeClient::new(peers, self.script, timeout)
    }

    /// First requests of each step, up to `most`. `saved` has a value for each variable that a reply sets.
    pub(crate) fn first_requests(
        &self,
        job: &Job,
        most: usize,
        saved: &[(u16, Vec<u8>)],
    ) -> Vec<FirstRequests> {
        engine::first_requests(job, &*self.script, most, saved)
    }

    pub(crate) fn start(self, job: Job) -> std::io::Result<Running> {
        engine::start(job, self.script)
    }

    /// Makes the messages of rejected requests quote the start of the reply's body.
    pub(crate) fn with_quoted_replies(mut self) -> Self {
        self.script.quote();
        self
    }

    /// Number of accounts by address of a load.
    pub(crate) fn address_accounts(&self, job: &Job) -> usize {
        engine::address_accounts(job, &*self.script).len()
    }

    /// Upper bound of the memory of the steps. `longest` returns the maximum length of a variable's value.
    pub(crate) fn footprint(&self, longest: impl Fn(u16) -> u64) -> Footprint {
        // A value saved by a transaction is no longer than the part of a reply that a connection keeps.
        self.script.footprint(&|variable| match self.saved.contains(&variable) {
            true => sql::KEPT_BYTES,
            false => longest(variable),
        })
    }
}

/// Compiles the steps at an endpoint.
type Compile = fn(&StepsAt<'_>) -> Result<Box<dyn Channels>, Refusal>;

fn refuse<T>(name: &str, what: String) -> Result<T, Refusal> {
    Err(Refusal::Plan(Fault::new(format!("step {name:?}"), what, "correct the step")))
}

/// Number of the first peer of each endpoint. Every shard is a peer.
fn first_peers(plan: &Plan) -> Vec<u16> {
    let counted = plan.endpoints.iter().scan(0, |next, endpoint| {
        let first = *next;
        *next += endpoint.shards() as u16;
        Some(first)
    });
    counted.collect()
}

/// Rules that select shards by the hash of a value.
fn shard_rules(plan: &Plan) -> Result<Vec<Shards>, Refusal> {
    let rule = |(first, endpoint): (u16, &Endpoint)| {
        let Some(Select::Hash(key, rule)) = &endpoint.select else { return None };
        let peers = first..first + endpoint.shards() as u16;
        let shards = Shards::new(peers, key, &plan.variables, rule.clone());
        Some(
            shards
                .or_else(|name| refuse(&endpoint.name, format!("undefined variable {{{name}}} in `select`"))),
        )
    };
    first_peers(plan).into_iter().zip(&plan.endpoints).filter_map(rule).collect()
}

/// Peer of each step, and its number there, for loads on several systems.
fn places(plan: &Plan) -> Vec<PeerStep> {
    let first = first_peers(plan);
    let mut next = vec![0; plan.endpoints.len()];
    let mut place = |endpoint: u16| {
        let step = &mut next[usize::from(endpoint)];
        *step += 1;
        PeerStep { peer: first[usize::from(endpoint)], step: *step - 1 }
    };
    plan.steps.iter().map(|step| place(step.endpoint)).collect()
}

/// Compiles the requests to a system, or to one of its shards.
pub(crate) fn requests(at: &StepsAt<'_>) -> Result<Box<dyn Channels>, Refusal> {
    let StepsAt { plan, number, shard, .. } = *at;
    let endpoint = at.endpoint();
    let Some(protocol) = endpoint.protocol() else {
        return refuse("0", "another load generator makes the load".to_owned());
    };
    let Some(own) = protocol.steps() else {
        return refuse("0", "it is a request, and the system is one of SQL".to_owned());
    };
    let (mut steps, mut names) = (Vec::new(), Vec::new());
    for (_, step) in plan.steps_at(number) {
        let Some(action) = step.owned() else {
            return refuse(
                &step.name,
                format!("it is no step of {}, which the system speaks", protocol.noun()),
            );
        };
        steps.push(Arc::clone(&action.step));
        names.push(&step.name);
    }
    let access = endpoint.peers().get(shard).unwrap_or(endpoint.peer()).access.filled(&plan.secrets);
    let stretcher = stretching::stretcher(Duration::from_nanos(plan.connect_timeout_ns));
    let load = LoadSteps {
        steps: &steps,
        variables: &plan.variables,
        secrets: &plan.secrets,
        access: &access,
        pipeline: plan.pipeline,
        nonce: nonce()?,
        stretcher: Some(&stretcher),
        shard: (endpoint.shards() > 1 && endpoint.nodes().is_none()).then_some(shard),
        nodes: endpoint.nodes(),
    };
    (own.compile)(&load).or_else(|wrong| {
        let name = names.get(wrong.step).map_or("", |name| name.as_str());
        refuse(name, wrong.what)
    })
}

/// Random bytes for log-ins.
pub(crate) fn nonce() -> Result<[u8; 18], Refusal> {
    let mut nonce = [0; 18];
    SystemRandom::new().fill(&mut nonce).map_err(|_| {
        let what = "the system gives no random numbers, from which a log-in is made";
        Refusal::Plan(Fault::new("log-in", what, "see whether /dev/urandom can be read"))
    })?;
    Ok(nonce)
}
