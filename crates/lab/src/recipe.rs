//! What a system needs in order to run: files, commands, processes, ports and cores.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::Signal;
use crate::hosts::Network;
use crate::limits::Limits;

/// One system, with nothing left open: every path, port and argument is written out.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The system's name, as people read it.
    pub name: String,
    /// A folder of its own: made by [`start`](crate::start), removed by [`System::stop`](crate::System::stop).
    /// It must not be there yet, or be empty.
    pub dir: PathBuf,
    /// Files to write, with paths relative to `dir`.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// Commands that run, one after the other, before the first process. What they leave running is ended at the stop.
    pub before: Vec<Command>,
    /// Commands that run after the last process has ended, also when the start failed half-way.
    pub after: Vec<Command>,
    /// The processes, in the order of their start. They are stopped in reverse.
    pub processes: Vec<Process>,
    /// Ports on 127.0.0.1 that must be free before the start, and are again after the stop.
    pub ports: Vec<u16>,
    /// The processor cores that everything of this system is held to; empty: no limit.
    pub cores: Vec<usize>,
    /// What everything of this system may use at most.
    pub limits: Limits,
    /// Limits that may be set while it runs.
    pub limits_to_come: Vec<Limits>,
    /// The network of a host of its own that it runs on.
    pub network: Option<Network>,
    /// The size of a disk of its own, mounted as [`disks::NAME`](crate::disks::NAME) in `dir`.
    pub disk_bytes: Option<u64>,
    /// How long to wait at most, once the processes are ready, until they are steady; `None`: not at all.
    pub steady_within: Option<Duration>,
    /// The command that runs [`keeper::main`](crate::keeper::main), such as `[tenbin, keep]`.
    pub keeper: Vec<OsString>,
}

/// A command line, started without a shell.
#[derive(Clone, Debug)]
pub struct Command {
    /// The program and its arguments: at least one word.
    pub argv: Vec<String>,
    /// Environment variables on top of Tenbin's own.
    pub env: Vec<(String, String)>,
    /// The working directory.
    pub dir: PathBuf,
    /// How long it may take to end. For a process that serves, this is not looked at.
    pub within: Duration,
}

/// One process (and whatever it starts) of a system.
#[derive(Clone, Debug)]
pub struct Process {
    /// Unique within the system.
    pub name: String,
    /// What is started.
    pub command: Command,
    /// When it counts as ready.
    pub ready: Ready,
    /// How it is stopped.
    pub stop: StopHow,
    /// It is no part of what is measured, and has no limits.
    pub is_aside: bool,
    /// It is not started with the system, but by an event.
    pub is_started_by_event: bool,
}

/// When a process counts as ready, and how long that may take.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The sign that is looked for.
    pub when: When,
    /// How long to look.
    pub within: Duration,
}

/// The sign that a process is ready.
#[derive(Clone, Debug)]
pub enum When {
    /// An HTTP GET of this path is answered with 2xx.
    Get {
        /// Where to connect.
        address: SocketAddr,
        /// Path and query.
        path: String,
    },
    /// A connection to this address is accepted.
    Tcp(SocketAddr),
    /// A connection to this Unix socket is accepted.
    Unix(PathBuf),
    /// This text is in the output. It is looked for in what is kept: a process that writes faster than 10 MB/s can hide it.
    Log(String),
    /// This command, tried again and again, exits with 0.
    Command(Command),
    /// As soon as it has been started.
    Now,
}

/// How a process is stopped, and how long it may take before it is killed.
#[derive(Clone, Debug)]
pub struct StopHow {
    /// Sent to the process group, unless there is a command that works.
    pub signal: Signal,
    /// Run instead of the signal.
    pub command: Option<Command>,
    /// How long the process may take to end.
    pub within: Duration,
}
