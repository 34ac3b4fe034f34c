//! Commands, files, and URLs of a variant, after variables are replaced.

use super::events::LaunchEvent;
use super::figures::LaunchFigure;
use super::limits::Limits;
use super::own_data::OwnData;
use crate::draft::TlsSpec;
use crate::endpoint::Select;
use crate::file::Role;
use crate::running::RunningSpec;
use crate::ycsb::{RecordLoading, RunningSystem};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

/// Values that a plan does not know before a run: ports, a folder, and the path of this program.
#[derive(Clone, Copy, Debug)]
pub struct Environment<'a> {
    /// A free port for each name that [`super::Study::ports`] returns.
    pub ports: &'a [(String, u16)],
    /// An empty folder for this run.
    pub dir: &'a Path,
    /// Path of this program.
    pub tenbin: &'a Path,
    /// Address of the host that the system runs on: 127.0.0.1 if the plan sets no host.
    pub host: Ipv4Addr,
}

/// Variant of a system, ready to be started, loaded, and stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Index of the variant in [`super::Study::variants`].
    pub number: usize,
    /// Name of the system.
    pub system: String,
    /// Name of the variant: `workers=8 threads=1`; empty for a system without parameters.
    pub variant: String,
    /// Figures of the plan.
    pub figures: Vec<LaunchFigure>,
    /// URL of the system under load.
    pub url: String,
    /// URLs of a list after `url`.
    pub further: FurtherUrls,
    /// URL of the database that runs transactions, if `url` accepts requests.
    pub database: Option<String>,
    /// Further systems that steps talk to, by name.
    pub endpoints: Vec<LaunchEndpoint>,
    /// Unix socket to use instead of the URL's host and port.
    pub socket: Option<PathBuf>,
    /// Processes of a system that already runs, if the plan names them.
    pub running: Option<RunningSpec>,
    /// Certificates for requests over TLS.
    pub tls: TlsSpec,
    /// Files that are written before anything starts: path relative to the run's folder, and content.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// Commands that run to completion before the first process starts.
    pub before: Vec<LaunchCommand>,
    /// Commands that run to completion after the last process has stopped.
    pub after: Vec<LaunchCommand>,
    /// Command that prints the version of the system as its first line.
    pub version: Option<LaunchCommand>,
    /// Processes in the order of their start. Empty if the system already runs.
    pub processes: Vec<LaunchProcess>,
    /// Timeout of each command of `before` and `after`, in nanoseconds.
    pub commands_within_ns: u64,
    /// Tables that are created before each load, after the system is ready.
    pub tables: Option<Tables>,
    /// Own statements and rows, after the tables of a workload.
    pub own_data: Option<OwnData>,
    /// Records of a store, which are inserted before each load.
    pub records: Option<RecordLoading>,
    /// Resource limits of the processes.
    pub limits: Limits,
    /// Size of the separate disk that is mounted in the run's folder, in bytes. `None` without a separate disk.
    pub disk_bytes: Option<u64>,
    /// Address that the processes listen on: the address of their host.
    pub host: Ipv4Addr,
    /// Events under load, in the order of the plan.
    pub events: Vec<LaunchEvent>,
    /// Commands of external load generators, indexed by load. `None` for a load that Tenbin makes.
    pub tools: Vec<Option<ToolCommands>>,
}

impl Launch {
    /// Address of the started system.
    pub fn running_system(&self) -> RunningSystem {
        RunningSystem { url: self.url.clone(), socket: self.socket.clone(), tls: self.tls.clone() }
    }

    /// Endpoint of the system itself.
    pub(crate) fn front(&self) -> LaunchEndpoint {
        let (name, url, further) = (String::new(), self.url.clone(), self.further.clone());
        LaunchEndpoint { name, url, further, socket: self.socket.clone(), tls: self.tls.clone(), pool: None }
    }

    /// Endpoint of the system in this role.
    pub(crate) fn place(&self, role: &Role) -> LaunchEndpoint {
        match self.endpoints.iter().find(|endpoint| endpoint.name == role.name) {
            Some(endpoint) => endpoint.clone(),
            None => match self.database.as_ref().filter(|_| role.kind.may_be_second) {
                Some(database) => LaunchEndpoint { url: database.clone(), ..LaunchEndpoint::default() },
                None => self.front(),
            },
        }
    }
}

/// Address of a system that steps talk to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchEndpoint {
    /// Name in the plan.
    pub name: String,
    /// URL of the system.
    pub url: String,
    /// URLs of a list after `url`.
    pub further: FurtherUrls,
    /// Unix socket to use instead of the URL's host and port.
    pub socket: Option<PathBuf>,
    /// Certificates for requests over TLS.
    pub tls: TlsSpec,
    /// Connections that users share. `None` if each user has its own.
    pub pool: Option<u32>,
}

/// URLs of a list after the first, and the rule that selects among all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FurtherUrls {
    /// URLs after the first.
    pub urls: Vec<String>,
    /// Selection rule. `None` if there is no list.
    pub select: Option<Select>,
}

/// Commands of an external load generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCommands {
    /// Command of the warm-up. `None` if the load has no warm-up.
    pub warm_up: Option<LaunchCommand>,
    /// Command of the measurement.
    pub measured: LaunchCommand,
}

/// Tables of a built-in workload, as `tenbin prepare` creates them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// Name of a known workload.
    pub workload: &'static str,
    /// Scale of pgbench's tables.
    pub scale: u32,
    /// Number of `sbtest` tables.
    pub tables: u32,
    /// Rows of each `sbtest` table.
    pub table_size: u32,
    /// Rows of the workload's own table. `None` means the default of the workload.
    pub rows: Option<u64>,
    /// Connections that load the tables in parallel.
    pub jobs: u32,
    /// Seed of random rows.
    pub seed: u64,
    /// PostgreSQL: fill factor of the tables in percent.
    pub fillfactor: u8,
    /// PostgreSQL: whether pgbench's tables have foreign keys.
    pub foreign_keys: bool,
    /// PostgreSQL: whether the tables are unlogged.
    pub unlogged: bool,
    /// Whether existing tables with these names are dropped first.
    pub drop: bool,
    /// Whether all variants of a system start from one copy of the tables.
    pub share: bool,
}

/// A command that runs without a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchCommand {
    /// Program and arguments, at least one word.
    pub argv: Vec<String>,
    /// Variables that are added to the environment.
    pub env: Vec<(String, String)>,
    /// Working directory, absolute.
    pub dir: PathBuf,
}

/// A process of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchProcess {
    /// Name, unique in the system. A single process has the system's name.
    pub name: String,
    /// Command of the process.
    pub command: LaunchCommand,
    /// Readiness check.
    pub ready: Ready,
    /// Method of stopping the process.
    pub stop: StopHow,
    /// Whether an event starts the process, instead of the start of the system.
    pub is_started_by_event: bool,
    /// Proxy that Tenbin runs, which is not part of the measured system. `None` for a process of the system.
    pub proxy: Option<Proxy>,
}

/// Proxy that Tenbin runs between parts of a system, or in front of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// Name in the plan.
    pub name: String,
    /// Port that it listens on, at 127.0.0.1.
    pub port: Option<u16>,
    /// Port that it passes connections on to. `None` for a Unix socket.
    pub to_port: Option<u16>,
    /// Unix socket that accepts its commands.
    pub control: PathBuf,
}

/// When a process counts as ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Sign that the process is ready.
    pub when: ReadyWhen,
    /// Port that is checked, at 127.0.0.1. `None` if the sign needs no port.
    pub port: Option<u16>,
    /// Timeout of the check, in nanoseconds.
    pub within_ns: u64,
    /// Max time that the load also waits until the process is steady, in nanoseconds. `None` if it does not wait.
    pub steady_within_ns: Option<u64>,
}

/// Sign that a process is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadyWhen {
    /// A GET of this path returns 2xx.
    Get(String),
    /// The port accepts connections.
    Tcp,
    /// Ready when this Unix socket accepts connections.
    Unix(PathBuf),
    /// The output contains this text.
    Log(String),
    /// Ready when this command exits with 0.
    Command(LaunchCommand),
}

/// Method of stopping a process. Processes that still run after the timeout are killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopHow {
    /// Signal without SIG: `TERM`.
    pub signal: String,
    /// Command that runs instead of the signal.
    pub command: Option<LaunchCommand>,
    /// Timeout in nanoseconds.
    pub within_ns: u64,
}
