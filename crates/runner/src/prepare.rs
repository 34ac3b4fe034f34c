//! Preparation of a load: everything that can fail before the first request.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use ::replay::play::Outcomes;
use engine::limits::{Shortfall, connections_max, shortfalls};
use engine::{
    ClientFiles, Endpoint, Job, Peer, ProbeError, Selection, TlsError, TlsPeer, TlsTrust, allowed_cores,
};
use evidence::ThreadRule;
use lab::listening::UnreadableSystem;
use lab::running::{self, SearchedSystem, SystemLocator};
use load::xoroshiro::Xoroshiro;
use load::{Load, Open, Order, Share};
use plan::{ClientCertificate, Fault, Pin, Plan, RunningAs, Select, Trust};

use crate::consent::{self, ConsentError, OwnerToken, PublicLoads, Target};
use crate::cores::check_allowed;
use crate::database_check::{DatabaseFacts, NotReady};
use crate::databases;
use crate::endpoint_kind::{ConnectionFacts, ConnectionRoom, FirstConnection};
use crate::generator::{Ready, RunningLoad};
use crate::load_tool;
use crate::protocol::Steps;
use crate::replay;
use crate::resolve::{self, ResolveError};
use crate::stopper::{StopLevel, Stopper};
use crate::threads::{GeneratorThreads, is_system_here};

/// Interval at which stop requests are checked.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// A plan that is ready to run.
#[derive(Debug)]
pub struct Prepared {
    /// Number of generator threads.
    pub threads: u32,
    /// Rule that chose the number of threads. `None` if an external load generator makes the load.
    pub thread_rule: Option<ThreadRule>,
    /// Cores that the threads are pinned to; empty if they are not pinned.
    pub cores: Vec<usize>,
    /// All addresses of the load.
    pub endpoints: Vec<Endpoint>,
    /// Upper bound of the memory of the run, in bytes.
    pub memory_bound_bytes: u64,
    /// Duration of the name resolution. `None` if no name was resolved.
    pub resolved: Option<Duration>,
    /// TLS version, cipher suite, and key exchange. `None` without TLS.
    pub tls: Option<String>,
    /// Whether the server requested a client certificate, but none is configured.
    pub is_certificate_missing: bool,
    /// Facts that a database reported.
    pub learnt: DatabaseFacts,
    /// Processes that the plan lists as the system. `None` if it lists none.
    pub running: Option<SearchedSystem>,
    /// Plan with the servers that the servers of its URLs reported. `None` if its URLs name the servers.
    pub discovered: Option<Box<Plan>>,
    /// Results of a replay, which its connections add to. `None` for any other load.
    pub replayed: Option<Arc<Outcomes>>,
    /// Load, ready to start.
    pub ready: Box<dyn Ready>,
}

/// Load of the engine in this process.
#[derive(Debug)]
pub(crate) struct EngineLoad {
    pub(crate) job: Job,
    pub(crate) script: Steps,
}

impl Ready for EngineLoad {
    fn record_windows(&mut self) {
        self.job.keeps_timeline = true;
    }

    fn with_quoted_replies(self: Box<Self>) -> Box<dyn Ready> {
        Box::new(Self { job: self.job, script: self.script.with_quoted_replies() })
    }

    fn start(self: Box<Self>, share: Share) -> io::Result<Box<dyn RunningLoad>> {
        let Self { job, script } = *self;
        Ok(Box::new(script.start(Job { share, ..job })?))
    }
}

/// Reason why a plan cannot run here.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The target has no address that may be loaded.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The owner of a public server has not consented to the load.
    #[error(transparent)]
    Consent(#[from] ConsentError),
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(TlsError),
    /// A file with certificates or a key cannot be used.
    #[error(transparent)]
    TlsFile(TlsError),
    /// The target does not speak the protocol.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// The database is not ready for the load.
    #[error(transparent)]
    NotReady(#[from] NotReady),
    /// Limits of this machine that are too low for the load.
    #[error("this machine is too small for the load: {}", list(.0))]
    Limits(Vec<Shortfall>),
    /// A `setup` request failed.
    #[error("{0}")]
    ExchangeClient(String),
    /// The plan does not fit this machine.
    #[error("{0}")]
    Plan(Fault),
    /// A stop was requested.
    #[error("stopped")]
    Stopped,
}

fn list(shortfalls: &[Shortfall]) -> String {
    shortfalls.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n  also: ")
}

impl From<TlsError> for Refusal {
    fn from(error: TlsError) -> Self {
        if error.is_about_file() { Self::TlsFile(error) } else { Self::Tls(error) }
    }
}

/// Prepares a load: resolves names, checks the limits of this machine, asks the owners of public servers, and connects once. Sends no
/// requests of the load.
pub fn prepare(plan: &Plan, public: &PublicLoads) -> Result<Prepared, Refusal> {
    let running = running(plan)?;
    let prepared = match (plan.tool(), &plan.replay) {
        (Some(tool), _) => load_tool::prepare(plan, tool, public),
        (None, Some(log)) => replay::prepare(plan, log, public),
        (None, None) => prepare_engine(plan, public, |load| load),
    }?;
    Ok(Prepared { running, ..prepared })
}

/// Processes of the system that the plan names. It is an error if they do not exist.
fn running(plan: &Plan) -> Result<Option<SearchedSystem>, Refusal> {
    let Some(named) = &plan.running else { return Ok(None) };
    let (place, by) = match named {
        RunningAs::Pid(pid) => ("pid", SystemLocator::Process(*pid)),
        RunningAs::PidFile(path) => ("pid", SystemLocator::PidFile(path.clone())),
        RunningAs::Container(container) => ("container", SystemLocator::Container(container.clone())),
    };
    match running::find(&by) {
        Ok(running) => Ok(Some(SearchedSystem { by, found: Ok(running) })),
        Err(UnreadableSystem { what, help, .. }) => {
            let help = help.as_deref().unwrap_or("see whether it runs");
            Err(Refusal::Plan(Fault::new(place, what, help)))
        }
    }
}

/// Job of a plan for the engine, without peers and with one thread.
pub(crate) fn job(plan: &Plan) -> Job {
    Job {
        load: plan.load.clone(),
        share: Share::WHOLE,
        stop: plan.stop,
        warm_up_ns: plan.warm_up_ns,
        peers: Vec::new(),
        timeout_ns: plan.timeout_ns,
        connect_timeout_ns: plan.connect_timeout_ns,
        threads: 1,
        cores: Vec::new(),
        log_per_second: plan.log_per_second,
        keeps_timeline: false,
        scenarios: plan.scenarios.clone(),
        parts: plan.parts().len() as u16,
        pool: plan.pool(),
        initial_connections: None,
        choosers: choosers(plan),
        data: plan.data.clone(),
        seed: plan.seed,
    }
}

/// Prepares a load of the engine. `change` gets the load that the plan describes, and returns the one to make.
pub(crate) fn prepare_engine(
    plan: &Plan,
    public: &PublicLoads,
    change: impl FnOnce(EngineLoad) -> EngineLoad,
) -> Result<Prepared, Refusal> {
    let discovered = databases::discovered(plan)?;
    let plan = discovered.as_deref().unwrap_or(plan);
    let cores = cores(&plan.pin)?;
    let (mut peers, resolved) = peers(&plan.endpoints, public)?;
    apply_load(&mut peers, plan);
    let endpoints = distinct_endpoints(&peers);
    let GeneratorThreads { count: threads, rule } =
        GeneratorThreads::choose(plan, &cores, is_system_here(&endpoints));
    let needs_ports = matches!(endpoints.first(), Some(Endpoint::Tcp(_)));
    let short = shortfalls_of(plan, threads, needs_ports);
    if !short.is_empty() {
        return Err(Refusal::Limits(short));
    }
    if let PublicLoads::WithConsent(token) = public {
        ask_owners(plan, &plan.endpoints, &peers, token)?;
    }
    let script = Steps::read(plan)?;
    let found = plan.endpoints.iter().zip(&peers).enumerate();
    let asked = found.flat_map(|(number, (endpoint, peer))| {
        shards(endpoint, peer).map(move |peer| (number, endpoint, peer))
    });
    let asked: Vec<(usize, &plan::Endpoint, Peer)> = asked.collect();
    let ServerFacts { learnt, tls, is_certificate_missing, scales, room } =
        ServerFacts::ask(plan, &script, &asked)?;
    let script = match scales.iter().any(Option::is_some) {
        // The size of the tables is known only now.
        true => Steps::read_at(plan, &scales)?,
        false => script,
    };
    let peers = asked.into_iter().map(|(_, _, peer)| peer).collect();
    let max = max_connections(plan, threads, needs_ports, room);
    let job = with_growth(Job { peers, threads, cores, ..job(plan) }, plan, &script, max);
    let (cores, load) = (job.cores.clone(), change(EngineLoad { job, script }));
    let memory_bound_bytes = load.memory_bound_bytes();
    Ok(Prepared {
        threads,
        thread_rule: Some(rule),
        cores,
        endpoints,
        memory_bound_bytes,
        resolved,
        tls,
        is_certificate_missing,
        learnt: learnt.unwrap_or_default(),
        running: None,
        discovered,
        replayed: None,
        ready: Box::new(load),
    })
}

/// Returns each endpoint of the peers once, because the attempts of a log-in may name a server more than once.
fn distinct_endpoints(peers: &[Peer]) -> Vec<Endpoint> {
    let mut endpoints: Vec<Endpoint> = Vec::new();
    for endpoint in peers.iter().flat_map(|peer| &peer.endpoints) {
        if !endpoints.contains(endpoint) {
            endpoints.push(endpoint.clone());
        }
    }
    endpoints
}

/// Facts that servers reported over the first connections.
struct ServerFacts {
    /// Facts from the first database. `None` if there is none.
    learnt: Option<DatabaseFacts>,
    /// TLS version, cipher suite, and key exchange. `None` without TLS.
    tls: Option<String>,
    /// Whether a server requested a client certificate, but none is configured.
    is_certificate_missing: bool,
    /// Scales that were read from the tables, by number of the endpoint.
    scales: Vec<Option<i64>>,
    /// Connections that the systems allow.
    room: ConnectionRoom,
}

impl ServerFacts {
    /// Connects once to each peer, so that an unusable server fails the run before the load. Each peer has its endpoint and the number of
    /// that.
    fn ask(plan: &Plan, script: &Steps, asked: &[(usize, &plan::Endpoint, Peer)]) -> Result<Self, Refusal> {
        let timeout = Duration::from_nanos(plan.connect_timeout_ns);
        let (mut learnt, mut tls, mut is_certificate_missing) = (None, None, false);
        let mut scales = vec![None; plan.endpoints.len()];
        let mut room = ConnectionRoom::Unlimited;
        let first_kind = databases::kind_at(plan.endpoint());
        for ((number, endpoint, peer), place) in asked.iter().zip(0..) {
            let kind = databases::kind_at(endpoint);
            let wanted = connections(plan).min(endpoint.pool.unwrap_or(u32::MAX));
            let first = FirstConnection { endpoint, peer, place, steps: script, wanted, timeout };
            let ConnectionFacts { probed, facts, scale, room: of_peer } = (kind.ask)(&first)?;
            scales[*number] = scales[*number].or(scale);
            room = room.and(of_peer);
            learnt = learnt.or(facts);
            // Reports show the TLS of the first kind of endpoint.
            if std::ptr::eq(kind, first_kind) {
                tls = tls.or(probed.tls);
                is_certificate_missing |= probed.is_certificate_missing;
            }
        }
        Ok(Self { learnt, tls, is_certificate_missing, scales, room })
    }
}

/// Applies the connection settings of a plan to the peers of its endpoints.
fn apply_load(peers: &mut [Peer], plan: &Plan) {
    let has_address_accounts = !plan.address_parts().is_empty();
    for (peer, endpoint) in peers.iter_mut().zip(&plan.endpoints) {
        (peer.keep_alive, peer.lifetime_ns) = (plan.keep_alive(), plan.connection_lifetime_ns);
        peer.retry_stale = plan.retry_stale;
        peer.has_address_accounts = has_address_accounts && endpoint.select.is_some();
        // The users of a pipeline share its connection.
        let pipelined = (plan.pipeline > 1).then(|| plan.connections());
        peer.pool = endpoint.pool.map(|pool| pool.min(plan.connections())).or(pipelined);
    }
}

/// Connections of a database that an open load does not take: Tenbin looks at the sessions over one, and an operator may need one.
const LEFT_FREE: u64 = 2;

/// Number of connections that this machine and the plan's systems allow.
fn max_connections(plan: &Plan, threads: u32, needs_ports: bool, room: ConnectionRoom) -> u64 {
    let machine_max = connections_max(threads.into(), peer_count(plan), needs_ports).0;
    match room {
        ConnectionRoom::Unlimited => machine_max,
        // A server that does not report its free connections may have no more than the first ones.
        ConnectionRoom::Unknown => 0,
        ConnectionRoom::Left(left) => machine_max.min(left.saturating_sub(LEFT_FREE)),
    }
}

/// Number of systems that each user connects to.
pub(crate) fn peer_count(plan: &Plan) -> u64 {
    plan.endpoints.iter().map(|endpoint| endpoint.shards() as u64).sum()
}

/// Lets an open load open further connections on demand, up to the maximum of its plan and `max`, if the plan allows it.
fn with_growth(job: Job, plan: &Plan, script: &Steps, max: u64) -> Job {
    // Links that carry several requests at a time need no more links. A log-in step is done by each user before the load.
    let is_own = job.peers.iter().all(|peer| peer.pool.is_none())
        && plan.endpoints.iter().all(|endpoint| !endpoint.is_in_process());
    let may_grow = is_own && script.is_serial() && job.scenarios.once().next().is_none();
    let max = plan.grows_to.filter(|_| may_grow).map(|of_plan| u64::from(of_plan).min(max) as u32);
    match (&job.load, max) {
        (Load::Open(open), Some(max)) if max > open.connections => {
            let (load, first) = (Open { connections: max, ..open.clone() }, open.connections);
            Job { load: Load::Open(load), initial_connections: Some(first), ..job }
        }
        _ => job,
    }
}

/// Like [`prepare`], but a stop request aborts the wait for a silent server.
pub(crate) fn prepare_unless_stopped(
    plan: &Plan,
    public: &PublicLoads,
    stopper: &Stopper,
) -> Result<Prepared, Refusal> {
    let (teller, told) = mpsc::channel();
    let (own_plan, own_public) = (plan.clone(), public.clone());
    let waiting = thread::Builder::new().name("prepare".to_owned()).spawn(move || {
        // Sending fails if the run was stopped and the receiver was dropped.
        let _ = teller.send(prepare(&own_plan, &own_public));
    });
    if waiting.is_err() {
        return prepare(plan, public);
    }
    loop {
        match told.recv_timeout(STOP_CHECK_INTERVAL) {
            Ok(prepared) => return prepared,
            Err(RecvTimeoutError::Timeout) if stopper.level() == StopLevel::Go => {}
            Err(RecvTimeoutError::Timeout) => return Err(Refusal::Stopped),
            Err(RecvTimeoutError::Disconnected) => return prepare(plan, public),
        }
    }
}

/// Resources that this machine lacks. Users of several peers have one connection to each; ports are counted per peer.
pub(crate) fn shortfalls_of(plan: &Plan, threads: u32, needs_ports: bool) -> Vec<Shortfall> {
    let (connections, threads) = (u64::from(plan.connections()), u64::from(threads));
    let peers = peer_count(plan);
    let at_endpoint = |endpoint: &plan::Endpoint| {
        endpoint.shards() as u64 * connections.min(endpoint.pool.map_or(u64::MAX, u64::from))
    };
    let of_all = plan.endpoints.iter().map(at_endpoint).sum();
    let of_all = if peers > 1 { shortfalls(of_all, threads, false) } else { Vec::new() };
    if of_all.is_empty() { shortfalls(connections, threads, needs_ports) } else { of_all }
}

/// Number of connections that the load opens at once.
pub(crate) fn connections(plan: &Plan) -> u32 {
    plan.connections().min(plan.pool().unwrap_or(u32::MAX))
}

/// Peers of endpoints, by number, and the duration of the first endpoint's name resolution.
pub(crate) fn peers(
    endpoints: &[plan::Endpoint],
    public: &PublicLoads,
) -> Result<(Vec<Peer>, Option<Duration>), Refusal> {
    let find = |endpoint: &plan::Endpoint| (databases::kind_at(endpoint).addresses)(endpoint, public);
    let found = endpoints.iter().map(find).collect::<Result<Vec<_>, Refusal>>()?;
    let resolved = found.first().and_then(|(_, resolved)| *resolved);
    let peers = endpoints.iter().zip(found).map(|(endpoint, (peer, _))| {
        let selection = match endpoint.select {
            Some(Select::First) => Selection::First,
            Some(Select::InTurn | Select::Hash(..) | Select::Cluster(_)) => Selection::InTurn,
            None => peer.selection,
        };
        match endpoint.protocol() {
            Some(protocol) => {
                Peer { tls: peer.tls.map(|tls| tls.with_alpn(protocol.alpn)), selection, ..peer }
            }
            None => Peer { selection, ..peer },
        }
    });
    Ok((peers.collect(), resolved))
}

/// Peers of the engine for an endpoint: each of its shards, or the endpoint itself.
pub(crate) fn shards(endpoint: &plan::Endpoint, peer: &Peer) -> impl Iterator<Item = Peer> {
    let count = endpoint.shards();
    (0..count).map(move |shard| if count > 1 { peer.at(shard) } else { peer.clone() })
}

/// Requests the consent of the owners of public servers, for requests and databases.
pub(crate) fn ask_owners(
    plan: &Plan,
    endpoints: &[plan::Endpoint],
    found: &[Peer],
    token: &OwnerToken,
) -> Result<(), ConsentError> {
    let targets: Vec<Target<'_>> = endpoints
        .iter()
        .zip(found)
        .map(|(endpoint, resolved)| Target {
            peers: endpoint.load.attempted_peers(),
            resolved,
            serves_web: !endpoint.load.upgrades_to_tls(),
        })
        .collect();
    consent::check(plan, &targets, token)
}

/// Addresses of peers, and the duration of their name resolution. With `upgrades_to_tls`, the protocol starts TLS.
pub(crate) fn addresses(
    peers: &[plan::Peer],
    upgrades_to_tls: bool,
    public: &PublicLoads,
) -> Result<(Peer, Option<Duration>), Refusal> {
    let mut endpoints = Vec::new();
    let mut resolved = Duration::ZERO;
    for peer in peers {
        match &peer.unix_socket {
            Some(path) => endpoints.push(Endpoint::Unix(path.clone())),
            None => {
                let (found, took) = match peer.addresses.as_slice() {
                    [] => resolve::resolve(&peer.host, peer.port, public)?,
                    given => (resolve::permitted_addresses(given, peer.port, public)?, Duration::ZERO),
                };
                // If there are several hosts, each uses one address.
                let kept = if upgrades_to_tls || peers.len() > 1 { 1 } else { found.len() };
                endpoints.extend(found.into_iter().take(kept).map(Endpoint::Tcp));
                resolved += took;
            }
        }
    }
    let trusted = peers.iter().find_map(|peer| Some((peer, peer.tls.as_ref()?)));
    let tls = trusted.map(|(peer, trust)| {
        let trust = match trust {
            Trust::System => TlsTrust::System,
            Trust::Authorities(path) => TlsTrust::Authorities(path.clone()),
            Trust::AnyName(path) => TlsTrust::AnyName(path.clone()),
            Trust::Anything => TlsTrust::Anything,
        };
        let hosts = peers.iter().filter(|_| peers.len() > 1).map(|peer| peer.host.as_str());
        let tls = TlsPeer::new(&peer.host, &trust)?.with_names(hosts)?;
        let tls = if peer.resumes_tls { tls.with_resumption() } else { tls };
        match &peer.certificate {
            Some(ClientCertificate { cert, key }) => {
                tls.with_client_certificate(&ClientFiles { cert: cert.clone(), key: key.clone() })
            }
            None => Ok(tls),
        }
    });
    let tls = tls.transpose()?;
    Ok((
        Peer { endpoints, tls_on_request: upgrades_to_tls, ..Peer::of(Endpoint::Unix(PathBuf::new()), tls) },
        (!resolved.is_zero()).then_some(resolved),
    ))
}

/// Random generators that users of a closed load use to choose scripts, seeded as in pgbench. Empty for other steps, and if weights are not
/// integers, which pgbench does not support.
fn choosers(plan: &Plan) -> Vec<Xoroshiro> {
    let Load::Closed(closed) = &plan.load else { return Vec::new() };
    let is_pgbenchs = match plan.scenarios.list.as_slice() {
        [only] => {
            matches!(&only.order, Order::Mix(visits) if visits.iter().all(|(_, weight)| weight.fract() == 0.0))
        }
        _ => false,
    };
    if !is_pgbenchs {
        return Vec::new();
    }
    let mut of_scripts =
        plan.endpoints.iter().filter_map(|endpoint| endpoint.load.choosers(plan.seed, closed.users));
    of_scripts.next().unwrap_or_default()
}

pub(crate) fn cores(pin: &Pin) -> Result<Vec<usize>, Refusal> {
    let allowed = allowed_cores();
    match pin {
        Pin::No => Ok(Vec::new()),
        Pin::Auto => Ok(allowed),
        Pin::Cores(cores) => {
            check_allowed("--pin", cores, &allowed).map_err(Refusal::Plan)?;
            Ok(cores.clone())
        }
    }
}
