//! What a system, its machine and this process are doing, read once a second from the kernel's own counts. What its threads
//! wait for is sampled more often.
//!
//! Every probe only reads, and every one is optional: what cannot be read is named once, with the reason, and the rest
//! goes on. Probes share no state but the processes of the system, which are read once per look.

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
mod ledger;
mod listeners;
mod member;
mod memory;
mod network;
mod own_groups;
mod own_time;
mod paging;
mod pressure;
mod process_files;
mod process_values;
mod pss;
mod quota;
mod refused;
mod running;
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
pub(crate) use cores::ticks_of_cores;
pub(crate) use fields::{bytes_of_kib, number};
pub use holders::{Held, Holder};
pub(crate) use process_files::Stat;
pub(crate) use sock_diag::SockDiag;
pub use watch::Watch;

use crate::running::Sought;

/// What is observed in addition to the machine and this process.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// The name of each process of the system, and the process id of its keeper. The keeper's descendants are measured,
    /// the keeper itself is not.
    pub roots: Vec<(String, u32)>,
    /// A system that was not started below keepers, in place of `roots`.
    pub running: Option<Sought>,
    /// As `roots`, of processes that are started with the system, and are no part of it.
    pub aside: Vec<(String, u32)>,
    /// The keeper of the load generator, if it is not this process.
    pub tool: Option<u32>,
    /// TCP ports on which the system listens.
    pub ports: Vec<u16>,
    /// The port that the load goes to: connections to it are the generator's.
    pub served: Option<u16>,
    /// Unix sockets on which the system listens.
    pub unix_sockets: Vec<PathBuf>,
    /// The control groups that limit its CPU time and its memory, if there are any.
    pub limits: (Option<PathBuf>, Option<PathBuf>),
}

/// One value of one look.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// `machine`, `system` (all its processes), `generator` (this process, or the tool in its place), or the name of a process of the system.
    pub subject: String,
    /// What was read, with its unit at the end: `cpu_user_s`.
    pub metric: &'static str,
    /// Which one of several: `core0`, `vda`, `eth0`, a port, a socket's path. Empty if there is only one.
    pub label: String,
    /// The value.
    pub value: f64,
}

/// What was read at one instant.
///
/// Counts and times (`cpu_user_s`, `switches_voluntary`, `disk_read_bytes`, …) say by how much they grew during `over`,
/// and are not scaled to a second: a share or a rate is the value divided by `over`. `pressure_…_share` are shares of
/// `over` already, and `threads_…` with a label are mean numbers of threads during `over`; without one, a number of 0 is left
/// out. Sizes and lengths (`rss_bytes`, `threads`, `listen_queue`, …) are what they were at `at`.
#[derive(Clone, Debug)]
pub struct Look {
    /// When it began.
    pub at: Instant,
    /// How long it was since the look before it: about a second, less in the last look, more after a late one.
    pub over: Duration,
    /// The values, in no particular order.
    pub readings: Vec<Reading>,
    /// Values of this look and of those that wait before it together: [`Completion`] divides them.
    pub shared: Vec<Reading>,
    /// Whether the values of the system's processes come with a later look: where there are many, reading them in each look would cost
    /// too much.
    pub waits: bool,
    /// Connections of the load by process, in a look that has a reading of them.
    pub held: Option<Held>,
}

impl Look {
    /// One that neither waits nor has values for others.
    pub fn of(at: Instant, over: Duration, readings: Vec<Reading>) -> Self {
        Self { at, over, readings, shared: Vec::new(), waits: false, held: None }
    }
}

/// What could not be read, and why; each probe says it once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAvailable {
    /// The probe, or the part of it that is missing.
    pub probe: String,
    /// What stood in the way.
    pub because: String,
}

/// The subject of what concerns the whole machine.
const MACHINE: &str = "machine";
/// The subject of what concerns all processes of the system, and its sockets.
const SYSTEM: &str = "system";
/// The subject of what concerns this process.
const GENERATOR: &str = "generator";

/// Every probe, in the order of reading.
fn all(subject: &Subject) -> Vec<Box<dyn sheet::Probe>> {
    let reach = member::Reach::of_machine();
    // A tool is read with the processes of the system, and written under the name of the generator.
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
        Box::new(pressure::Pressure::default()),
    ];
    this.into_iter().chain(others).collect()
}
