//! A system as its plan describes it, and its variants.

use std::path::PathBuf;

use super::braced::Braced;
use super::environment::Tables;
use super::events::SystemEvent;
use super::limits::LimitsText;
use super::own_data::OwnDataText;
use crate::endpoint::Select;
use crate::ycsb::RecordLoading;

/// A system to measure.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct System {
    /// Name, unique in the study.
    pub name: String,
    /// Parameters that are varied, in the order of the file.
    pub knobs: Vec<Knob>,
    /// Whether parameters are passed to commands as environment variables, because no text of the system uses one in braces.
    pub(crate) has_knobs_in_env: bool,
    pub(crate) url: Braced,
    /// URLs of a list after `url`.
    pub(crate) list: UrlList,
    /// URL of the database that runs transactions, if `url` accepts requests.
    pub(crate) database: Option<Braced>,
    /// Further systems that steps talk to.
    pub(crate) endpoints: Vec<EndpointText>,
    pub(crate) socket: Option<Braced>,
    /// Processes of a system that already runs, if the plan names them.
    pub(crate) running: Option<RunningText>,
    pub(crate) tls: TlsText,
    pub(crate) files: Vec<(PathBuf, Braced)>,
    pub(crate) before: Vec<Vec<Braced>>,
    pub(crate) after: Vec<Vec<Braced>>,
    pub(crate) version: Option<Vec<Braced>>,
    pub(crate) env: Vec<(String, Braced)>,
    /// Working directory, relative to the plan's folder.
    pub(crate) dir: Option<Braced>,
    pub(crate) commands_within_ns: u64,
    /// Processes in the order of their start.
    pub(crate) processes: Vec<Process>,
    /// Tables that are created when the system is ready.
    pub(crate) tables: Option<Tables>,
    /// Own statements and rows, after the tables of a workload.
    pub(crate) own_data: Option<OwnDataText>,
    /// Records that are inserted when the system is ready.
    pub(crate) records: Option<RecordLoading>,
    /// Resource limits.
    pub(crate) limits: LimitsText,
    /// Size of the separate disk, in bytes. `None` without one.
    pub(crate) disk_bytes: Option<u64>,
    /// Parameters that an experiment may raise.
    pub(crate) raisable: Vec<String>,
    /// Name of the host that the system runs on. `None` if the plan sets none.
    pub host: Option<String>,
    /// Actions at events under load.
    pub(crate) events: Vec<SystemEvent>,
}

/// Name of a system that already runs: [`crate::RunningSpec`] with variables.
#[derive(Clone, Debug)]
pub(crate) enum RunningText {
    Pid(Braced),
    Container(Braced),
}

impl RunningText {
    pub(crate) fn text(&self) -> &Braced {
        match self {
            Self::Pid(text) | Self::Container(text) => text,
        }
    }
}

/// Certificates: [`crate::TlsSpec`] with variables. Paths are relative to the plan's folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct TlsText {
    pub(crate) insecure: bool,
    pub(crate) cacert: Option<Braced>,
    pub(crate) cert: Option<Braced>,
    pub(crate) key: Option<Braced>,
    pub(crate) resume_tls: bool,
}

impl TlsText {
    fn texts(&self) -> impl Iterator<Item = &Braced> {
        self.cacert.iter().chain(&self.cert).chain(&self.key)
    }
}

/// A further system that steps talk to, by its name.
#[derive(Clone, Debug)]
pub(crate) struct EndpointText {
    pub(crate) name: String,
    pub(crate) url: Braced,
    pub(crate) list: UrlList,
    pub(crate) socket: Option<Braced>,
    pub(crate) tls: TlsText,
    /// Connections that users share. `None` if each user has its own.
    pub(crate) pool: Option<u32>,
}

/// URLs of a list after the first, and the rule that selects among all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct UrlList {
    pub(crate) further: Vec<Braced>,
    /// Selection rule. `None` if there is no list.
    pub(crate) select: Option<Select>,
}

impl EndpointText {
    /// All texts that may have variables, except URLs.
    fn further_texts(&self) -> impl Iterator<Item = &Braced> {
        self.socket.iter().chain(self.tls.texts())
    }
}

/// A parameter that is varied, and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knob {
    /// Name of the parameter.
    pub name: String,
    /// Values as written: at least one, all different.
    pub values: Vec<String>,
}

/// Configuration of a system: a value for each parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Variant {
    /// Index of the system in [`super::Study::systems`].
    pub system: usize,
    /// Name: `workers=8 threads=1`; empty for a system without parameters.
    pub name: String,
    /// Name and value of each parameter, in the order of the file.
    pub knobs: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) start: Vec<Braced>,
    pub(crate) env: Vec<(String, Braced)>,
    pub(crate) dir: Option<Braced>,
    pub(crate) ready: ReadyText,
    pub(crate) stop: StopText,
    /// Whether an event starts the process, instead of the start of the system.
    pub(crate) is_started_by_event: bool,
    /// Proxy that Tenbin runs, which is not part of the measured system. `None` for a process of the system.
    pub(crate) proxy: Option<ProxyText>,
}

/// A proxy, which listens on the port with its name.
#[derive(Clone, Debug)]
pub(crate) struct ProxyText {
    pub(crate) name: String,
    /// Address that connections are forwarded to.
    pub(crate) to: Braced,
}

#[derive(Clone, Debug)]
pub(crate) struct ReadyText {
    pub(crate) when: WhenText,
    pub(crate) port: PortText,
    pub(crate) within_ns: u64,
    pub(crate) steady_within_ns: Option<u64>,
}

/// Port that a readiness check connects to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PortText {
    /// Port with this name: `port`, `port.app`.
    Named(String),
    /// Port of the URL.
    OfUrl,
    /// No port.
    None,
}

impl PortText {
    /// Port by its name in a plan: `app` for `{port.app}`, `port` for `{port}`.
    pub(crate) fn named(name: &str) -> Self {
        let is_whole = name == "port" || name.starts_with("port.");
        Self::Named(if is_whole { name.to_owned() } else { format!("port.{name}") })
    }
}

#[derive(Clone, Debug)]
pub(crate) enum WhenText {
    Get(Braced),
    Tcp,
    Socket,
    Log(Braced),
    Command(Vec<Braced>),
}

#[derive(Clone, Debug)]
pub(crate) struct StopText {
    pub(crate) signal: String,
    pub(crate) command: Option<Vec<Braced>>,
    pub(crate) within_ns: u64,
}

impl Variant {
    /// The only variant of a system without parameters.
    pub(crate) fn only(system: usize) -> Self {
        Self { system, name: String::new(), knobs: Vec::new() }
    }
}

impl System {
    /// A system that already runs.
    pub(crate) fn running(name: String, url: Braced) -> Self {
        Self {
            name,
            knobs: Vec::new(),
            has_knobs_in_env: false,
            url,
            database: None,
            endpoints: Vec::new(),
            socket: None,
            running: None,
            tls: TlsText::default(),
            files: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            version: None,
            env: Vec::new(),
            dir: None,
            list: UrlList::default(),
            commands_within_ns: 0,
            processes: Vec::new(),
            tables: None,
            own_data: None,
            records: None,
            limits: LimitsText::default(),
            disk_bytes: None,
            raisable: Vec::new(),
            host: None,
            events: Vec::new(),
        }
    }

    /// Whether the system is started for each run. A system without processes is already running.
    pub fn is_started(&self) -> bool {
        !self.processes.is_empty()
    }

    /// Name of the first process that starts with the system.
    pub(crate) fn first_process(&self) -> Option<&str> {
        let first =
            self.processes.iter().find(|process| !process.is_started_by_event && process.proxy.is_none());
        first.map(|process| process.name.as_str())
    }

    /// URLs that loads go to.
    pub(crate) fn urls(&self) -> impl Iterator<Item = &Braced> {
        let further = self
            .endpoints
            .iter()
            .flat_map(|endpoint| std::iter::once(&endpoint.url).chain(&endpoint.list.further));
        std::iter::once(&self.url).chain(&self.list.further).chain(&self.database).chain(further)
    }

    /// All texts that may have variables, starting with [`Self::urls`].
    pub(crate) fn texts(&self) -> impl Iterator<Item = &Braced> {
        let commands = self.before.iter().chain(&self.after).chain(&self.version).flatten();
        let running = self.running.as_ref().map(RunningText::text);
        let around = self
            .urls()
            .chain(&self.socket)
            .chain(running)
            .chain(self.tls.texts())
            .chain(self.endpoints.iter().flat_map(EndpointText::further_texts))
            .chain(&self.dir)
            .chain(commands);
        let kept = self.files.iter().map(|(_, text)| text).chain(self.env.iter().map(|(_, text)| text));
        let around = around.chain(self.limits.texts());
        let events = self.events.iter().flat_map(SystemEvent::texts);
        let around = around.chain(self.own_data.iter().flat_map(OwnDataText::texts));
        around.chain(kept).chain(self.processes.iter().flat_map(Process::texts)).chain(events)
    }
}

impl Process {
    /// All texts that may have variables.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &Braced> {
        let ready: &[Braced] = match &self.ready.when {
            WhenText::Get(text) | WhenText::Log(text) => std::slice::from_ref(text),
            WhenText::Command(words) => words,
            WhenText::Tcp | WhenText::Socket => &[],
        };
        let env = self.env.iter().map(|(_, text)| text);
        self.start.iter().chain(env).chain(&self.dir).chain(ready).chain(self.stop.command.iter().flatten())
    }
}
