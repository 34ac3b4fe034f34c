//! Description of a load for the engine: its shape, its peers, and its limits.

use load::xoroshiro::Xoroshiro;
use load::{DataSource, Load, Scenarios, Share, Stop};
pub use sockets::Endpoint;

use crate::net::tls::TlsPeer;

/// Load on one or more peers.
#[derive(Clone, Debug)]
pub struct Job {
    /// Shape and rate of the load. Times count from the start of the load, warm-up included.
    pub load: Load,
    /// Share of users, arrivals, connections, and request numbers that this process takes. Other processes take the rest, each with
    /// as many threads.
    pub share: Share,
    /// Condition after which no more requests are started.
    pub stop: Stop,
    /// End of the warm-up, in nanoseconds since the start of the load. Requests intended earlier are kept out of the result.
    pub warm_up_ns: u64,
    /// Peers of the load, by the numbers that [`wire::Channels::place`] gives; at least one.
    pub peers: Vec<Peer>,
    /// Max time from the start of a request to the last byte of its reply, connecting included. Pauses within the request do not
    /// count.
    pub timeout_ns: u64,
    /// Max time to establish a connection, TLS and log-in included; no longer than `timeout_ns`.
    pub connect_timeout_ns: u64,
    /// Reactor threads; at least 1.
    pub threads: u32,
    /// Core of each thread. Empty: threads are not pinned.
    pub cores: Vec<usize>,
    /// Max single requests that are logged per step and second, over all threads; 0 logs none.
    pub log_per_second: u32,
    /// Whether workers also report windows of 100 ms, with [`crate::Message::Moments`].
    pub keeps_timeline: bool,
    /// Scenarios of the users. Their steps are those of the script.
    pub scenarios: Scenarios,
    /// Number of accounts for parts of requests. Their numbers follow those of the steps.
    pub parts: u16,
    /// Size of the connection pool of a closed load; at least 1. A user takes a free connection for each iteration, or waits for
    /// one, which counts in the response time. Each thread has at least one connection, so a small pool lowers the number of
    /// threads. `None`, or at least as many as users: each user has its own connection.
    pub pool: Option<u32>,
    /// Random generators by user, over all threads, with which a closed load chooses scenarios and steps of a mix by integer
    /// weights, as pgbench does. Empty: choices are drawn with `seed`.
    pub choosers: Vec<Xoroshiro>,
    /// Number of connections that an open load opens before it starts. More are opened, up to its `connections`, when an arrival
    /// finds no idle one. `None`: all are opened first. Only loads without shared connections can grow.
    pub initial_connections: Option<u32>,
    /// Sources of values for the variables of the script.
    pub data: Vec<DataSource>,
    /// Seed of all draws of scenarios, values, and pauses within an iteration.
    pub seed: u64,
}

impl Job {
    /// Returns the number of connections over all threads and processes.
    pub fn connections(&self) -> u32 {
        match &self.load {
            Load::Closed(closed) => closed.users.min(self.pool.unwrap_or(closed.users)),
            Load::Open(open) => open.connections,
        }
    }
}

impl Job {
    /// Returns the number of peers.
    pub(crate) fn peers(&self) -> u16 {
        self.peers.len() as u16
    }

    /// Returns the peer with the number that [`wire::Channels::place`] gives.
    pub(crate) fn peer(&self, number: u16) -> &Peer {
        &self.peers[usize::from(number)]
    }

    /// Returns the max time that a request waits for its link to be opened.
    pub(crate) fn opening_timeout_ns(&self) -> u64 {
        self.connect_timeout_ns.min(self.timeout_ns)
    }

    /// Returns the number of connections to a peer over all threads and processes, and whether its pool has fewer connections than the
    /// load.
    pub(crate) fn connections_to(&self, peer: u16) -> (u32, bool) {
        let all = self.connections();
        match self.peer(peer).pool {
            Some(pool) if pool < all => (pool.max(1), true),
            _ => (all, false),
        }
    }

    /// Returns the number of connections that are opened before the load, over all threads and processes.
    pub(crate) fn first_connections(&self) -> u32 {
        self.initial_connections.map_or(u32::MAX, |first| first.max(1)).min(self.connections())
    }

    /// Returns the smallest number of connections to any peer; 1 if there is no peer.
    pub(crate) fn min_connections(&self) -> u32 {
        (0..self.peers()).map(|peer| self.connections_to(peer).0).min().unwrap_or(1)
    }

    /// Returns whether users share connections to at least one peer.
    pub(crate) fn is_pooled(&self) -> bool {
        self.pooled_users().is_some() || (0..self.peers()).any(|peer| self.connections_to(peer).1)
    }

    /// Returns the share of one thread. With a system in this process, each thread has one connection.
    pub(crate) fn share_of(&self, thread: u32, is_embedded: bool) -> Share {
        let connections = self.connections().max(1);
        match is_embedded {
            true => Share { index: self.share.first_of(connections.into()) as u32 + thread, of: connections },
            false => self.share.part(thread, self.threads),
        }
    }

    /// Returns the number of users of a closed load that share a pool of connections. `None` if each has its own.
    pub(crate) fn pooled_users(&self) -> Option<u32> {
        let Load::Closed(closed) = &self.load else { return None };
        self.pool.is_some_and(|pool| pool < closed.users).then_some(closed.users)
    }
}

/// Order in which sockets use the addresses of a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// Round robin. The first socket of connection `n` goes to address `n` modulo the number of addresses. Each later socket goes
    /// to the next address; with TLS on request (database log-ins), it stays at the connection's first address.
    #[default]
    InTurn,
    /// Failover. All sockets go to the first address that answers. When it fails, they go to the next one that answers, and after
    /// the last to the first again.
    First,
    /// Failover per connection, for database log-ins. The addresses are a list of servers, `stride` addresses each, which may be repeated:
    /// the first `width` addresses name each server once. Connection `n` begins with server `n` modulo the number of servers, and tries all
    /// servers of a repetition before the next repetition.
    Spread {
        /// Number of addresses before the list is repeated; at least 1.
        width: u16,
        /// Number of addresses of a server; at least 1.
        stride: u16,
    },
}

impl Selection {
    /// Returns whether a socket goes to another address if one does not answer.
    pub fn fails_over(self) -> bool {
        !matches!(self, Self::InTurn)
    }
}

/// System under test, as connections see it.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Addresses, resolved once for the whole run; at least one.
    pub endpoints: Vec<Endpoint>,
    /// Order in which sockets use the addresses.
    pub selection: Selection,
    /// TLS configuration and the expected names. `None`: connections are not encrypted.
    pub tls: Option<TlsPeer>,
    /// Whether connections start unencrypted and switch to TLS when the greeting asks for it.
    pub tls_on_request: bool,
    /// Whether connections carry more than one request.
    pub keep_alive: bool,
    /// Age at which a kept connection is replaced, after its next reply. `None`: connections are kept for the whole load.
    pub lifetime_ns: Option<u64>,
    /// Whether an idempotent request is sent again on a new connection if the peer closed the kept one before it received the
    /// request.
    pub retry_stale: bool,
    /// Number of connections over all threads if users share them; at least 1. Each request takes the least busy connection that
    /// has room, or waits for one, which counts in the response time. Each thread has at least one connection, so a small pool
    /// lowers the number of threads. `None`, or at least [`Job::connections`]: each user has its own connection, unless a
    /// connection carries several exchanges. Ignored for a system in this process.
    pub pool: Option<u32>,
    /// Whether each step has an account per address, if there are several addresses: see [`crate::address_accounts`].
    pub has_address_accounts: bool,
}

impl Peer {
    /// Creates a peer with one address and kept connections. TLS, if any, starts right after connecting.
    pub fn of(endpoint: Endpoint, tls: Option<TlsPeer>) -> Self {
        Self {
            endpoints: vec![endpoint],
            selection: Selection::InTurn,
            tls,
            tls_on_request: false,
            keep_alive: true,
            lifetime_ns: None,
            retry_stale: false,
            pool: None,
            has_address_accounts: false,
        }
    }

    /// Returns whether TLS starts right after connecting.
    pub(crate) fn starts_with_tls(&self) -> bool {
        self.tls.is_some() && !self.tls_on_request
    }

    /// Returns the index of the address for socket `generation` of connection `number`, if addresses are taken in turn.
    pub(crate) fn address_in_turn(&self, number: u32, generation: u32) -> usize {
        let turn = if self.tls_on_request { 0 } else { generation };
        number.wrapping_add(turn) as usize % self.endpoints.len()
    }

    /// Returns the peer with only one of its addresses.
    ///
    /// # Panics
    ///
    /// Panics if `address` is not an index of [`Peer::endpoints`].
    pub fn at(&self, address: usize) -> Self {
        let tls = self.tls.as_ref().map(|tls| tls.at(address));
        Self { endpoints: vec![self.endpoints[address].clone()], tls, ..self.clone() }
    }

    /// Returns the number of addresses that have accounts of their own; 0 if none has.
    pub(crate) fn addresses_with_accounts(&self) -> usize {
        if self.has_address_accounts { self.endpoints.len() } else { 0 }
    }
}
