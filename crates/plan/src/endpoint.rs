//! Systems that the steps of a plan speak to.

use std::net::IpAddr;
use std::path::PathBuf;

use wire::step::Access;
use wire::{ClusterNodes, Protocol, ShardRule};

use crate::transactions::Transactions;

/// One system that steps speak to: its addresses, and the kind of its load.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Name in the plan; empty for the system of `url`.
    pub name: String,
    /// Kind of the load, and the addresses.
    pub gets: Gets,
    /// Rule that selects one of several addresses. `None` if its URL is not a list.
    pub select: Option<Select>,
}

/// Rule that selects one of several addresses for a connection or a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Select {
    /// Round robin: each new connection goes to the next address.
    InTurn,
    /// Failover: connections go to the first address that answers. Once it is lost, they go to the next that answers.
    First,
    /// Hashing: each request goes to the address that the rule selects for this text. The text has names of values in braces.
    Hash(String, ShardRule),
    /// Cluster: each request goes to the node that serves the slot of its key. The addresses are those of the nodes.
    Cluster(ClusterNodes),
}

/// Load that a system takes, with its addresses.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there are few, and they are made once")]
pub enum Gets {
    /// Requests in a protocol. Connections are spread over the addresses; at least one.
    Requests(&'static Protocol, Vec<Peer>),
    /// Transactions on a database, which has its addresses.
    Transactions(Transactions),
    /// Load of an external load generator.
    Unknown(Vec<Peer>),
}

impl Endpoint {
    /// Protocol of its requests. `None` for databases and external load generators.
    pub fn protocol(&self) -> Option<&'static Protocol> {
        match &self.gets {
            Gets::Requests(protocol, _) => Some(protocol),
            Gets::Transactions(_) | Gets::Unknown(_) => None,
        }
    }

    /// Transactions on the system. `None` unless it is a database.
    pub fn transactions(&self) -> Option<&Transactions> {
        match &self.gets {
            Gets::Transactions(transactions) => Some(transactions),
            Gets::Requests(..) | Gets::Unknown(_) => None,
        }
    }

    /// Addresses of the system; at least one.
    pub fn peers(&self) -> &[Peer] {
        match &self.gets {
            Gets::Requests(_, peers) | Gets::Unknown(peers) => peers,
            Gets::Transactions(transactions) => &transactions.database.peers,
        }
    }

    /// Number of shards that each user connects to: the number of addresses if a hash or a cluster selects among them, otherwise 1.
    pub fn shards(&self) -> usize {
        match self.select {
            Some(Select::Hash(..) | Select::Cluster(_)) => self.peers().len(),
            _ => 1,
        }
    }

    /// Nodes of the cluster. `None` if it is no cluster, or its nodes are not known yet.
    pub fn nodes(&self) -> Option<&ClusterNodes> {
        match &self.select {
            Some(Select::Cluster(nodes)) => Some(nodes),
            _ => None,
        }
    }

    /// The first address.
    ///
    /// # Panics
    ///
    /// If there is no address, which no checked plan has.
    pub fn peer(&self) -> &Peer {
        &self.peers()[0]
    }

    /// Whether the protocol requests TLS within a connection that begins without it.
    pub fn has_tls_on_request(&self) -> bool {
        self.transactions().is_some()
    }

    /// Whether the system is a database inside this process, which has no address.
    pub fn is_in_process(&self) -> bool {
        self.transactions().is_some_and(|transactions| transactions.database.file.is_some())
    }
}

/// A target to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Host name or IP address, without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// IP addresses to use in place of a DNS lookup. Empty if the host is looked up.
    pub addresses: Vec<IpAddr>,
    /// Unix socket to use instead of TCP.
    pub unix_socket: Option<PathBuf>,
    /// Certificates to trust. `None` means no TLS.
    pub tls: Option<Trust>,
    /// Client certificate for a server that requests one over TLS.
    pub certificate: Option<ClientCertificate>,
    /// Log-in of connections in a protocol that owns its steps. It may have names of secrets in braces.
    pub access: Access,
}

impl Peer {
    /// Host and port, without a scheme, as in `[::1]:5432`; or the path of the Unix socket.
    pub fn authority(&self) -> String {
        match &self.unix_socket {
            Some(path) => path.display().to_string(),
            None if self.host.contains(':') => format!("[{}]:{}", self.host, self.port),
            None => format!("{}:{}", self.host, self.port),
        }
    }
}

/// PEM files of a client certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// File of the certificate.
    pub cert: PathBuf,
    /// File of the private key. `None` if `cert` contains it.
    pub key: Option<PathBuf>,
}

/// Server certificates that are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Certificates signed by the system's authorities.
    System,
    /// Certificates signed by authorities in this file.
    Authorities(PathBuf),
    /// Certificates for any host name, signed by authorities in this file, or by the system's if there is no file.
    AnyName(Option<PathBuf>),
    /// Any certificate. The result is marked as unverified.
    Anything,
}
