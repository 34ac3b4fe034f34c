//! What went on around a load.

use evidence::ConnectionsByProcess;

/// A proxy that uses, or waits for, more of its core is called busy.
pub const PROXY_BUSY: f64 = 0.9;

/// What was seen around a load, as far as it could be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    /// Processes that are neither generator nor system, by what they used, most first.
    pub others: Vec<Process>,
    /// How long that was looked at: longer than the load, which connections were opened for before.
    pub over_s: f64,
    /// Of the time of all cores, what the host gave to others.
    pub steal_share: Option<f64>,
    /// How long the generator's control group was held back.
    pub throttled_s: Option<f64>,
    /// The proxy that was busy most of the time, and the share of the seconds in which it used more than [`PROXY_BUSY`].
    pub busiest_proxy: Option<(String, f64)>,
    /// Connections by process of the system; `None` if they were not read.
    pub connections: Option<ConnectionsByProcess>,
    /// What the built-in target says that it received while the load went on.
    pub server_requests: Option<u64>,
    /// Of the CPU time of its cores, what another load generator used while it made the load.
    pub tool_share: Option<f64>,
    /// What this generator reaches against a server that answers at once.
    pub ceiling_per_s: Option<f64>,
}

/// A process, and what it used meanwhile.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// What the system calls it.
    pub name: String,
    /// CPU time, user and system.
    pub cpu_s: f64,
}
