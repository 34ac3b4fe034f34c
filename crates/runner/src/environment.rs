//! Environment of a load: processes that share its cores, time that the machine took away, and requests counted by the server.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Instant;

use engine::Endpoint;
use evidence::Reading;
use judge::{Environment, Process};
use lab::census::{self, Census};
use lab::connected;
use lab::listening::{self, ListenAddress};
use lab::probes::Subject;
use lab::running::{self, SearchedSystem, SystemLocator};

use crate::prepare::Prepared;
use crate::server_count::{self, Counts};

/// Maximum number of other processes that are named.
const OTHERS_MAX: usize = 16;
/// Maximum length of a chain of servers: the database of a pooler of the system.
const DEPENDENCIES_DEPTH: usize = 2;

/// State before a load, to be compared with the state after it.
#[derive(Debug, Default)]
pub struct EnvironmentBefore {
    /// Processes and their CPU time, with the time of the census. `None` if not measured.
    looked: Option<(Census, Instant)>,
    /// Processes that listen on the endpoints of the load.
    pub(crate) listeners: Vec<u32>,
    /// Addresses by which the system was found. Empty if it was named in another way.
    places: Vec<ListenAddress>,
    /// Subject of the probes, if Tenbin did not start the system.
    pub(crate) subject: Subject,
    target: Option<(Endpoint, Counts)>,
    /// Cores that the listening processes may use.
    pub(crate) system_cores: BTreeSet<usize>,
    /// Note that system and generator share the machine. `None` if they do not, or it is unknown.
    pub(crate) shared_cores: Option<String>,
}

impl EnvironmentBefore {
    /// Takes the state before a load.
    pub(crate) fn look(prepared: &Prepared) -> Self {
        let endpoints = &prepared.endpoints;
        let places: Vec<ListenAddress> = endpoints.iter().filter_map(place).collect();
        let found: Vec<_> = places.iter().map(listening::listeners).collect();
        let named = prepared.running.as_ref();
        let mut listeners: Vec<u32> = match named.and_then(|named| named.found.as_ref().ok()) {
            Some(running) => running.roots.clone(),
            None => found.iter().flatten().flatten().copied().collect(),
        };
        listeners.sort_unstable();
        listeners.dedup();
        let target = endpoints.first().filter(|_| endpoints.len() == 1 && listeners.iter().any(is_target));
        let target = target.and_then(|endpoint| Some((endpoint.clone(), server_count::ask(endpoint)?)));
        let system_cores = listeners.iter().flat_map(|pid| census::cores(*pid)).collect();
        let shared_cores = shared_cores(&listeners, &system_cores, &prepared.cores);
        let looked = Some((Census::now(), Instant::now()));
        let listening = |places| SearchedSystem {
            by: SystemLocator::Listening(places),
            found: running::from_listeners(found),
        };
        let subject = subject(endpoints, named.cloned().unwrap_or_else(|| listening(places.clone())));
        let places = if named.is_some() { Vec::new() } else { places };
        Self { looked, listeners, places, subject, target, system_cores, shared_cores }
    }

    /// The processes of the system, with their descendants: those that listen, and `roots`. Empty if not measured.
    pub(crate) fn families(&self, roots: &[u32]) -> BTreeSet<u32> {
        let roots: Vec<u32> = self.listeners.iter().chain(roots).copied().collect();
        self.looked.as_ref().map_or_else(BTreeSet::new, |(census, _)| census.families(&roots))
    }

    /// Compares the state with the one after the load. `system` lists further root processes of the system, and `databases` the addresses
    /// of the plan's databases. Servers on this machine that the system is connected to are parts of it.
    pub(crate) fn compare(self, system: &[u32], databases: &[ListenAddress]) -> Environment {
        let Some((census, at)) = self.looked else { return Environment::default() };
        let (now, over_s) = (Census::now(), at.elapsed().as_secs_f64());
        // A worker that started to listen during the load belongs to the system.
        let late = self.places.iter().filter_map(|place| listening::listeners(place).ok()).flatten();
        let roots: Vec<u32> = self.listeners.iter().chain(system).copied().chain(late).collect();
        let mut own = now.families(&roots);
        own.extend(now.families(&databases.iter().flat_map(connected::find_server).collect::<Vec<_>>()));
        for _ in 0..DEPENDENCIES_DEPTH {
            own.extend(now.families(&connected::find_servers(&own).into_iter().collect::<Vec<_>>()));
        }
        own.insert(std::process::id());
        let others = now.since(&census).into_iter().filter(|used| !own.contains(&used.pid));
        let others =
            others.take(OTHERS_MAX).map(|used| Process { pid: used.pid, name: used.name, cpu_s: used.cpu_s });
        let server_requests =
            self.target.and_then(|(endpoint, before)| server_count::ask(&endpoint)?.since(before));
        Environment { others: others.collect(), over_s, server_requests, ..Environment::default() }
    }
}

/// Minimum number of cores of a program that is stored.
const OTHER_PROGRAM_MIN_CORES: f64 = 0.05;
/// Maximum number of programs that are stored.
const OTHER_PROGRAMS_MAX: usize = 3;

/// Returns the programs outside of the system that used most CPU time, as readings.
pub(crate) fn other_programs(environment: &Environment) -> Vec<Reading> {
    let mut cpu_s: BTreeMap<&str, f64> = BTreeMap::new();
    for process in &environment.others {
        *cpu_s.entry(&process.name).or_default() += process.cpu_s;
    }
    let cores = cpu_s.into_iter().map(|(name, cpu_s)| (name, cpu_s / environment.over_s));
    let mut cores: Vec<(&str, f64)> =
        cores.filter(|(_, cores)| cores.is_finite() && *cores >= OTHER_PROGRAM_MIN_CORES).collect();
    cores.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let reading = |(name, cores): (&str, f64)| Reading {
        subject: "machine".to_owned(),
        metric: evidence::OTHER_PROGRAMS.to_owned(),
        label: name.to_owned(),
        value: cores,
    };
    cores.into_iter().take(OTHER_PROGRAMS_MAX).map(reading).collect()
}

/// Place where a process listens for an endpoint. `None` for a database in this process.
fn place(endpoint: &Endpoint) -> Option<ListenAddress> {
    match endpoint {
        Endpoint::Tcp(address) => Some(ListenAddress::Port(address.ip(), SocketAddr::port(address))),
        Endpoint::Unix(path) if *path == PathBuf::new() => None,
        Endpoint::Unix(path) => Some(ListenAddress::Unix(path.clone())),
    }
}

/// Places where the servers of a database listen, as far as they are known without a look-up of names.
pub(crate) fn places_of(database: &plan::Database) -> Vec<ListenAddress> {
    let of_peer = |peer: &plan::Peer| match (&peer.unix_socket, peer.host.parse()) {
        (Some(path), _) => Some(ListenAddress::Unix(path.clone())),
        (None, Ok(address)) => Some(ListenAddress::Port(address, peer.port)),
        (None, Err(_)) if peer.host == "localhost" => {
            Some(ListenAddress::Port(Ipv4Addr::LOCALHOST.into(), peer.port))
        }
        (None, Err(_)) => peer.addresses.first().map(|address| ListenAddress::Port(*address, peer.port)),
    };
    database.peers.iter().filter(|_| database.file.is_none()).filter_map(of_peer).collect()
}

/// Subject of the probes for a system that is already running, with the sockets under load.
fn subject(endpoints: &[Endpoint], system: SearchedSystem) -> Subject {
    if system.by == SystemLocator::Listening(Vec::new()) {
        return Subject::default();
    }
    let port = |endpoint: &Endpoint| match endpoint {
        Endpoint::Tcp(address) => Some((address.ip(), SocketAddr::port(address))),
        Endpoint::Unix(_) => None,
    };
    let served = endpoints.iter().find_map(port).map(|(_, port)| port);
    // Without the processes, the socket queues alone would look like a system that used no CPU time.
    let is_unread = system.found.is_err();
    let here = || endpoints.iter().filter(|_| !is_unread);
    let ports = here().filter_map(port).filter(|(address, _)| listening::is_here(*address));
    let ports: Vec<u16> = ports.map(|(_, port)| port).collect();
    let unix = |endpoint: &Endpoint| match place(endpoint) {
        Some(ListenAddress::Unix(path)) => Some(path),
        _ => None,
    };
    Subject {
        entry: served.filter(|port| ports.contains(port)),
        ports,
        unix_sockets: here().filter_map(unix).collect(),
        running: Some(system),
        served,
        ..Subject::default()
    }
}

/// Whether a process is the built-in target of this executable. Only this target can report its counts. A raw TCP target cannot.
fn is_target(pid: &u32) -> bool {
    let (own, words) = (std::env::current_exe().ok(), census::words(*pid));
    own.is_some()
        && census::program(*pid) == own
        && words.get(1).is_some_and(|word| word == "target")
        && !words.iter().any(|word| word.starts_with("--raw"))
}

/// Describes the listening process and the cores that it shares with the generator. `None` if they are unknown. `pinned` lists the
/// generator's cores, and is empty if it is not pinned.
fn shared_cores(listeners: &[u32], theirs: &BTreeSet<usize>, pinned: &[usize]) -> Option<String> {
    let ours: BTreeSet<usize> = if pinned.is_empty() {
        engine::allowed_cores().into_iter().collect()
    } else {
        pinned.iter().copied().collect()
    };
    let pid = listeners.first()?;
    let name = census::name(*pid)?;
    let shared: Vec<usize> = theirs.intersection(&ours).copied().collect();
    if theirs.is_empty() {
        return None;
    }
    let list = |cores: &BTreeSet<usize>| cores.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    Some(match shared.len() {
        0 => format!(
            "The system ({name}, process {pid}) is on this machine, on core {}; the generator is on core {}.",
            list(theirs),
            list(&ours)
        ),
        count => format!(
            "SHARED: the system ({name}, process {pid}) is on this machine, and {count} of its {} cores {} the generator's as \
             well: that takes from both, and makes differences look smaller.",
            theirs.len(),
            if count == 1 { "is" } else { "are" }
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_of_one_program_count_together_and_small_ones_not() {
        let used = |pid, name: &str, cpu_s| Process { pid, name: name.to_owned(), cpu_s };
        let others =
            vec![used(1, "make", 3.0), used(2, "rustc", 2.0), used(3, "rustc", 2.5), used(4, "sh", 0.1)];
        let environment = Environment { others, over_s: 10.0, ..Environment::default() };
        let found: Vec<_> =
            other_programs(&environment).into_iter().map(|reading| (reading.label, reading.value)).collect();
        assert_eq!(found, [("rustc".to_owned(), 0.45), ("make".to_owned(), 0.3)]);
        assert!(other_programs(&Environment { over_s: 0.0, ..environment }).is_empty());
    }
}
