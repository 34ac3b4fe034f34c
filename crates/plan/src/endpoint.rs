//! The systems that steps of a plan speak to.

use std::net::IpAddr;
use std::path::PathBuf;

use wire::step::Access;
use wire::{Protocol, ShardRule};

use crate::transactions::Transactions;

/// One system that steps speak to: its addresses, and how they are spoken to.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Its name in the plan; empty for the one of `url`.
    pub name: String,
    /// Kind of its load, and its addresses.
    pub gets: Gets,
    /// Rule that selects an address of a list; `None`: its URL is no list.
    pub select: Option<Select>,
}

/// Rule that selects one of several addresses for a connection or a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Select {
    /// Each new connection goes to the next.
    InTurn,
    /// Connections go to the first that answers; once it is lost, to the next that answers.
    First,
    /// Each request goes to the address that the rule chooses for this text, which has names of values in braces.
    Hash(String, ShardRule),
}

/// Load that a system gets, with its addresses.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there are few, and they are made once")]
pub enum Gets {
    /// Requests in a protocol. Connections are spread over the addresses; at least one.
    Requests(&'static Protocol, Vec<Peer>),
    /// Transactions on a database, which has its addresses.
    Transactions(Transactions),
    /// Load of another load generator.
    Unknown(Vec<Peer>),
}

impl Endpoint {
    /// The protocol of its requests.
    pub fn protocol(&self) -> Option<&'static Protocol> {
        match &self.gets {
            Gets::Requests(protocol, _) => Some(protocol),
            Gets::Transactions(_) | Gets::Unknown(_) => None,
        }
    }

    /// Its transactions.
    pub fn transactions(&self) -> Option<&Transactions> {
        match &self.gets {
            Gets::Transactions(transactions) => Some(transactions),
            Gets::Requests(..) | Gets::Unknown(_) => None,
        }
    }

    /// Where it is; at least one.
    pub fn peers(&self) -> &[Peer] {
        match &self.gets {
            Gets::Requests(_, peers) | Gets::Unknown(peers) => peers,
            Gets::Transactions(transactions) => &transactions.database.peers,
        }
    }

    /// Systems that each user connects to: each address of a list that is chosen by the hash of a value, or one.
    pub fn shards(&self) -> usize {
        match self.select {
            Some(Select::Hash(..)) => self.peers().len(),
            _ => 1,
        }
    }

    /// The first place.
    ///
    /// # Panics
    ///
    /// When there is none, which no checked plan has.
    pub fn peer(&self) -> &Peer {
        &self.peers()[0]
    }

    /// Whether it is a database in this process, which has no address.
    pub fn is_in_process(&self) -> bool {
        self.transactions().is_some_and(|transactions| transactions.database.file.is_some())
    }
}

/// A target to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// A name or an address, without brackets.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// The addresses to connect to instead of looking up the host; none: it is looked up.
    pub addresses: Vec<IpAddr>,
    /// A Unix socket to use instead of TCP.
    pub unix_socket: Option<PathBuf>,
    /// Certificates to trust; `None`: without TLS.
    pub tls: Option<Trust>,
    /// Certificate for a peer that asks for one over TLS.
    pub certificate: Option<ClientCertificate>,
    /// Log-in of connections in a protocol that owns its steps. Names of secrets may stand in it in braces.
    pub access: Access,
}

impl Peer {
    /// Host and port, without a scheme, as in `[::1]:5432`; or the path of its socket.
    pub fn authority(&self) -> String {
        match &self.unix_socket {
            Some(path) => path.display().to_string(),
            None if self.host.contains(':') => format!("[{}]:{}", self.host, self.port),
            None => format!("{}:{}", self.host, self.port),
        }
    }
}

/// The files of a client certificate; PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate.
    pub cert: PathBuf,
    /// Its key; `None`: in the same file.
    pub key: Option<PathBuf>,
}

/// Certificates that are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Those of the system's authorities.
    System,
    /// Those of the authorities in a file.
    Authorities(PathBuf),
    /// Those of the authorities in a file, or else of the system's, whatever name they are for.
    AnyName(Option<PathBuf>),
    /// Any; stamped on the result.
    Anything,
}
