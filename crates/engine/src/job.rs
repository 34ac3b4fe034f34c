//! What the engine is asked to do.

use std::net::SocketAddr;
use std::path::PathBuf;

use load::{DataSource, Load, Scenarios, Stop};

use crate::net::tls::TlsPeer;

/// One load on one peer.
#[derive(Clone, Debug)]
pub struct Job {
    /// How much, in which shape. Its instants count from the beginning of the load, warm-up included.
    pub load: Load,
    /// When nothing more is started.
    pub stop: Stop,
    /// Requests intended before this instant are kept out of the result.
    pub warm_up_ns: u64,
    /// Where to.
    pub peer: Peer,
    /// From the start of a request, connecting included, to the last byte of its reply.
    pub timeout_ns: u64,
    /// For establishing a connection, TLS included; no longer than `timeout_ns`.
    pub connect_timeout_ns: u64,
    /// Whether connections carry more than one request.
    pub keep_alive: bool,
    /// Reactor threads; at least 1.
    pub threads: u32,
    /// The core of each thread; empty: wherever the system likes.
    pub cores: Vec<usize>,
    /// Single requests of each step kept of each second, over all threads; 0 keeps none.
    pub log_per_second: u32,
    /// What users do. The steps are those of the script.
    pub scenarios: Scenarios,
    /// Where the script's variables get values from.
    pub data: Vec<DataSource>,
    /// Of the draws of scenarios, values and pauses within an iteration.
    pub seed: u64,
}

impl Job {
    /// Connections, or users, over all threads.
    pub fn connections(&self) -> u32 {
        match &self.load {
            Load::Closed(closed) => closed.users,
            Load::Open(open) => open.connections,
        }
    }
}

/// Who is spoken to.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its address, resolved once for the whole run.
    pub endpoint: Endpoint,
    /// How it must prove who it is; `None` speaks in the clear.
    pub tls: Option<TlsPeer>,
}

/// An address of the transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// TCP.
    Tcp(SocketAddr),
    /// A Unix stream socket.
    Unix(PathBuf),
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}
