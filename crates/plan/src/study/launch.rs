//! Turns a variant and the ports of a run into commands, files, and URLs.

use std::path::{Path, PathBuf};

use url::Url;

use super::Study;
use super::braced::Braced;
use super::environment::{
    Environment, FurtherUrls, Launch, LaunchCommand, LaunchEndpoint, LaunchProcess, Proxy, Ready, ReadyWhen,
    StopHow, ToolCommands,
};
use super::tool::ToolText;
use crate::draft::TlsSpec;
use crate::endpoint::Select;
use crate::running::RunningSpec;

use super::events::{
    ActionText, EventAction, EventMoment, EventReload, EventSign, LaunchEvent, ReloadText, SignText,
    StudyEvent,
};
use super::system::{PortText, Process, RunningText, System, TlsText, UrlList, Variant, WhenText};

impl Study {
    /// Names of the ports that a variant uses, in the order of first use: empty for `{port}`, `app` for `{port.app}`. `variant`
    /// must be an index of the study.
    pub fn ports(&self, variant: usize) -> Vec<String> {
        let mut ports: Vec<String> = Vec::new();
        let setting = self.setting(variant);
        let tools = setting.loads.iter().filter_map(|load| load.tool.as_ref()).flat_map(|tool| &tool.words);
        let texts = setting.systems[setting.variants[variant].system]
            .texts()
            .chain(tools)
            .chain(setting.texts_of_figures());
        for name in texts.flat_map(Braced::names) {
            let port = if name == "port" { Some("") } else { name.strip_prefix("port.") };
            if let Some(port) = port.filter(|port| !ports.iter().any(|known| known == port)) {
                ports.push(port.to_owned());
            }
        }
        ports
    }

    /// Seed of generated rows: the seed of the plan, or a constant, so that studies without a seed have equal rows.
    fn row_seed(&self) -> u64 {
        if self.has_seed { self.seed } else { 1 }
    }

    /// Launch of a variant, with every variable replaced. `environment` must have the ports that [`Self::ports`] returns.
    pub fn launch(&self, variant: usize, environment: &Environment<'_>) -> Launch {
        let (number, study) = (variant, self.setting(variant));
        let variant = &study.variants[variant];
        let system = &study.systems[variant.system];
        let fill = Fill { study, system, variant, environment };
        let url = fill.url(&system.url);
        Launch {
            number,
            system: system.name.clone(),
            variant: variant.name.clone(),
            further: fill.further(&system.list),
            database: system.database.as_ref().map(|database| fill.text(database)),
            endpoints: system
                .endpoints
                .iter()
                .map(|endpoint| LaunchEndpoint {
                    name: endpoint.name.clone(),
                    url: fill.url(&endpoint.url),
                    further: fill.further(&endpoint.list),
                    socket: endpoint.socket.as_ref().map(|socket| fill.path(socket)),
                    tls: fill.tls(&endpoint.tls),
                    pool: endpoint.pool,
                })
                .collect(),
            socket: system.socket.as_ref().map(|socket| fill.path(socket)),
            running: system.running.as_ref().map(|running| match running {
                RunningText::Pid(text) => RunningSpec::Pid(fill.text(text)),
                RunningText::Container(text) => RunningSpec::Container(fill.text(text)),
            }),
            tls: fill.tls(&system.tls),
            files: system
                .files
                .iter()
                .map(|(path, text)| (path.clone(), fill.text(text).into_bytes()))
                .collect(),
            before: system.before.iter().map(|words| fill.command(words, None)).collect(),
            after: system.after.iter().map(|words| fill.command(words, None)).collect(),
            version: system.version.as_ref().map(|words| fill.command(words, None)),
            processes: system.processes.iter().map(|process| fill.process(process, &url)).collect(),
            commands_within_ns: system.commands_within_ns,
            tables: system.tables.clone(),
            own_data: system.own_data.as_ref().map(|own| own.fill(self.row_seed(), |name| fill.value(name))),
            records: system.records,
            limits: system.limits.fill(|name| fill.value(name)),
            disk_bytes: system.disk_bytes,
            host: environment.host,
            figures: study.figures.iter().map(|figure| figure.fill(&fill)).collect(),
            events: study.events.iter().filter_map(|event| fill.event(event, &url)).collect(),
            tools: study.loads.iter().map(|load| Some(fill.tool(load.tool.as_ref()?, &url))).collect(),
            url,
        }
    }
}

pub(super) struct Fill<'a> {
    study: &'a Study,
    system: &'a System,
    variant: &'a Variant,
    environment: &'a Environment<'a>,
}

impl Fill<'_> {
    pub(super) fn text(&self, text: &Braced) -> String {
        text.fill(|name| self.value(name))
    }

    /// Fills in a URL. Names of secrets stay, because URLs are shown.
    fn url(&self, text: &Braced) -> String {
        text.fill_url(|name| self.study.secrets.get(name).is_some(), |name| self.value(name))
    }

    fn further(&self, list: &UrlList) -> FurtherUrls {
        let urls = list.further.iter().map(|url| self.url(url)).collect();
        FurtherUrls { urls, select: list.select.as_ref().map(Select::detached) }
    }

    fn value(&self, name: &str) -> Option<String> {
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        match name {
            "port" => self.port("").map(|port| port.to_string()),
            "dir" => Some(shown(self.environment.dir)),
            "plan" => Some(shown(&self.study.dir)),
            "tenbin" => Some(shown(self.environment.tenbin)),
            "system" => Some(self.system.name.clone()),
            // A parameter may be named `host` if the system has no host.
            "host" if self.variant.knobs.iter().all(|(knob, _)| knob != "host") => {
                Some(self.environment.host.to_string())
            }
            _ if self.study.secrets.get(name).is_some() => self.study.secrets.get(name).map(str::to_owned),
            _ => match name.strip_prefix("port.") {
                Some(port) => self.port(port).map(|port| port.to_string()),
                None => {
                    self.variant.knobs.iter().find(|(knob, _)| knob == name).map(|(_, value)| value.clone())
                }
            },
        }
    }

    fn port(&self, name: &str) -> Option<u16> {
        self.environment.ports.iter().find(|(known, _)| known == name).map(|(_, port)| *port)
    }

    fn tls(&self, text: &TlsText) -> TlsSpec {
        let path = |text: &Option<Braced>| text.as_ref().map(|path| self.path(path));
        TlsSpec {
            insecure: text.insecure,
            cacert: path(&text.cacert),
            cert: path(&text.cert),
            key: path(&text.key),
            resume_tls: text.resume_tls,
        }
    }

    /// Fills in a path. Relative paths begin at the plan's folder.
    fn path(&self, text: &Braced) -> PathBuf {
        self.study.dir.join(self.text(text))
    }

    pub(super) fn command(&self, words: &[Braced], process: Option<&Process>) -> LaunchCommand {
        let mut env = if self.system.has_knobs_in_env { self.variant.knobs.clone() } else { Vec::new() };
        let further = process.map_or(&[][..], |process| &process.env);
        for (name, text) in self.system.env.iter().chain(further) {
            env.retain(|(known, _)| known != name);
            env.push((name.clone(), self.text(text)));
        }
        let dir = process.and_then(|process| process.dir.as_ref()).or(self.system.dir.as_ref());
        LaunchCommand {
            argv: words.iter().map(|word| self.text(word)).collect(),
            env,
            dir: dir.map_or_else(|| self.study.dir.clone(), |dir| self.path(dir)),
        }
    }

    fn tool(&self, tool: &ToolText, url: &str) -> ToolCommands {
        let command = |is_warm_up: bool| {
            let value = |name: &str| match name {
                "url" => Some(url.to_owned()),
                _ => tool.value(name, is_warm_up).or_else(|| self.value(name)),
            };
            LaunchCommand {
                argv: tool.words.iter().map(|word| word.fill(value)).collect(),
                env: Vec::new(),
                dir: self.study.dir.clone(),
            }
        };
        ToolCommands { warm_up: (tool.warm_up_ns > 0).then(|| command(true)), measured: command(false) }
    }

    fn event(&self, event: &StudyEvent, url: &str) -> Option<LaunchEvent> {
        let own = self.system.events.iter().find(|own| own.name == event.name)?;
        let mut moment = event.moment.clone();
        if let EventMoment::AfterText { process, .. } = &mut moment {
            *process = process.take().or_else(|| self.system.first_process().map(str::to_owned));
        }
        let until = own.until.as_ref().and_then(|sign| {
            Some(match sign {
                SignText::Text { process, text } => {
                    EventSign::Text { process: process.clone(), text: self.text(text) }
                }
                SignText::Get { port, path } => {
                    let port = port
                        .as_ref()
                        .map_or_else(|| self.behind_proxies(port_of(url)), |port| self.named_port(port));
                    EventSign::Get { port: port?, path: self.text(path) }
                }
                SignText::Tcp { port } => EventSign::Tcp(self.named_port(port)?),
            })
        });
        Some(LaunchEvent {
            name: event.name.clone(),
            moment,
            action: self.action(&own.action),
            words: own.words(),
            until,
            within_ns: own.within_ns,
            may_fail: own.may_fail,
        })
    }

    fn action(&self, action: &ActionText) -> EventAction {
        match action {
            ActionText::Run { command, lock } => EventAction::Run {
                command: self.command(command, None),
                lock: lock.as_ref().map(|both| both.each_ref().map(|text| self.text(text))),
            },
            ActionText::Signal(signal) => EventAction::Signal(signal.clone()),
            ActionText::Start(process) => EventAction::Start(process.clone()),
            ActionText::Stop(process) => EventAction::Stop(process.clone()),
            ActionText::Kill(process) => EventAction::Kill(process.clone()),
            ActionText::Restart(process) => EventAction::Restart(process.clone()),
            ActionText::Pause { process, for_ns } => {
                EventAction::Pause { process: process.clone(), for_ns: *for_ns }
            }
            ActionText::Limit { limits, for_ns } => {
                EventAction::Limit { limits: limits.fill(|name| self.value(name)), for_ns: *for_ns }
            }
            ActionText::Link { name, order, for_ns } => {
                let (order, undo) = order.orders(|text| self.text(text));
                let control = self.control(name);
                EventAction::Link { name: name.clone(), control, order, undo, for_ns: *for_ns }
            }
            ActionText::Fill { leave_bytes, for_ns } => {
                EventAction::Fill { leave_bytes: *leave_bytes, for_ns: *for_ns }
            }
            ActionText::Set { knobs, reload } => EventAction::Set {
                files: self.files_with(knobs),
                reload: match reload {
                    ReloadText::Signal(signal) => EventReload::Signal(signal.clone()),
                    ReloadText::Run(command) => EventReload::Run(self.command(command, None)),
                },
            },
            ActionText::Shards(count) => EventAction::Shards(*count),
        }
    }

    /// Files that use one of these parameters, with these values.
    fn files_with(&self, knobs: &[(String, String)]) -> Vec<(PathBuf, Vec<u8>)> {
        let changed =
            |name: &str| knobs.iter().find(|(knob, _)| knob == name).map(|(_, value)| value.clone());
        let files = self.system.files.iter();
        let files = files.filter(|(_, text)| text.names().any(|name| changed(name).is_some()));
        let filled = |text: &Braced| text.fill(|name| changed(name).or_else(|| self.value(name)));
        files.map(|(path, text)| (path.clone(), filled(text).into_bytes())).collect()
    }

    /// Port by its name in texts: `port`, `port.app`.
    fn named_port(&self, name: &str) -> Option<u16> {
        self.port(name.strip_prefix("port.").unwrap_or_default())
    }

    fn process(&self, process: &Process, url: &str) -> LaunchProcess {
        let when = match &process.ready.when {
            WhenText::Get(path) => ReadyWhen::Get(self.text(path)),
            WhenText::Tcp => ReadyWhen::Tcp,
            WhenText::Socket => ReadyWhen::Unix(
                self.system.socket.as_ref().map(|socket| self.path(socket)).unwrap_or_default(),
            ),
            WhenText::Log(text) => ReadyWhen::Log(self.text(text)),
            WhenText::Command(words) => ReadyWhen::Command(self.command(words, Some(process))),
        };
        let port = match &process.ready.port {
            PortText::Named(name) => self.named_port(name),
            PortText::OfUrl => self.behind_proxies(port_of(url)),
            PortText::None => None,
        };
        let stop = StopHow {
            signal: process.stop.signal.clone(),
            command: process.stop.command.as_ref().map(|words| self.command(words, Some(process))),
            within_ns: process.stop.within_ns,
        };
        LaunchProcess {
            name: process.name.clone(),
            command: self.command(&process.start, Some(process)),
            ready: Ready {
                when,
                port,
                within_ns: process.ready.within_ns,
                steady_within_ns: process.ready.steady_within_ns,
            },
            stop,
            proxy: process.proxy.as_ref().map(|proxy| Proxy {
                name: proxy.name.clone(),
                port: self.port(&proxy.name),
                to_port: self.text(&proxy.to).rsplit(':').next().and_then(|port| port.parse().ok()),
                control: self.control(&proxy.name),
            }),
            is_started_by_event: process.is_started_by_event,
        }
    }

    /// Unix socket that accepts commands of a proxy.
    fn control(&self, proxy: &str) -> PathBuf {
        self.environment.dir.join(format!("{proxy}.control"))
    }

    /// Port that shows that a system is ready. A proxy accepts connections earlier than the system behind it.
    fn behind_proxies(&self, mut port: Option<u16>) -> Option<u16> {
        let proxies = || self.system.processes.iter().filter_map(|process| process.proxy.as_ref());
        // Follows at most one step per proxy, because proxies could form a cycle.
        for _ in proxies() {
            let Some(proxy) = proxies().find(|proxy| port.is_some() && self.port(&proxy.name) == port) else {
                break;
            };
            let to = self.text(&proxy.to);
            port = to.rsplit(':').next().and_then(|port| port.parse().ok()).or(port);
        }
        port
    }
}

fn port_of(url: &str) -> Option<u16> {
    Url::parse(url).ok().and_then(|url| url.port_or_known_default())
}
