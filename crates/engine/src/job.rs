//! What the engine is asked to do.

use load::xoroshiro::Xoroshiro;
use load::{DataSource, Load, Scenarios, Share, Stop};
pub use sockets::Endpoint;

use crate::net::tls::TlsPeer;

/// One load on one peer, or on several.
#[derive(Clone, Debug)]
pub struct Job {
    /// How much, in which shape. Its times count from the beginning of the load, warm-up included.
    pub load: Load,
    /// Which part of all that this job says is done here: users, arrivals, connections, numbers of requests. The others do the
    /// rest, with as many threads.
    pub share: Share,
    /// When nothing more is started.
    pub stop: Stop,
    /// Requests intended before this instant are kept out of the result.
    pub warm_up_ns: u64,
    /// Where to: at least one, by the numbers that [`wire::Channels::place`] gives.
    pub peers: Vec<Peer>,
    /// From the start of a request, connecting included, to the last byte of its reply; pauses within it apart.
    pub timeout_ns: u64,
    /// For establishing a connection, TLS and log-in included; no longer than `timeout_ns`.
    pub connect_timeout_ns: u64,
    /// Reactor threads; at least 1.
    pub threads: u32,
    /// The core of each thread; empty: wherever the system likes.
    pub cores: Vec<usize>,
    /// Single requests of each step kept of each second, over all threads; 0 keeps none.
    pub log_per_second: u32,
    /// Whether the course of the load is handed over in windows of 100 ms as well: [`crate::Message::Moments`].
    pub keeps_course: bool,
    /// What users do. The steps are those of the script.
    pub scenarios: Scenarios,
    /// Books beyond those of the steps, for the parts of requests: their numbers follow those of the steps.
    pub parts: u16,
    /// Connections of a closed load, if they are fewer than its users: for each iteration a user takes one that is free, and
    /// waits for it as long as there is none; that time is part of the response time. No thread is started without a
    /// connection. `None`, and any number from that of the users on, gives each their own. At least 1.
    pub pool: Option<u32>,
    /// What users of a closed load choose scenarios and steps of a mix with, as pgbench does, by user over all threads: by
    /// weights as whole numbers. Empty: chance, from `seed`.
    pub choosers: Vec<Xoroshiro>,
    /// Connections of an open load that are opened before it. The others, up to its `connections`, are opened when an arrival finds no
    /// idle one. `None`: all are opened before it. Only a load on one peer without shared connections can grow.
    pub opened_first: Option<u32>,
    /// Where the script's variables get values from.
    pub data: Vec<DataSource>,
    /// Of the draws of scenarios, values and pauses within an iteration.
    pub seed: u64,
}

impl Job {
    /// Connections over all threads, of the whole.
    pub fn connections(&self) -> u32 {
        match &self.load {
            Load::Closed(closed) => closed.users.min(self.pool.unwrap_or(closed.users)),
            Load::Open(open) => open.connections,
        }
    }
}

impl Job {
    /// How many peers there are.
    pub(crate) fn peers(&self) -> u16 {
        self.peers.len() as u16
    }

    /// The peer of a number, as [`wire::Channels::place`] gives it.
    pub(crate) fn peer(&self, number: u16) -> &Peer {
        &self.peers[usize::from(number)]
    }

    /// How long a request waits for its link to be opened.
    pub(crate) fn opening_timeout_ns(&self) -> u64 {
        self.connect_timeout_ns.min(self.timeout_ns)
    }

    /// Connections to a peer over all threads, of the whole, and whether its pool gives fewer than there are users.
    pub(crate) fn connections_to(&self, peer: u16) -> (u32, bool) {
        let all = self.connections();
        match self.peer(peer).pool {
            Some(pool) if pool < all => (pool.max(1), true),
            _ => (all, false),
        }
    }

    /// Connections over all threads that are opened before the load.
    pub(crate) fn first_connections(&self) -> u32 {
        self.opened_first.map_or(u32::MAX, |first| first.max(1)).min(self.connections())
    }

    /// The fewest connections that any peer has.
    pub(crate) fn fewest_connections(&self) -> u32 {
        (0..self.peers()).map(|peer| self.connections_to(peer).0).min().unwrap_or(1)
    }

    /// Whether users share connections to any peer.
    pub(crate) fn is_pooled(&self) -> bool {
        self.pooled_users().is_some() || (0..self.peers()).any(|peer| self.connections_to(peer).1)
    }

    /// What falls to a thread: each has as much as the others, and in this process a connection.
    pub(crate) fn share_of(&self, thread: u32, is_embedded: bool) -> Share {
        let connections = self.connections().max(1);
        match is_embedded {
            true => Share { index: self.share.first_of(connections.into()) as u32 + thread, of: connections },
            false => self.share.part(thread, self.threads),
        }
    }

    /// The users of a closed load, if they share connections.
    pub(crate) fn pooled_users(&self) -> Option<u32> {
        let Load::Closed(closed) = &self.load else { return None };
        self.pool.is_some_and(|pool| pool < closed.users).then_some(closed.users)
    }
}

/// Which of several addresses a socket goes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// The first socket of connection `n` goes to number `n` modulo the number of addresses. Later sockets go to the next each time
    /// if there is no log-in, else to the same.
    #[default]
    InTurn,
    /// All sockets go to the first address in order that answers. Once that is lost, they go to the next that answers; after the
    /// last address comes the first again.
    First,
}

/// Who is spoken to.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its addresses, resolved once for the whole run; at least one.
    pub endpoints: Vec<Endpoint>,
    /// Which of the addresses a socket goes to.
    pub selection: Selection,
    /// How it must prove who it is; `None` speaks in the clear.
    pub tls: Option<TlsPeer>,
    /// Whether connections begin in the clear, and go over to TLS when the greeting asks for it.
    pub tls_on_request: bool,
    /// Whether connections carry more than one request.
    pub keep_alive: bool,
    /// Time after which a connection that is kept is renewed, at its next reply; `None`: it is not.
    pub lifetime_ns: Option<u64>,
    /// Whether an idempotent request is sent once more on a new connection if its peer closed the kept one without having received it.
    pub retry_stale: bool,
    /// Connections over all threads, if users share them: each request takes the least busy one that has room, and waits as long
    /// as there is none; that time is part of the response time. No thread is started without a connection. `None`, and any
    /// number from that of [`Job::connections`] on, gives each user its own, where a connection has room for one exchange. At
    /// least 1. It does not count for a system in this process.
    pub pool: Option<u32>,
    /// Whether each step has an account for each address, if there are several: see [`crate::address_accounts`].
    pub has_address_accounts: bool,
}

impl Peer {
    /// A peer of one address, with which TLS, if there is any, begins at once. Connections are kept alive.
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

    /// Whether connections begin with TLS.
    pub(crate) fn secures_at_once(&self) -> bool {
        self.tls.is_some() && !self.tls_on_request
    }

    /// The address that connection `number` goes to with its socket `generation`, where addresses are taken in turn.
    pub(crate) fn address_in_turn(&self, number: u32, generation: u32) -> usize {
        let turn = if self.tls_on_request { 0 } else { generation };
        number.wrapping_add(turn) as usize % self.endpoints.len()
    }

    /// The peer at one of its addresses, which becomes the only one.
    ///
    /// # Panics
    ///
    /// When there is no address of this number.
    pub fn at(&self, address: usize) -> Self {
        let tls = self.tls.as_ref().map(|tls| tls.at(address));
        Self { endpoints: vec![self.endpoints[address].clone()], tls, ..self.clone() }
    }

    /// How many of its addresses have accounts of their own, if others do.
    pub(crate) fn addresses_with_accounts(&self) -> usize {
        if self.has_address_accounts { self.endpoints.len() } else { 0 }
    }
}
