//! What the machine allows: file descriptors and ephemeral ports, said before anything is sent.

use std::fs;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors that are not connections: the store, the terminal, one epoll set per thread.
const DESCRIPTORS_ASIDE: u64 = 32;

/// A limit that the load would run into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortfall {
    /// Open files.
    Descriptors {
        /// What the load needs.
        need: u64,
        /// The hard limit.
        have: u64,
    },
    /// Local ports towards one address.
    Ports {
        /// What the load needs.
        need: u64,
        /// The size of the system's range.
        have: u64,
    },
}

impl std::fmt::Display for Shortfall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Descriptors { need, have } => write!(
                f,
                "need {need} file descriptors, have {have}\n  help: raise the hard limit (ulimit -Hn {need}) or use fewer connections (-c)"
            ),
            Self::Ports { need, have } => write!(
                f,
                "need {need} local ports towards the target, have {have}\n  help: widen net.ipv4.ip_local_port_range, \
                 use a Unix socket (--unix-socket), or use fewer connections (-c)"
            ),
        }
    }
}

/// Raises the soft limit of open files to the hard one; returns what there is now.
pub fn raise_descriptors() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Everything that stands in the way of so many connections.
pub fn shortfalls(connections: u64, threads: u64, over_tcp: bool) -> Vec<Shortfall> {
    let mut found = Vec::new();
    let (need, have) = (connections + threads + DESCRIPTORS_ASIDE, raise_descriptors());
    if need > have {
        found.push(Shortfall::Descriptors { need, have });
    }
    if let Some(have) = ephemeral_ports().filter(|have| over_tcp && connections > *have) {
        found.push(Shortfall::Ports { need: connections, have });
    }
    found
}

/// How many local ports the system hands out; `None` if it does not say.
fn ephemeral_ports() -> Option<u64> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut bounds = range.split_ascii_whitespace().map(str::parse::<u64>);
    let (low, high) = (bounds.next()?.ok()?, bounds.next()?.ok()?);
    Some((high + 1).saturating_sub(low))
}
