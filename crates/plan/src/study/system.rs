//! A system as its plan describes it, and its variants.

use std::path::PathBuf;

use super::braced::Braced;
use super::environment::Tables;
use super::events::SystemEvent;
use super::limits::LimitsText;
use crate::endpoint::Select;

/// A system to measure.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct System {
    /// Its name; unique in the study.
    pub name: String,
    /// What is varied, in the order of the file.
    pub knobs: Vec<Knob>,
    /// No text of the system uses a parameter in braces, so its commands get them as environment variables.
    pub(crate) has_knobs_in_env: bool,
    pub(crate) url: Braced,
    /// The rest of a list of URLs, after `url`.
    pub(crate) list: UrlList,
    /// Where transactions go, if requests go to `url`.
    pub(crate) database: Option<Braced>,
    /// Further systems that steps speak to.
    pub(crate) endpoints: Vec<EndpointText>,
    pub(crate) socket: Option<Braced>,
    /// The processes of one that runs already, if the plan names them.
    pub(crate) running: Option<RunningText>,
    pub(crate) tls: TlsText,
    pub(crate) files: Vec<(PathBuf, Braced)>,
    pub(crate) before: Vec<Vec<Braced>>,
    pub(crate) after: Vec<Vec<Braced>>,
    pub(crate) version: Option<Vec<Braced>>,
    pub(crate) env: Vec<(String, Braced)>,
    /// Relative to the plan's folder.
    pub(crate) dir: Option<Braced>,
    pub(crate) commands_within_ns: u64,
    /// In the order of start.
    pub(crate) processes: Vec<Process>,
    /// Made when it is ready.
    pub(crate) tables: Option<Tables>,
    /// What it may use at most.
    pub(crate) limits: LimitsText,
    /// The size of a disk of its own.
    pub(crate) disk_bytes: Option<u64>,
    /// The parameters that an experiment may raise.
    pub(crate) raisable: Vec<String>,
    /// The name of the host that it runs on, if it has one of its own.
    pub host: Option<String>,
    /// What happens to it under load.
    pub(crate) events: Vec<SystemEvent>,
}

/// How a system that runs already is named: [`crate::RunningSpec`] with variables.
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

/// Certificates as a plan describes them: [`crate::TlsSpec`] with variables. Paths are relative to the plan's folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct TlsText {
    pub(crate) insecure: bool,
    pub(crate) cacert: Option<Braced>,
    pub(crate) cert: Option<Braced>,
    pub(crate) key: Option<Braced>,
}

impl TlsText {
    fn texts(&self) -> impl Iterator<Item = &Braced> {
        self.cacert.iter().chain(&self.cert).chain(&self.key)
    }
}

/// A further system that steps speak to, by its name.
#[derive(Clone, Debug)]
pub(crate) struct EndpointText {
    pub(crate) name: String,
    pub(crate) url: Braced,
    pub(crate) list: UrlList,
    pub(crate) socket: Option<Braced>,
    pub(crate) tls: TlsText,
}

/// URLs after the first of a list, and the rule that selects among all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct UrlList {
    pub(crate) further: Vec<Braced>,
    /// `None`: there is no list.
    pub(crate) select: Option<Select>,
}

impl EndpointText {
    /// Its texts apart from its URLs.
    fn further_texts(&self) -> impl Iterator<Item = &Braced> {
        self.socket.iter().chain(self.tls.texts())
    }
}

/// A parameter that is varied, and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knob {
    /// Its name.
    pub name: String,
    /// Its values as they were written; at least one, all different.
    pub values: Vec<String>,
}

/// One configuration of a system: a value for each parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Variant {
    /// The number of its system.
    pub system: usize,
    /// `workers=8 threads=1`; empty for a system without parameters.
    pub name: String,
    /// The value of each parameter, in the order of the file.
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
    /// It is not started with the others.
    pub(crate) is_started_by_event: bool,
    /// It is a proxy of Tenbin's own, and no part of what is measured.
    pub(crate) proxy: Option<ProxyText>,
}

/// A proxy, which listens on the port of its name.
#[derive(Clone, Debug)]
pub(crate) struct ProxyText {
    pub(crate) name: String,
    /// Where connections go.
    pub(crate) to: Braced,
}

#[derive(Clone, Debug)]
pub(crate) struct ReadyText {
    pub(crate) when: WhenText,
    pub(crate) port: PortText,
    pub(crate) within_ns: u64,
    pub(crate) steady_within_ns: Option<u64>,
}

/// The port at which a process is asked whether it is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PortText {
    /// Of this name: `port`, `port.app`.
    Named(String),
    /// The one in the URL.
    OfUrl,
    /// None is needed.
    None,
}

impl PortText {
    /// A port by the name that a plan gives it: `app` for `{port.app}`, `port` for `{port}`.
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
    /// One that runs already.
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
            limits: LimitsText::default(),
            disk_bytes: None,
            raisable: Vec::new(),
            host: None,
            events: Vec::new(),
        }
    }

    /// Whether it is started for each run, or runs already.
    pub fn is_started(&self) -> bool {
        !self.processes.is_empty()
    }

    /// The first process that is started with the system.
    pub(crate) fn first_process(&self) -> Option<&str> {
        let first =
            self.processes.iter().find(|process| !process.is_started_by_event && process.proxy.is_none());
        first.map(|process| process.name.as_str())
    }

    /// Where loads go.
    pub(crate) fn urls(&self) -> impl Iterator<Item = &Braced> {
        let further = self
            .endpoints
            .iter()
            .flat_map(|endpoint| std::iter::once(&endpoint.url).chain(&endpoint.list.further));
        std::iter::once(&self.url).chain(&self.list.further).chain(&self.database).chain(further)
    }

    /// Every text of it in which a variable may stand; first those of [`Self::urls`].
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
        around.chain(kept).chain(self.processes.iter().flat_map(Process::texts)).chain(events)
    }
}

impl Process {
    /// Every text of it in which a variable may stand.
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
