//! What a system is started with: every variable filled in.

use super::events::LaunchEvent;
use super::limits::Limits;
use crate::draft::TlsSpec;
use crate::endpoint::Select;
use crate::file::Role;
use crate::running::RunningSpec;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

/// What a run has that its plan does not know: ports, a folder, this program.
#[derive(Clone, Copy, Debug)]
pub struct Environment<'a> {
    /// A free port for each name that [`super::Study::ports`] asks for.
    pub ports: &'a [(String, u16)],
    /// A fresh folder.
    pub dir: &'a Path,
    /// This program.
    pub tenbin: &'a Path,
    /// The address of the host that the system runs on: 127.0.0.1 without one of its own.
    pub host: Ipv4Addr,
}

/// How one variant of a system is started, spoken to and stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The name of the system.
    pub system: String,
    /// The name of the variant: `workers=8 threads=1`, or nothing.
    pub variant: String,
    /// Where the load goes.
    pub url: String,
    /// The rest of a list of URLs, after `url`.
    pub further: Further,
    /// Where transactions go, if requests go to `url`.
    pub database: Option<String>,
    /// Further systems that steps speak to, by name.
    pub endpoints: Vec<LaunchEndpoint>,
    /// A Unix socket to connect to instead of the URL's host and port.
    pub socket: Option<PathBuf>,
    /// The processes of a system that runs already, if the plan names them.
    pub running: Option<RunningSpec>,
    /// Certificates, for requests over TLS.
    pub tls: TlsSpec,
    /// What is written before anything is started: a path relative to the run's folder, and the bytes.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// Run to their end before the first process starts.
    pub before: Vec<Cmd>,
    /// Run to their end after the last process has stopped.
    pub after: Vec<Cmd>,
    /// Its first line of output names the system's version.
    pub version: Option<Cmd>,
    /// In the order of start; none: the system runs already.
    pub processes: Vec<Proc>,
    /// For each command of `before` and `after`.
    pub commands_within_ns: u64,
    /// Tables that are made when it is ready, before each load.
    pub tables: Option<Tables>,
    /// What its processes may use at most.
    pub limits: Limits,
    /// The size of a disk of its own, mounted in the run's folder.
    pub disk_bytes: Option<u64>,
    /// Where its processes listen: the address of the host that they run on.
    pub host: Ipv4Addr,
    /// What happens to it under load, in the order of the plan.
    pub events: Vec<LaunchEvent>,
    /// By load: the commands of the other load generator that makes it, if one does.
    pub tools: Vec<Option<ToolCommands>>,
}

impl Launch {
    /// The address of the system itself.
    pub(crate) fn front(&self) -> LaunchEndpoint {
        let (name, url, further) = (String::new(), self.url.clone(), self.further.clone());
        LaunchEndpoint { name, url, further, socket: self.socket.clone(), tls: self.tls.clone() }
    }

    /// The address of what steps speak to.
    pub(crate) fn place(&self, role: &Role) -> LaunchEndpoint {
        match self.endpoints.iter().find(|endpoint| endpoint.name == role.name) {
            Some(endpoint) => endpoint.clone(),
            None => match self.database.as_ref().filter(|_| role.sql.is_some()) {
                Some(database) => LaunchEndpoint { url: database.clone(), ..LaunchEndpoint::default() },
                None => self.front(),
            },
        }
    }
}

/// The address of a system that steps speak to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchEndpoint {
    /// Its name in the plan.
    pub name: String,
    /// Where it is.
    pub url: String,
    /// The rest of a list of URLs, after `url`.
    pub further: Further,
    /// A Unix socket to connect to instead of the URL's host and port.
    pub socket: Option<PathBuf>,
    /// Certificates, for requests over TLS.
    pub tls: TlsSpec,
}

/// URLs after the first of a list, and the rule that selects among all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Further {
    /// The URLs.
    pub urls: Vec<String>,
    /// The rule; `None`: there is no list.
    pub select: Option<Select>,
}

/// The commands of a load generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCommands {
    /// For the warm-up, if the load has one.
    pub warm_up: Option<Cmd>,
    /// For what is measured.
    pub measured: Cmd,
}

/// The tables of a built-in workload, as `tenbin prepare` makes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// The workload; there is one of this name.
    pub workload: &'static str,
    /// Of pgbench's tables.
    pub scale: u32,
    /// How many `sbtest` tables.
    pub tables: u32,
    /// Rows of each of them.
    pub table_size: u32,
    /// Rows of the workload's own table; `None` is as many as it is known for.
    pub rows: Option<u64>,
    /// Connections.
    pub jobs: u32,
    /// The seed of random rows.
    pub seed: u64,
    /// Of PostgreSQL: how full pages are made, in percent.
    pub fillfactor: u8,
    /// Of PostgreSQL: whether pgbench's tables refer to each other.
    pub foreign_keys: bool,
    /// Of PostgreSQL: whether tables are kept out of the write-ahead log.
    pub unlogged: bool,
    /// Whether tables of these names are dropped first.
    pub drop: bool,
}

/// A command, run without a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cmd {
    /// The program and its arguments; at least one word.
    pub argv: Vec<String>,
    /// Added to the environment.
    pub env: Vec<(String, String)>,
    /// Where it runs; absolute.
    pub dir: PathBuf,
}

/// A process of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proc {
    /// Unique in the system; the only process has the system's name.
    pub name: String,
    /// What is run.
    pub command: Cmd,
    /// When it can be used.
    pub ready: Ready,
    /// How it is ended.
    pub stop: StopHow,
    /// It is not started with the system, but by an event.
    pub is_started_by_event: bool,
    /// It is a proxy of Tenbin's own, and no part of what is measured.
    pub proxy: Option<Proxy>,
}

/// A proxy that Tenbin starts between parts of a system, or before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// Its name in the plan.
    pub name: String,
    /// Where it listens, on 127.0.0.1.
    pub port: Option<u16>,
    /// The Unix socket at which it takes orders.
    pub control: PathBuf,
}

/// When a process can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The sign.
    pub when: ReadyWhen,
    /// Where it is looked for, at 127.0.0.1; `None` for signs that need no port.
    pub port: Option<u16>,
    /// How long it may take.
    pub within_ns: u64,
    /// How long the load waits at most until the process is steady, too; `None`: not at all.
    pub steady_within_ns: Option<u64>,
}

/// The sign that a process can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadyWhen {
    /// A GET of this path is answered with 2xx.
    Get(String),
    /// The port accepts connections.
    Tcp,
    /// This Unix socket accepts connections.
    Unix(PathBuf),
    /// The output has this text.
    Log(String),
    /// This command ends with 0.
    Command(Cmd),
}

/// How a process is ended. What is left after the time is killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopHow {
    /// Without SIG: `TERM`.
    pub signal: String,
    /// Run instead of sending the signal.
    pub command: Option<Cmd>,
    /// How long it may take.
    pub within_ns: u64,
}
