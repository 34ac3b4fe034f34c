//! Reads the resource usage of a system, its machine, and this process once a second from kernel counters. Samples the waits of
//! threads more often.
//!
//! Probes never change anything, and each is optional. A value that cannot be read is reported once, with the reason, and the other
//! probes continue. Probes share only the list of the system's processes, which is read once per look.

mod budget;
mod completion;
mod cores;
mod dependencies;
mod disks;
mod fields;
mod generator;
mod group;
mod group_io;
mod holders;
mod instruments;
mod java_dump;
mod jvm;
mod ledger;
mod listeners;
mod look_times;
mod member;
mod memory;
mod network;
mod opened;
mod own_groups;
mod own_time;
mod paging;
mod pressure;
mod process_files;
mod process_values;
mod protocol_counters;
mod pss;
mod quota;
mod refused;
mod running;
mod runtimes;
mod served;
mod sheet;
mod sock_diag;
mod source;
mod system;
mod tasks;
mod threads;
mod throttling;
mod time_wait;
mod tree;
mod watch;

use std::path::PathBuf;
use std::time::{Duration, Instant};

pub use completion::Completion;
pub(crate) use cores::parse_core_ticks;
pub(crate) use fields::{bytes_of_kib, number};
pub use holders::{HeldConnections, Holder};
pub use look_times::LookTimes;
pub(crate) use process_files::Stat;
pub(crate) use sock_diag::SockDiag;
pub(crate) use threads::parse_inode;
pub use watch::Watch;

use crate::running::SearchedSystem;

/// Objects to observe in addition to the machine and this process.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// Name of each process of the system, and the pid of its keeper. The descendants of the keeper are measured, the keeper is
    /// not.
    pub roots: Vec<(String, u32)>,
    /// A system that was not started below keepers, instead of `roots`. `None` if it was.
    pub running: Option<SearchedSystem>,
    /// Processes that start with the system but are not part of it, as name and keeper like `roots`.
    pub aside: Vec<(String, u32)>,
    /// Keeper of the load generator. `None` if this process generates the load.
    pub tool: Option<u32>,
    /// TCP ports on which the system listens.
    pub ports: Vec<u16>,
    /// Port under load. Connections to it belong to the load generator.
    pub served: Option<u16>,
    /// Port of the system at which the requests of the load arrive, behind proxies of the plan. `None` if it is not on this
    /// machine.
    pub entry: Option<u16>,
    /// Unix sockets on which the system listens.
    pub unix_sockets: Vec<PathBuf>,
    /// Control groups that limit CPU time and memory. `None` without a limit.
    pub limits: (Option<PathBuf>, Option<PathBuf>),
    /// Folder in which runtimes of the system write about themselves. `None` if the run is not instrumented.
    pub instruments: Option<PathBuf>,
}

/// Value of a metric in one look.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// `machine`, `system` (all its processes), `generator` (this process, or the tool in its place), or the name of a process of
    /// the system.
    pub subject: String,
    /// Name of the value, with its unit at the end: `cpu_user_s`.
    pub metric: &'static str,
    /// Instance: `core0`, `vda`, `eth0`, a port, or the path of a socket. Empty if there is only one.
    pub label: String,
    /// The value.
    pub value: f64,
}

/// Values that were read at one point in time.
///
/// Counters and times (`cpu_user_s`, `switches_voluntary`, `disk_read_bytes`, …) are increases during `over`, not scaled to a second:
/// divide by `over` for a share or a rate. `pressure_…_share` values are shares of `over` already. `threads_…` values with a label are mean
/// numbers of threads during `over`, and are omitted if 0. Sizes and lengths (`rss_bytes`, `threads`, `listen_queue`, …) are valid at `at`.
#[derive(Clone, Debug)]
pub struct Look {
    /// Start of the look.
    pub at: Instant,
    /// Time since the previous look: about a second, less in the last look, more after a late one.
    pub over: Duration,
    /// Values, in no particular order.
    pub readings: Vec<Reading>,
    /// Values that cover this look and the waiting looks before it. [`Completion`] divides them.
    pub shared: Vec<Reading>,
    /// Whether the values of the system's processes follow in a later look. With many processes, reading them in each look would cost too
    /// much.
    pub waits: bool,
    /// Connections of the load by process. `None` in looks that did not read them.
    pub held: Option<HeldConnections>,
}

impl Look {
    /// Creates a look that neither waits nor has shared values.
    pub fn of(at: Instant, over: Duration, readings: Vec<Reading>) -> Self {
        Self { at, over, readings, shared: Vec::new(), waits: false, held: None }
    }
}

/// A value that could not be read, and the reason. Each probe reports it once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAvailable {
    /// Name of the probe, or of its missing part.
    pub probe: String,
    /// Reason.
    pub because: String,
}

/// Subject of values of the whole machine.
const MACHINE: &str = "machine";
/// Subject of values of all processes of the system, and of its sockets.
const SYSTEM: &str = "system";
/// Subject of values of the load generator.
const GENERATOR: &str = "generator";

/// All probes, in reading order.
fn all(subject: &Subject) -> Vec<Box<dyn sheet::Probe>> {
    let reach = member::ProbeCapabilities::of_machine();
    // A tool is read with the processes of the system, and written as the generator.
    let this: Option<Box<dyn sheet::Probe>> = match subject.tool {
        Some(_) => None,
        None => Some(Box::new(generator::Generator::new(reach.clone()))),
    };
    let others: Vec<Box<dyn sheet::Probe>> = vec![
        Box::new(throttling::Throttling::of_this_process()),
        Box::new(system::System::of(subject, reach)),
        Box::new(quota::Quota::of(subject.limits.0.clone(), subject.limits.1.clone())),
        Box::new(cores::Cores::default()),
        Box::new(memory::Memory::default()),
        Box::new(paging::Paging::default()),
        Box::new(disks::Disks::default()),
        Box::new(network::Network::default()),
        Box::new(time_wait::TimeWait::default()),
        Box::new(listeners::Listeners::of(subject)),
        Box::new(refused::Refused::default()),
        Box::new(opened::Opened::default()),
        Box::new(pressure::Pressure::default()),
    ];
    this.into_iter().chain(others).collect()
}
