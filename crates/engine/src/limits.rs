//! Limits of this machine, checked before a load: file descriptors and ephemeral ports.

use std::fs;

use sockets::descriptors;

/// File descriptors reserved for other uses: the store, the terminal, and one epoll instance per thread.
const DESCRIPTORS_RESERVED: u64 = 32;

/// Limit of the machine that the load would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortfall {
    /// Open file descriptors.
    Descriptors {
        /// Number that the load needs.
        need: u64,
        /// Hard limit of the process.
        have: u64,
    },
    /// Local ports for connections to one address.
    Ports {
        /// Number that the load needs.
        need: u64,
        /// Size of `net.ipv4.ip_local_port_range`.
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

/// Returns all limits that are too low for a load with `connections` and `threads`. Raises the soft limit of open files first.
pub fn shortfalls(connections: u64, threads: u64, over_tcp: bool) -> Vec<Shortfall> {
    let mut found = Vec::new();
    let (need, have) = (connections + threads + DESCRIPTORS_RESERVED, descriptors::raise_limit());
    if need > have {
        found.push(Shortfall::Descriptors { need, have });
    }
    if let Some(have) = ephemeral_ports().filter(|have| over_tcp && connections > *have) {
        found.push(Shortfall::Ports { need: connections, have });
    }
    found
}

/// Returns the max number of connections to each of `peers` systems that this machine allows with `threads` threads, and the name of the
/// limit that sets it. Each connection needs a local port if `over_tcp`. Raises the soft limit of open files first.
pub fn connections_max(threads: u64, peers: u64, over_tcp: bool) -> (u64, &'static str) {
    let descriptors =
        descriptors::raise_limit().saturating_sub(threads + DESCRIPTORS_RESERVED) / peers.max(1);
    match ephemeral_ports().filter(|ports| over_tcp && *ports < descriptors) {
        Some(ports) => (ports, "local ports, net.ipv4.ip_local_port_range"),
        None => (descriptors, "open files, ulimit -Hn"),
    }
}

/// Returns the number of ephemeral ports of the system. `None` if it cannot be read.
fn ephemeral_ports() -> Option<u64> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut bounds = range.split_ascii_whitespace().map(str::parse::<u64>);
    let (low, high) = (bounds.next()?.ok()?, bounds.next()?.ok()?);
    Some((high + 1).saturating_sub(low))
}
