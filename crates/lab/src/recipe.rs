//! Description of a system to run: files, commands, processes, ports, and cores.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::Signal;
use crate::hosts::Network;
use crate::limits::Limits;

/// System, fully resolved: all paths, ports, and arguments are final.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Name for people.
    pub name: String,
    /// Folder of the system. It is created by [`start`](crate::start) and removed by [`System::stop`](crate::System::stop). It must
    /// be missing or empty before.
    pub dir: PathBuf,
    /// Files to write, with paths relative to `dir`.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// Folder whose contents are copied into `dir` before its files are written. `None` if there is none.
    pub contents: Option<PathBuf>,
    /// Folder to which `dir` is copied when all processes have ended. `None` for no copy.
    pub copy_to: Option<PathBuf>,
    /// Commands that run one after another before the first process. The stop ends processes that they leave running.
    pub before: Vec<Command>,
    /// Commands that run after the last process has ended, even if the start failed.
    pub after: Vec<Command>,
    /// Processes in start order. They are stopped in reverse order.
    pub processes: Vec<Process>,
    /// Ports on 127.0.0.1 that must be free before the start and after the stop.
    pub ports: Vec<u16>,
    /// Cores to which all processes are pinned; empty means no limit.
    pub cores: Vec<usize>,
    /// Resource limits of the system.
    pub limits: Limits,
    /// Limits that may be set while it runs.
    pub limits_to_come: Vec<Limits>,
    /// Network of a separate host for the system. `None` if it runs on this host.
    pub network: Option<Network>,
    /// Size of a separate disk in bytes, mounted as [`disks::NAME`](crate::disks::NAME) in `dir`. `None` for no separate disk.
    pub disk_bytes: Option<u64>,
    /// Max time to wait for a steady state after the processes are ready. `None` to not wait.
    pub steady_within: Option<Duration>,
    /// Command that runs [`keeper::main`](crate::keeper::main), such as `[tenbin, keep]`.
    pub keeper: Vec<OsString>,
}

/// A command line, started without a shell.
#[derive(Clone, Debug)]
pub struct Command {
    /// Program and arguments, at least one word.
    pub argv: Vec<String>,
    /// Environment variables in addition to Tenbin's own.
    pub env: Vec<(String, String)>,
    /// Working directory.
    pub dir: PathBuf,
    /// Timeout. Ignored for a process of the system.
    pub within: Duration,
}

/// Process of a system, including its descendants.
#[derive(Clone, Debug)]
pub struct Process {
    /// Name, unique within the system.
    pub name: String,
    /// Command to start.
    pub command: Command,
    /// Readiness check.
    pub ready: Ready,
    /// Way to stop it.
    pub stop: StopHow,
    /// Whether the process is not part of the measured system, so that no limits apply to it.
    pub is_aside: bool,
    /// Whether an event starts the process, instead of the start of the system.
    pub is_started_by_event: bool,
}

/// Readiness check and its timeout.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Condition to wait for.
    pub when: When,
    /// Timeout.
    pub within: Duration,
}

/// Condition under which a process is ready.
#[derive(Clone, Debug)]
pub enum When {
    /// An HTTP GET of a path is answered with 2xx.
    Get {
        /// Address to connect to.
        address: SocketAddr,
        /// Path and query.
        path: String,
    },
    /// A TCP connection to this address is accepted.
    Tcp(SocketAddr),
    /// A connection to this Unix socket is accepted.
    Unix(PathBuf),
    /// The output contains this text. Only the stored output is searched, so a process that writes faster than 10 MB/s may hide it.
    Log(String),
    /// Ready when this command, run repeatedly, exits with 0.
    Command(Command),
    /// The process is ready as soon as it has been started.
    Now,
}

/// Way to stop a process, and the timeout before it is killed.
#[derive(Clone, Debug)]
pub struct StopHow {
    /// Signal to the process group, used if there is no command or the command fails.
    pub signal: Signal,
    /// Command to run instead of the signal.
    pub command: Option<Command>,
    /// Timeout of the stop.
    pub within: Duration,
}
