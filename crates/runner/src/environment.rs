//! What went on around a load: who shares its cores, what the machine took, and what the server counted itself.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Instant;

use engine::Endpoint;
use judge::{Environment, Process};
use lab::census::{self, Census};
use lab::listening::{self, Listens};

use crate::prepare::Prepared;
use crate::server_count::{self, Counts};

/// Processes that are named as others at most.
const OTHERS_MAX: usize = 16;

/// What is known before a load begins, to be compared with what is so after it.
#[derive(Debug, Default)]
pub struct Before {
    /// Who used the machine, and when; `None` if not measured.
    looked: Option<(Census, Instant)>,
    /// Processes that listen where the load goes.
    pub(crate) listeners: Vec<u32>,
    target: Option<(Endpoint, Counts)>,
    /// The cores that those may use.
    pub(crate) system_cores: BTreeSet<usize>,
    /// The system and the generator on one machine, in words.
    pub(crate) sharing: Option<String>,
}

impl Before {
    /// Looks around before a load.
    pub(crate) fn look(prepared: &Prepared) -> Self {
        let endpoints = &prepared.endpoints;
        let mut listeners: Vec<u32> = endpoints.iter().flat_map(listening_at).collect();
        listeners.sort_unstable();
        listeners.dedup();
        let target = endpoints.first().filter(|_| endpoints.len() == 1 && listeners.iter().any(is_target));
        let target = target.and_then(|endpoint| Some((endpoint.clone(), server_count::ask(endpoint)?)));
        let system_cores = listeners.iter().flat_map(|pid| census::cores(*pid)).collect();
        let sharing = sharing(&listeners, &system_cores, &prepared.cores);
        let looked = Some((Census::now(), Instant::now()));
        Self { looked, listeners, target, system_cores, sharing }
    }

    /// Looks again when it is over. `system`: further processes that everything below belongs to the system.
    pub(crate) fn compare(self, system: &[u32]) -> Environment {
        let Some((census, at)) = self.looked else { return Environment::default() };
        let (now, over_s) = (Census::now(), at.elapsed().as_secs_f64());
        let roots: Vec<u32> = self.listeners.iter().chain(system).copied().collect();
        let mut own = now.families(&roots);
        own.insert(std::process::id());
        let others = now.since(&census).into_iter().filter(|used| !own.contains(&used.pid));
        let others =
            others.take(OTHERS_MAX).map(|used| Process { pid: used.pid, name: used.name, cpu_s: used.cpu_s });
        let server_requests =
            self.target.and_then(|(endpoint, before)| server_count::ask(&endpoint)?.since(before));
        Environment { others: others.collect(), over_s, server_requests, ..Environment::default() }
    }
}

fn listening_at(endpoint: &Endpoint) -> Vec<u32> {
    match endpoint {
        Endpoint::Tcp(address) => {
            listening::listeners(Listens::Port(address.ip(), SocketAddr::port(address)))
        }
        Endpoint::Unix(path) if *path == PathBuf::new() => Vec::new(),
        Endpoint::Unix(path) => listening::listeners(Listens::Unix(path)),
    }
}

/// Whether a process is the built-in target of this very program: only that is asked for its counts.
fn is_target(pid: &u32) -> bool {
    let own = std::env::current_exe().ok();
    own.is_some()
        && census::program(*pid) == own
        && census::words(*pid).get(1).is_some_and(|word| word == "target")
}

/// Who listens here, and which cores it may use, if that is known. `pinned`: the generator's cores; empty: any.
fn sharing(listeners: &[u32], theirs: &BTreeSet<usize>, pinned: &[usize]) -> Option<String> {
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
