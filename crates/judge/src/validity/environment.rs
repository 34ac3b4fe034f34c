//! Environment of a load: other processes, the host, quotas, and proxies.

use evidence::ConnectionsByProcess;

/// Share of a core that a proxy uses or waits for, above which it counts as busy.
pub const PROXY_BUSY_MIN_SHARE: f64 = 0.9;

/// Observations of the environment during a load. `None` if not sampled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    /// Processes that are neither generator nor system, by CPU use, highest first.
    pub others: Vec<Process>,
    /// Length of the observation of `others` in seconds. It is longer than the load, because it includes opening
    /// connections.
    pub over_s: f64,
    /// Steal time: share of the time of all cores that the host gave to other guests.
    pub steal_share: Option<f64>,
    /// Time for which the generator's control group was throttled, in seconds.
    pub throttled_s: Option<f64>,
    /// Proxy that was busy in most seconds, and the share of seconds in which it used or waited for more than
    /// [`PROXY_BUSY_MIN_SHARE`].
    pub busiest_proxy: Option<(String, f64)>,
    /// Connections by process of the system; `None` if they were not read.
    pub connections: Option<ConnectionsByProcess>,
    /// Requests that the built-in target counted during the load.
    pub server_requests: Option<u64>,
    /// Share of its cores' CPU time that another load generator used while it made the load.
    pub tool_share: Option<f64>,
    /// Ceiling: peak rate of this generator against a server that answers at once, in requests per second.
    pub ceiling_per_s: Option<f64>,
}

/// CPU use of a process.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// Process ID.
    pub pid: u32,
    /// Name as the kernel reports it.
    pub name: String,
    /// CPU time in user space and in the kernel, in seconds.
    pub cpu_s: f64,
}
