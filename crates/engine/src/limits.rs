//! What the machine allows: file descriptors and ephemeral ports, said before anything is sent.

use std::fs;

use sockets::descriptors;

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
                "need {need} local ports to the target, have {have}\n  help: widen net.ipv4.ip_local_port_range, \
                 use a Unix socket (--unix-socket), or use fewer connections (-c)"
            ),
        }
    }
}

/// Everything that stands in the way of so many connections.
pub fn shortfalls(connections: u64, threads: u64, over_tcp: bool) -> Vec<Shortfall> {
    let mut found = Vec::new();
    let (need, have) = (connections + threads + DESCRIPTORS_ASIDE, descriptors::raise());
    if need > have {
        found.push(Shortfall::Descriptors { need, have });
    }
    if let Some(have) = ephemeral_ports().filter(|have| over_tcp && connections > *have) {
        found.push(Shortfall::Ports { need: connections, have });
    }
    found
}

/// The most connections that this machine allows next to `threads`, each with a local port if they are `over_tcp`.
pub fn connections_max(threads: u64, over_tcp: bool) -> u64 {
    let descriptors = descriptors::raise().saturating_sub(threads + DESCRIPTORS_ASIDE);
    let ports = ephemeral_ports().filter(|_| over_tcp);
    ports.map_or(descriptors, |ports| ports.min(descriptors))
}

/// How many local ports the system hands out; `None` if it does not say.
fn ephemeral_ports() -> Option<u64> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut bounds = range.split_ascii_whitespace().map(str::parse::<u64>);
    let (low, high) = (bounds.next()?.ok()?, bounds.next()?.ok()?);
    Some((high + 1).saturating_sub(low))
}
