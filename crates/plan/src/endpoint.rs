//! Systems that the steps of a plan talk to.

use std::any::Any;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use load::xoroshiro::Xoroshiro;
use replay::Traffic;
use serde_json::Value;
use wire::step::Access;
use wire::{ClusterNodes, Protocol, ShardCount, ShardRule};

use crate::database::Database;
use crate::fault::Fault;
use crate::plan::{OwnedAction, Plan};
use crate::study::LaunchEndpoint;

/// System that steps talk to: its addresses, and its load.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Name in the plan; empty for the system of `url`.
    pub name: String,
    /// Load that the system takes, with the addresses.
    pub load: Box<dyn EndpointLoad>,
    /// Rule that selects one of several addresses. `None` if its URL is not a list.
    pub select: Option<Select>,
    /// Connections to each server that users share, at least 1. `None` if each user has a connection, or shares those of the load.
    pub pool: Option<u32>,
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
    /// Cluster: each request goes to the node that serves the slot of its key. The addresses belong to the nodes.
    Cluster(ClusterNodes),
}

impl Select {
    /// Returns the rule for one run. A change of its shards does not affect other runs.
    #[must_use]
    pub(crate) fn detached(&self) -> Self {
        match self {
            Self::Hash(text, rule) => Self::Hash(text.clone(), rule.detached()),
            other => other.clone(),
        }
    }
}

/// Load on a system: its addresses, and the properties that differ between types of load. The defaults apply to requests.
pub trait EndpointLoad: Any + fmt::Debug + Send + Sync {
    /// Addresses of the system, at least one.
    fn peers(&self) -> &[Peer];

    /// Copy of the load.
    fn clone_box(&self) -> Box<dyn EndpointLoad>;

    /// Adds the addresses of the further URL of a list. Returns the value of its Host header, for requests.
    ///
    /// # Errors
    ///
    /// The URL does not fit the others.
    fn add_address(&mut self, place: &LaunchEndpoint) -> Result<Option<String>, Vec<Fault>>;

    /// Protocol of its requests. `None` for databases and external load generators.
    fn protocol(&self) -> Option<&'static Protocol> {
        None
    }

    /// Whether the system can replay recorded traffic instead of its steps.
    fn accepts_traffic(&self, traffic: &Traffic) -> bool {
        self.protocol().is_some_and(|protocol| (traffic.fits)(protocol))
    }

    /// Addresses in the order of connection attempts. An address with several ways to connect occurs several times.
    fn attempted_peers(&self) -> Vec<Peer> {
        self.peers().to_vec()
    }

    /// Database with sessions that can be monitored. `None` if the system is not a database.
    fn database(&self) -> Option<&Database> {
        None
    }

    /// Flag that makes connections accept any certificate, for a note. `None` if the URL sets it, because the URL has a separate note.
    fn insecure_flag(&self) -> Option<&'static str> {
        None
    }

    /// Whether the protocol upgrades to TLS on request, within a connection that starts as plain text.
    fn upgrades_to_tls(&self) -> bool {
        false
    }

    /// Whether the system runs inside this process, and has no address.
    fn is_in_process(&self) -> bool {
        false
    }

    /// Connections of a closed load, if there are fewer than users. `None` if each user has its own.
    fn pool(&self) -> Option<u32> {
        None
    }

    /// Latency above which an exchange counts as late, in nanoseconds. `None` if there is no limit.
    fn latency_limit_ns(&self) -> Option<u64> {
        None
    }

    /// Whether a connection carries more than one exchange according to the load. Steps may still close it.
    fn keep_alive(&self) -> bool {
        true
    }

    /// Whether a step may change data. A request may, because the system that answers it is unknown.
    fn may_write(&self) -> bool {
        true
    }

    /// Reason why a step writes, as far as the plan shows. `number` is that among the steps of the system. `is_kept`: a
    /// database keeps what the system writes.
    fn write_reason(&self, number: u16, action: &OwnedAction, is_kept: bool) -> Option<String>;

    /// Parts of the steps that are counted separately. `endpoint` is the number of the system in the plan.
    fn parts(&self, plan: &Plan, endpoint: u16) -> Vec<sql::Part>;

    /// Definition of the scripts of its steps, for the record of the plan. `None` if its steps have none.
    fn scripts_json(&self) -> Option<Value> {
        None
    }

    /// Texts of the scripts of its steps.
    fn script_texts(&self) -> &[Vec<u8>] {
        &[]
    }

    /// Binds values of a plan to scripts: the names of variables, in the order of their numbers, and the numbers that scripts set.
    fn bind(&mut self, _names: &[String], _saves: Vec<u16>) {}

    /// Numbers of the variables that scripts set.
    fn script_variables(&self) -> &[u16] {
        &[]
    }

    /// Reduces the load to a single client with this seed, on a separate connection.
    fn make_single_client(&mut self, _seed: u64) {}

    /// Random generators with which clients choose steps, if the load draws them as another load generator does. `None` if the
    /// engine draws them.
    fn choosers(&self, _seed: u64, _clients: u32) -> Option<Vec<Xoroshiro>> {
        None
    }
}

impl Clone for Box<dyn EndpointLoad> {
    fn clone(&self) -> Self {
        (**self).clone_box()
    }
}

impl dyn EndpointLoad {
    /// Load as its concrete type. `None` if the type differs.
    pub fn downcast<T: EndpointLoad>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

impl Endpoint {
    /// Protocol of its requests. `None` for databases and external load generators.
    pub fn protocol(&self) -> Option<&'static Protocol> {
        self.load.protocol()
    }

    /// Addresses of the system, at least one.
    pub fn peers(&self) -> &[Peer] {
        self.load.peers()
    }

    /// Number of shards that each user connects to: the number of addresses if a hash or a cluster selects among them, otherwise 1.
    pub fn shards(&self) -> usize {
        match self.select {
            Some(Select::Hash(..) | Select::Cluster(_)) => self.peers().len(),
            _ => 1,
        }
    }

    /// Number of shards that get requests, which an event may change. `None` if no hash selects among its addresses.
    pub fn active_shards(&self) -> Option<&ShardCount> {
        match &self.select {
            Some(Select::Hash(_, rule)) => Some(&rule.in_use),
            _ => None,
        }
    }

    /// Nodes of the cluster. `None` if the system is not a cluster, or if its nodes are not known yet.
    pub fn nodes(&self) -> Option<&ClusterNodes> {
        match &self.select {
            Some(Select::Cluster(nodes)) => Some(nodes),
            _ => None,
        }
    }

    /// First address.
    ///
    /// # Panics
    ///
    /// There is no address. A checked plan always has one.
    pub fn peer(&self) -> &Peer {
        &self.peers()[0]
    }

    /// Whether the system runs inside this process, and has no address.
    pub fn is_in_process(&self) -> bool {
        self.load.is_in_process()
    }
}

/// A target to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Host name or IP address, without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// IP addresses to use instead of a DNS lookup. Empty if the host is looked up.
    pub addresses: Vec<IpAddr>,
    /// Unix socket to use instead of TCP.
    pub unix_socket: Option<PathBuf>,
    /// Certificates to trust. `None` means no TLS.
    pub tls: Option<Trust>,
    /// Client certificate for a server that requests one over TLS.
    pub certificate: Option<ClientCertificate>,
    /// Whether a connection resumes the TLS session of an earlier one.
    pub resumes_tls: bool,
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
    /// Certificates for any host name, signed by authorities in this file, or by the system's authorities if there is no file.
    AnyName(Option<PathBuf>),
    /// Any certificate. The result is marked as unverified.
    Anything,
}
