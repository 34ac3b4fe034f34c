//! Events under load. The plan defines their times, and each system defines its actions.

use std::path::PathBuf;
use wire::masking::mask_secrets;

use super::braced::Braced;
use super::environment::LaunchCommand;
use super::limits::{Limits, LimitsText};
use crate::units::{show_duration, show_size};

/// Note in reports on events under a closed load.
pub const NOTE_ON_EVENTS: &str = "with `users`, fewer requests are sent while an event slows the system down; use `rate` to measure \
                                  what an event costs";

/// Name and time of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyEvent {
    /// Name, unique in the study.
    pub name: String,
    /// Time at which the event begins.
    pub moment: EventMoment,
}

/// Time at which an event begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventMoment {
    /// Times that are known in advance.
    At {
        /// Nanoseconds from the end of the warm-up; negative within the warm-up.
        at_ns: i64,
        /// Nanoseconds from one occurrence to the next. `None` for a single one.
        every_ns: Option<u64>,
        /// Number of occurrences. `None` with `every_ns` means until the load ends.
        times: Option<u32>,
    },
    /// After a process has printed a text.
    AfterText {
        /// The text.
        text: String,
        /// Process. In a [`LaunchEvent`] it is `None` only if the system is already running.
        process: Option<String>,
        /// Delay after the text, in nanoseconds.
        delay_ns: u64,
    },
    /// After another event has ended.
    AfterEvent {
        /// Name of the other event.
        event: String,
        /// Delay after its end, in nanoseconds.
        delay_ns: u64,
    },
}

/// An event to perform, with every variable replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchEvent {
    /// Name of the event.
    pub name: String,
    /// Time at which the event begins.
    pub moment: EventMoment,
    /// Action to perform.
    pub action: EventAction,
    /// Action as text, without secrets.
    pub words: String,
    /// Sign that the event has taken effect. `None` if the plan names no sign.
    pub until: Option<EventSign>,
    /// Timeout of the whole event, in nanoseconds.
    pub within_ns: u64,
    /// Whether the run counts even if the event fails.
    pub may_fail: bool,
}

/// Action on a system. Processes are given by name, signals without SIG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventAction {
    /// Runs a command.
    Run {
        /// The command.
        command: LaunchCommand,
        /// SQL statements before and after the command, in one session.
        lock: Option<[String; 2]>,
    },
    /// Sends a signal.
    Signal(EventSignal),
    /// Starts a process.
    Start(String),
    /// Stops a process.
    Stop(String),
    /// Kills a process.
    Kill(String),
    /// Stops a process and starts it again.
    Restart(String),
    /// Suspends a process.
    Pause {
        /// Name of the process.
        process: String,
        /// Duration in nanoseconds.
        for_ns: u64,
    },
    /// Changes the resource limits.
    Limit {
        /// Limits to set; the others stay.
        limits: Limits,
        /// Duration in nanoseconds. `None` means until the end.
        for_ns: Option<u64>,
    },
    /// Sends a command to a proxy.
    Link {
        /// Name of the proxy.
        name: String,
        /// Unix socket that accepts its commands.
        control: PathBuf,
        /// Command: one JSON object.
        order: String,
        /// Command that reverts it. `None` if it cannot be reverted.
        undo: Option<String>,
        /// Duration in nanoseconds. `None` means until the end.
        for_ns: Option<u64>,
    },
    /// Fills the system's own disk.
    Fill {
        /// Free space to leave, in bytes.
        leave_bytes: u64,
        /// Duration in nanoseconds. `None` means until the end.
        for_ns: Option<u64>,
    },
    /// Rewrites configuration files.
    Set {
        /// Content of the files, by path relative to the run's folder.
        files: Vec<(PathBuf, Vec<u8>)>,
        /// Method of reloading the files.
        reload: EventReload,
    },
    /// Changes the number of shards that get requests.
    Shards(u32),
}

/// A signal to a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventSignal {
    /// Name of the process.
    pub process: String,
    /// Signal without SIG: `HUP`.
    pub signal: String,
}

/// Method by which a system reloads its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventReload {
    /// Sends a signal.
    Signal(EventSignal),
    /// Runs a command.
    Run(LaunchCommand),
}

/// Sign that an event has taken effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventSign {
    /// A process prints this text.
    Text {
        /// Name of the process.
        process: String,
        /// The text.
        text: String,
    },
    /// A GET of this path returns 2xx.
    Get {
        /// Port of the request.
        port: u16,
        /// Path and query of the request.
        path: String,
    },
    /// This port accepts connections.
    Tcp(u16),
}

/// Action of a system at an event.
#[derive(Clone, Debug)]
pub(crate) struct SystemEvent {
    pub(crate) name: String,
    pub(crate) action: ActionText,
    pub(crate) until: Option<SignText>,
    pub(crate) within_ns: u64,
    pub(crate) may_fail: bool,
}

/// [`EventAction`] with variables.
#[derive(Clone, Debug)]
pub(crate) enum ActionText {
    Run { command: Vec<Braced>, lock: Option<[Braced; 2]> },
    Signal(EventSignal),
    Start(String),
    Stop(String),
    Kill(String),
    Restart(String),
    Pause { process: String, for_ns: u64 },
    Limit { limits: LimitsText, for_ns: Option<u64> },
    Link { name: String, order: LinkText, for_ns: Option<u64> },
    Fill { leave_bytes: u64, for_ns: Option<u64> },
    Set { knobs: Vec<(String, String)>, reload: ReloadText },
    Shards(u32),
}

/// Change to the link of a proxy.
#[derive(Clone, Debug)]
pub(crate) enum LinkText {
    Cut,
    Reset,
    /// Flags of `tenbin proxy` with their values.
    Slow(Vec<(&'static str, Braced)>),
}

impl LinkText {
    /// Command for the proxy, and the command that reverts it. `fill` replaces variables.
    pub(crate) fn orders(&self, fill: impl Fn(&Braced) -> String) -> (String, Option<String>) {
        let named = |name: &str| serde_json::json!({ "order": name }).to_string();
        match self {
            Self::Cut => (named("cut"), Some(named("mend"))),
            Self::Reset => (named("reset"), None),
            Self::Slow(values) => {
                let mut order = serde_json::json!({ "order": "change" });
                for (key, value) in values {
                    order[*key] = fill(value).into();
                }
                (order.to_string(), Some(named("restore")))
            }
        }
    }

    fn words(&self, name: &str) -> String {
        match self {
            Self::Cut => format!("cut {name}"),
            Self::Reset => format!("reset {name}"),
            Self::Slow(values) => {
                let values: Vec<String> =
                    values.iter().map(|(key, value)| format!("{key} {}", as_written(value))).collect();
                format!("slow {name}: {}", values.join(", "))
            }
        }
    }
}

/// [`EventReload`] with variables.
#[derive(Clone, Debug)]
pub(crate) enum ReloadText {
    Signal(EventSignal),
    Run(Vec<Braced>),
}

/// [`EventSign`] with variables.
#[derive(Clone, Debug)]
pub(crate) enum SignText {
    Text {
        process: String,
        text: Braced,
    },
    /// Name of the port in texts: `port` or `port.app`. `None` means the port of the URL.
    Get {
        port: Option<String>,
        path: Braced,
    },
    Tcp {
        port: String,
    },
}

impl SystemEvent {
    /// All texts of the event that may have variables.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &Braced> {
        let (command, lock): (&[Braced], &[Braced]) = match &self.action {
            ActionText::Run { command, lock } => (command, lock.as_ref().map_or(&[], |both| both)),
            ActionText::Set { reload: ReloadText::Run(command), .. } => (command, &[]),
            _ => (&[], &[]),
        };
        let sign: &[Braced] = match &self.until {
            Some(SignText::Text { text, .. } | SignText::Get { path: text, .. }) => {
                std::slice::from_ref(text)
            }
            Some(SignText::Tcp { .. }) | None => &[],
        };
        let edges: Vec<&Braced> = match &self.action {
            ActionText::Limit { limits, .. } => limits.texts().collect(),
            ActionText::Link { order: LinkText::Slow(values), .. } => {
                values.iter().map(|(_, text)| text).collect()
            }
            _ => Vec::new(),
        };
        command.iter().chain(lock).chain(sign).chain(edges)
    }

    /// Action as text, without secrets.
    pub(crate) fn words(&self) -> String {
        let until = match &self.until {
            None => String::new(),
            Some(SignText::Text { process, text }) => {
                format!(", until {process} writes {:?}", as_written(text))
            }
            Some(SignText::Get { path, .. }) => format!(", until GET {} answers 2xx", as_written(path)),
            Some(SignText::Tcp { port }) => format!(", until {{{port}}} accepts connections"),
        };
        mask_secrets(&format!("{}{until}", self.action.words()))
    }
}

impl ActionText {
    fn words(&self) -> String {
        let line = |command: &[Braced]| command.iter().map(as_written).collect::<Vec<_>>().join(" ");
        match self {
            Self::Run { command, lock: None } => format!("run `{}`", line(command)),
            Self::Run { command, lock: Some([before, after]) } => {
                format!(
                    "run `{}` between `{}` and `{}`",
                    line(command),
                    as_written(before),
                    as_written(after)
                )
            }
            Self::Signal(signal) => signal.words(),
            Self::Start(process) => format!("start {process}"),
            Self::Stop(process) => format!("stop {process}"),
            Self::Kill(process) => format!("kill {process}"),
            Self::Restart(process) => format!("restart {process}"),
            Self::Pause { process, for_ns } => format!("pause {process} for {}", show_duration(*for_ns)),
            Self::Limit { limits, for_ns } => format!("limit {}{}", limits.words(), duration_words(*for_ns)),
            Self::Link { name, order, for_ns } => format!("{}{}", order.words(name), duration_words(*for_ns)),
            Self::Fill { leave_bytes, for_ns } => {
                let leave = match leave_bytes {
                    0 => String::new(),
                    bytes => format!(" but for {}", show_size(*bytes)),
                };
                format!("fill the disk{leave}{}", duration_words(*for_ns))
            }
            Self::Set { knobs, reload } => {
                let knobs: Vec<String> =
                    knobs.iter().map(|(name, value)| format!("{name}={value}")).collect();
                let reload = match reload {
                    ReloadText::Signal(signal) => signal.words(),
                    ReloadText::Run(command) => format!("run `{}`", line(command)),
                };
                format!("set {}, then {reload}", knobs.join(" "))
            }
            Self::Shards(count) => format!("send requests to {count} shards"),
        }
    }
}

impl EventSignal {
    fn words(&self) -> String {
        format!("send {} to {}", self.signal, self.process)
    }
}

impl EventMoment {
    /// Time as text: `20s after the warm-up`.
    pub(crate) fn words(&self) -> String {
        let delay = |delay_ns: u64| match delay_ns {
            0 => String::new(),
            delay_ns => format!("{} ", show_duration(delay_ns)),
        };
        match self {
            Self::At { at_ns, every_ns, times } => {
                let at = show_duration(at_ns.unsigned_abs());
                let at = match at_ns {
                    0 => "when the warm-up ends".to_owned(),
                    1.. => format!("{at} after the warm-up"),
                    ..0 => format!("{at} before the end of the warm-up"),
                };
                let every =
                    every_ns.map_or(String::new(), |every| format!(", then every {}", show_duration(every)));
                let times = times.filter(|_| every_ns.is_some());
                format!(
                    "{at}{every}{}",
                    times.map_or(String::new(), |times| format!(", {times} times in all"))
                )
            }
            Self::AfterText { text, process, delay_ns } => {
                let process = process.as_deref().unwrap_or("the system");
                format!("{}after {process} writes {text:?}", delay(*delay_ns))
            }
            Self::AfterEvent { event, delay_ns } => format!("{}after {event}", delay(*delay_ns)),
        }
    }

    /// Number of occurrences in a load that is measured for `measured_ns`. `None` if it is unknown.
    pub fn times(&self, measured_ns: Option<u64>) -> Option<u32> {
        let Self::At { at_ns, every_ns, times } = self else { return Some(1) };
        match (every_ns, times) {
            (None, _) => Some(1),
            (Some(_), Some(times)) => Some(*times),
            (Some(every_ns), None) => {
                let left_ns = i128::from(measured_ns?) - i128::from(*at_ns);
                let times = (left_ns - 1).max(0) / i128::from((*every_ns).max(1)) + 1;
                Some(u32::try_from(times).unwrap_or(u32::MAX))
            }
        }
    }
}

/// Words for the duration: ` for 2s`. Empty if there is none.
fn duration_words(for_ns: Option<u64>) -> String {
    for_ns.map_or(String::new(), |for_ns| format!(" for {}", show_duration(for_ns)))
}

/// Text as it was written.
fn as_written(text: &Braced) -> String {
    text.fill(|_| None)
}
