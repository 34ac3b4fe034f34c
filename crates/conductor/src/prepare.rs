//! Everything that can go wrong before the first request, so that it does not go wrong after it.

use std::time::Duration;

use engine::limits::{Shortfall, shortfalls};
use engine::{Endpoint, Job, Peer, ProbeError, Probed, TlsError, TlsPeer, TlsTrust, allowed_cores};
use plan::{Fault, Pin, Plan, Trust};
use wire::http1::{Http1, Step, Template};

use crate::cores::permit;
use crate::resolve::{self, ResolveError};

/// A plan that is ready to run.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(crate) job: Job,
    pub(crate) script: Http1,
    /// How long the name look-up took; `None` if there was nothing to look up.
    pub(crate) resolved: Option<Duration>,
    /// What the first connection showed.
    pub(crate) probed: Probed,
}

/// The parts of a memory bound, in bytes. Each is what its owner may take at worst, whatever the target sends.
mod bound {
    /// A connection's own state, the kernel's not included.
    pub(super) const CONNECTION: u64 = 1024;
    /// A reply's head that comes in pieces. What grows as it comes may own twice what it holds.
    pub(super) const PARTIAL_HEAD: u64 = 2 * 64 * 1024;
    /// A TLS session with an incomplete message.
    pub(super) const TLS: u64 = 2 * 300 * 1024;
    /// One set of histograms with every counter in use: 12 of 33 chunks of 8 KiB, for warm-up and measurement.
    pub(super) const HISTOGRAMS: u64 = 2 * 12 * 33 * 8 * 1024;
    /// Read buffers and events of a thread.
    pub(super) const THREAD: u64 = 256 * 1024;
    /// Sets of histograms per thread and step: the second that is counted, and one on its way to the store.
    pub(super) const SETS_PER_THREAD: u64 = 2;
    /// Sets per step in the thread that keeps results: the sum so far.
    pub(super) const SETS_OF_KEEPER: u64 = 1;
    /// Sets of all steps together: the second that is shown, or the sum that is judged.
    pub(super) const SETS_OF_ALL_STEPS: u64 = 1;
    /// A request kept for a log, now and on its way to the store.
    pub(super) const LOGGED: u64 = 4 * 128;
    /// Requests as they are sent: those of the study, of the plan and of the script, and one on its way between them.
    pub(super) const COPIES_OF_REQUESTS: u64 = 4;
    /// A regular expression: its program, forwards, backwards and in one pass.
    pub(super) const EXPRESSION: u64 = 3 * 1024 * 1024;
    /// What a thread keeps of an expression while it looks for matches.
    pub(super) const EXPRESSION_PER_THREAD: u64 = 6 * 1024 * 1024;
    /// The program, the store's cache, the terminal.
    pub(super) const PROGRAM: u64 = 24 * 1024 * 1024;
}

impl Prepared {
    /// More memory than this the run does not take, however long it lasts and whatever the target sends, as long as the
    /// store takes in each second within the next one; in bytes.
    pub fn memory_bound_bytes(&self) -> u64 {
        let (connections, threads) = (u64::from(self.job.connections()), u64::from(self.job.threads));
        let steps = self.job.scenarios.steps() as u64;
        let longest = |variable| self.longest_bytes(variable);
        let sealed = if self.job.peer.tls.is_some() {
            self.script.request_bytes_max(longest).saturating_add(bound::TLS)
        } else {
            0
        };
        let per_connection =
            [bound::CONNECTION, bound::PARTIAL_HEAD, self.script.kept_bytes_max(longest), sealed]
                .into_iter()
                .fold(0, u64::saturating_add);
        let sets =
            steps * (threads * bound::SETS_PER_THREAD + bound::SETS_OF_KEEPER) + bound::SETS_OF_ALL_STEPS;
        let expressions = self.script.expressions() as u64;
        [
            connections.saturating_mul(per_connection),
            threads * bound::THREAD,
            sets * bound::HISTOGRAMS,
            steps * u64::from(self.job.log_per_second) * bound::LOGGED,
            expressions * (bound::EXPRESSION + threads * bound::EXPRESSION_PER_THREAD),
            self.script.shared_bytes().saturating_mul(bound::COPIES_OF_REQUESTS),
            self.job.data.iter().map(|data| data.source.kept_bytes() as u64).sum(),
            bound::PROGRAM,
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }

    /// Bytes of the longest value that a source of data gives to a variable.
    fn longest_bytes(&self, variable: u16) -> u64 {
        let fills =
            self.job.data.iter().flat_map(|data| data.fills.iter().map(move |fill| (&data.source, fill)));
        let of_variable = fills.filter(|(_, (filled, _))| *filled == variable);
        of_variable.map(|(source, (_, column))| source.longest_bytes(*column) as u64).max().unwrap_or(0)
    }
}

/// Why a plan cannot run here.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The target has no address.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(TlsError),
    /// The file of authorities cannot be used.
    #[error(transparent)]
    Authorities(TlsError),
    /// The target cannot be spoken to.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// This machine is too small for it.
    #[error("this machine is too small for the load: {}", list(.0))]
    Limits(Vec<Shortfall>),
    /// The plan does not fit this machine.
    #[error("{0}")]
    Plan(Fault),
}

fn list(shortfalls: &[Shortfall]) -> String {
    shortfalls.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl From<TlsError> for Refusal {
    fn from(error: TlsError) -> Self {
        if matches!(error, TlsError::Authorities { .. }) {
            Self::Authorities(error)
        } else {
            Self::Tls(error)
        }
    }
}

/// Resolves, checks the machine's limits, and connects once. Sends nothing.
pub fn prepare(plan: &Plan) -> Result<Prepared, Refusal> {
    let cores = cores(&plan.pin)?;
    let threads = plan.threads.unwrap_or_else(|| {
        let wanted = if cores.is_empty() { allowed_cores().len() } else { cores.len() };
        (wanted as u32).clamp(1, plan.connections())
    });
    let (endpoint, resolved) = match &plan.peer.unix_socket {
        Some(path) => (Endpoint::Unix(path.clone()), None),
        None => {
            let (address, took) = resolve::resolve(&plan.peer.host, plan.peer.port)?;
            (Endpoint::Tcp(address), (!took.is_zero()).then_some(took))
        }
    };
    let short = shortfalls(plan.connections().into(), threads.into(), matches!(endpoint, Endpoint::Tcp(_)));
    if !short.is_empty() {
        return Err(Refusal::Limits(short));
    }
    let trust = plan.peer.tls.as_ref().map(|trust| match trust {
        Trust::System => TlsTrust::System,
        Trust::Authorities(path) => TlsTrust::Authorities(path.clone()),
        Trust::AnyName(path) => TlsTrust::AnyName(path.clone()),
        Trust::Anything => TlsTrust::Anything,
    });
    let tls = trust.map(|trust| TlsPeer::new(&plan.peer.host, &trust)).transpose()?;
    let peer = Peer::of(endpoint, tls);
    let probed = engine::probe(&peer, Duration::from_nanos(plan.connect_timeout_ns))?;
    let script = script(plan)?;
    let job = Job {
        load: plan.load.clone(),
        stop: plan.stop,
        warm_up_ns: plan.warm_up_ns,
        peer,
        timeout_ns: plan.timeout_ns,
        connect_timeout_ns: plan.connect_timeout_ns,
        keep_alive: plan.steps.iter().all(|step| step.request.keep_alive),
        threads,
        cores,
        log_per_second: plan.log_per_second,
        scenarios: plan.scenarios.clone(),
        parts: 0,
        pool: None,
        choosers: Vec::new(),
        data: plan.data.clone(),
        seed: plan.seed,
    };
    Ok(Prepared { job, script, resolved, probed })
}

fn script(plan: &Plan) -> Result<Http1, Refusal> {
    let refuse = |name: &str, what: String| {
        Err(Refusal::Plan(Fault::new(format!("step {name:?}"), what, "correct the step")))
    };
    let mut steps = Vec::new();
    for step in &plan.steps {
        match Template::compile(&step.request, &plan.variables) {
            Ok(request) => {
                let (checks, captures) = (step.checks.clone(), step.captures.clone());
                steps.push(Step { request, checks, captures });
            }
            Err(faults) => {
                return refuse(&step.name, faults.first().map(ToString::to_string).unwrap_or_default());
            }
        }
    }
    let missing = plan.scenarios.visits().find(|visit| usize::from(visit.step) >= steps.len());
    if let Some(visit) = missing {
        return refuse(&visit.step.to_string(), "a scenario has it, and the plan does not".to_owned());
    }
    Ok(Http1::new(steps, plan.variables.len() as u16))
}

fn cores(pin: &Pin) -> Result<Vec<usize>, Refusal> {
    let allowed = allowed_cores();
    match pin {
        Pin::No => Ok(Vec::new()),
        Pin::Auto => Ok(allowed),
        Pin::Cores(cores) => {
            permit("--pin", cores, &allowed).map_err(Refusal::Plan)?;
            Ok(cores.clone())
        }
    }
}
