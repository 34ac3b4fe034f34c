//! Reads the processes of a system: `start`, or several under `processes`, sorted in the order of their start.

use std::collections::BTreeSet;

use super::reading::Reading;
use super::span::Span;
use super::systems::{Scope, dir, env};
use super::tree::{Entry, Node, WithUnits as _};
use crate::study::{Braced, PortText, Process, ReadyText, StopText, WhenText, names_in};

/// Default stop signal.
pub(crate) const TERM: &str = "TERM";
const READY_WITHIN_NS: u64 = 30_000_000_000;
const STEADY_WITHIN_NS: u64 = 10_000_000_000;
const STOP_WITHIN_NS: u64 = 10_000_000_000;
const PROCESSES_MAX: usize = 100;
/// Keys that belong to each process if a system has several.
const PROCESS_KEYS: [&str; 2] = ["ready", "stop"];

/// Reads the processes of a system. Empty if it already runs.
pub(crate) fn read(scope: &Scope<'_>, reading: &mut Reading<'_>) -> Vec<Process> {
    let node = scope.node;
    match (node.entry("start"), node.entry("processes")) {
        (Some(start), Some(several)) => {
            let second = if start.key_at < several.key_at { several } else { start };
            let what = "`start` and `processes` exclude each other";
            reading.at(second.key_at, what, "remove one of them, or move `start` into a process");
            Vec::new()
        }
        (Some(_), None) => vec![process(scope.name, node, scope, &BTreeSet::new(), true, reading)],
        (None, Some(several)) => {
            for key in PROCESS_KEYS {
                if let Some(entry) = node.entry(key) {
                    let what = format!("with `processes`, each process has its own `{key}`");
                    reading.at(entry.key_at, what, "move it into a process");
                }
            }
            let all = several.value.entries();
            if let Some(further) = all.get(PROCESSES_MAX) {
                let what = format!("there are more than {PROCESSES_MAX} processes");
                reading.at(further.key_at, what, "start several programs in one process");
            }
            let entries = &all[..all.len().min(PROCESSES_MAX)];
            let is_only = entries.len() == 1;
            let processes: Vec<Process> = entries
                .iter()
                .map(|entry| {
                    reading.own_name(&entry.key, entry.key_at, "process");
                    let others = ports_of_others(entry, entries, scope);
                    process(&entry.key, &entry.value, scope, &others, is_only, reading)
                })
                .collect();
            check_started_by_events(&processes, entries, reading);
            sort_by_needs(processes, entries, reading)
        }
        (None, None) => {
            for key in ["ready", "stop", "files", "resources", "disk", "proxies", "host"] {
                if let Some(entry) = node.entry(key).filter(|_| node.get("url").is_some()) {
                    let what = format!("`{key}` requires a system with `start`");
                    reading.at(entry.key_at, what, "remove it, or add `start`");
                }
            }
            Vec::new()
        }
    }
}

/// Names that monitoring uses for other measurements.
const RESERVED: [&str; 3] = ["machine", "system", "generator"];

/// Reads a process. It does not listen on the ports in `others`.
fn process(
    name: &str,
    node: &Node,
    scope: &Scope<'_>,
    others: &BTreeSet<String>,
    is_only: bool,
    reading: &mut Reading<'_>,
) -> Process {
    if RESERVED.contains(&name) {
        let what = format!("the process name {name:?} is reserved");
        reading.at(node.at, what, "choose another name");
    }
    let start = node.get("start").map_or_else(Vec::new, |start| reading.command(start, &scope.known));
    // The system's own `env` and `in` are added when it starts.
    let is_system = std::ptr::eq(node, scope.node);
    let env = if is_system { Vec::new() } else { env(node, &scope.known, reading) };
    let dir = if is_system { None } else { dir(node, &scope.known, reading) };
    let named = start.iter().chain(env.iter().map(|(_, text)| text)).flat_map(Braced::names);
    let ports = Ports::of(named, others);
    let ready = ready(name, node, &ports, scope, is_only, reading);
    let stop = stop(node, scope, reading);
    let is_started_by_event = node.get("start-by").is_some();
    Process { name: name.to_owned(), ready, stop, start, env, dir, is_started_by_event, proxy: None }
}

/// Ports that a process names, each once.
struct Ports<'a> {
    all: Vec<&'a str>,
    /// Ports on which no other process listens, as far as the plan shows.
    own: Vec<&'a str>,
}

impl<'a> Ports<'a> {
    fn of(named: impl Iterator<Item = &'a str>, others: &BTreeSet<String>) -> Self {
        let all: BTreeSet<&str> = named.filter(|name| is_port(name)).collect();
        let all: Vec<&str> = all.into_iter().collect();
        let own = all.iter().copied().filter(|port| !others.contains(*port)).collect();
        Self { all, own }
    }
}

/// Ports of the proxies, and ports named by processes that this one needs, directly or indirectly.
fn ports_of_others(entry: &Entry, entries: &[Entry], scope: &Scope<'_>) -> BTreeSet<String> {
    let proxies = scope.node.get("proxies").map_or(&[][..], Node::entries);
    let mut ports: BTreeSet<String> = proxies.iter().map(|proxy| format!("port.{}", proxy.key)).collect();
    let (mut seen, mut left) = (BTreeSet::from([entry.key.as_str()]), vec![entry]);
    while let Some(next) = left.pop() {
        for (name, _) in needs(next) {
            let needed = entries.iter().find(|other| other.key == name);
            if let Some(needed) = needed.filter(|needed| seen.insert(needed.key.as_str())) {
                ports.extend(ports_in(&needed.value).map(str::to_owned));
                left.push(needed);
            }
        }
    }
    ports
}

/// Ports in the command and the `env` of a process.
fn ports_in(node: &Node) -> impl Iterator<Item = &str> {
    let start = node.get("start").map_or(&[][..], Node::items).iter();
    let env = node.get("env").map_or(&[][..], Node::entries).iter().map(|entry| &entry.value);
    let texts = start.chain(env).filter_map(Node::text);
    texts.flat_map(names_in).map(|(name, ..)| name).filter(|name| is_port(name))
}

/// Names of the processes that a process needs, each with its place.
fn needs(entry: &Entry) -> impl Iterator<Item = (&str, Span)> {
    let nodes = entry.value.get("needs").map_or(&[][..], Node::items);
    nodes.iter().filter_map(|node| Some((node.text()?, node.at)))
}

fn ready(
    name: &str,
    node: &Node,
    ports: &Ports<'_>,
    scope: &Scope<'_>,
    is_only: bool,
    reading: &mut Reading<'_>,
) -> ReadyText {
    let ready = node.get("ready");
    let within_ns = ready.and_then(|ready| ready.duration_ns("within")).unwrap_or(READY_WITHIN_NS);
    let steady_within_ns = match ready.and_then(|ready| ready.text_of("steady")) {
        Some("false") => None,
        None | Some("true") => Some(STEADY_WITHIN_NS),
        Some(limit) => crate::units::duration_ns(limit).ok(),
    };
    let signs = ready.map_or(&[][..], Node::entries).iter();
    let mut signs = signs.filter(|entry| ["get", "tcp", "log", "command"].contains(&entry.key.as_str()));
    let sign = signs.next();
    if let (Some(first), Some(second)) = (sign, signs.next()) {
        reading.at(
            second.key_at,
            format!("`ready` has one condition, and this one has `{}`", first.key),
            "remove one of them",
        );
    }
    let has_socket = scope.node.get("socket").is_some();
    // If there is no condition, the socket that takes the load counts as ready, even if there are ports.
    let is_by_socket = is_only
        && has_socket
        && ready.is_none_or(|ready| ready.get("port").is_none())
        && (sign.is_none() || ports.all.is_empty());
    let when = match sign.and_then(|entry| when(entry, scope, reading)).unwrap_or(WhenText::Tcp) {
        WhenText::Tcp if is_by_socket => WhenText::Socket,
        WhenText::Get(_) if is_by_socket => {
            let at = sign.map_or(node.at, |entry| entry.key_at);
            let what = "`get` requires a port, and this system listens on a socket";
            reading.at(at, what, "write `tcp: true` to wait for the socket, or use `log` or `command`");
            WhenText::Socket
        }
        when => when,
    };
    let needs_port = matches!(when, WhenText::Get(_) | WhenText::Tcp);
    let given = ready.and_then(|ready| ready.entry("port"));
    if let Some(entry) = given.filter(|_| !needs_port) {
        reading.at(entry.key_at, "`port` requires `get` or `tcp`", "remove it");
    }
    let port = match (needs_port, given.and_then(|entry| entry.value.text())) {
        (false, _) => PortText::None,
        (true, Some(port)) => {
            let port = port.trim_start_matches('{').trim_end_matches('}');
            PortText::named(port)
        }
        // If the process has a socket, no process listens on the port of the URL.
        (true, None) => inferred_port(name, node, ports, is_only && !has_socket, reading),
    };
    ReadyText { when, port, within_ns, steady_within_ns }
}

fn is_port(name: &str) -> bool {
    name == "port" || name.starts_with("port.")
}

/// Port for the readiness check. For a single process, it is the URL's. Otherwise it is the only port that the process names and
/// that no other process listens on. Reports an error if `ready` has no condition and the plan shows no single port.
fn inferred_port(
    name: &str,
    node: &Node,
    ports: &Ports<'_>,
    is_only: bool,
    reading: &mut Reading<'_>,
) -> PortText {
    let is_asked =
        node.get("ready").is_some_and(|ready| ready.get("get").is_some() || ready.get("tcp").is_some());
    match (ports.own.as_slice(), ports.all.as_slice()) {
        _ if is_only => PortText::OfUrl,
        ([port], _) => PortText::Named((*port).to_owned()),
        ([], _) if is_asked => PortText::OfUrl,
        // The process listens on no port, as far as the plan shows. It is ready when the process it needs is.
        ([], [port]) => PortText::Named((*port).to_owned()),
        (_, ports) => {
            let entry = node.entry("ready").or(node.entry("start"));
            let at = entry.map_or(node.at, |entry| entry.key_at);
            let how_many = if ports.is_empty() { "no port" } else { "several ports" };
            let what = format!("no readiness condition for `{name}`: its command names {how_many}");
            reading.at(
                at,
                what,
                "add `ready: { tcp: true, port: NAME }`, or `ready` with `log` or `command`",
            );
            PortText::OfUrl
        }
    }
}

fn when(entry: &Entry, scope: &Scope<'_>, reading: &mut Reading<'_>) -> Option<WhenText> {
    let text = || entry.value.text();
    match entry.key.as_str() {
        "get" => {
            let path = text()?;
            if !path.starts_with(['/', '{']) {
                reading.at(
                    entry.value.at,
                    format!("the path {path:?} does not start with /"),
                    format!("write /{path}"),
                );
            } else if path.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
                reading.at(
                    entry.value.at,
                    "the path has a space or a control character",
                    "write a space as %20",
                );
            }
            Some(WhenText::Get(reading.braced(&entry.value, path, &scope.known)))
        }
        "tcp" if text()? == "false" => {
            reading.at(
                entry.value.at,
                "`tcp: false` is no condition",
                "write `tcp: true`, or another condition",
            );
            None
        }
        "tcp" => Some(WhenText::Tcp),
        "log" => Some(WhenText::Log(reading.braced(&entry.value, text()?, &scope.known))),
        _ => Some(WhenText::Command(reading.command(&entry.value, &scope.known))),
    }
}

fn stop(node: &Node, scope: &Scope<'_>, reading: &mut Reading<'_>) -> StopText {
    let stop = node.get("stop");
    if let (Some(_), Some(second)) =
        (stop.and_then(|stop| stop.get("signal")), stop.and_then(|stop| stop.entry("command")))
    {
        reading.at(second.key_at, "`signal` and `command` exclude each other", "remove one of them");
    }
    StopText {
        signal: stop.and_then(|stop| stop.text_of("signal")).unwrap_or(TERM).to_owned(),
        command: stop
            .and_then(|stop| stop.get("command"))
            .map(|command| reading.command(command, &scope.known)),
        within_ns: stop.and_then(|stop| stop.duration_ns("within")).unwrap_or(STOP_WITHIN_NS),
    }
}

/// Checks `start-by: event`. A process that starts with the system cannot need one that an event starts later.
fn check_started_by_events(processes: &[Process], entries: &[Entry], reading: &mut Reading<'_>) {
    let by_event = |name: &str| processes.iter().any(|one| one.name == name && one.is_started_by_event);
    if let Some(entry) = entries.iter().find_map(|entry| entry.value.entry("start-by"))
        && processes.iter().all(|process| process.is_started_by_event)
    {
        reading.at(entry.key_at, "no process is started with the system", "remove one `start-by`");
    }
    for entry in entries.iter().filter(|entry| !by_event(&entry.key)) {
        for (name, at) in needs(entry).filter(|(name, _)| by_event(name)) {
            let what = format!("`{}` needs `{name}`, which an event starts later", entry.key);
            reading.at(at, what, "remove it from `needs`, or remove `start-by`");
        }
    }
}

/// Sorts processes so that each follows those that it needs. Otherwise the order of the file stays.
fn sort_by_needs(processes: Vec<Process>, entries: &[Entry], reading: &mut Reading<'_>) -> Vec<Process> {
    let names: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
    let mut all_needed: Vec<Vec<(usize, Span)>> = Vec::new();
    for entry in entries {
        let mut needed = Vec::new();
        for (name, at) in needs(entry) {
            match names.iter().position(|known| *known == name) {
                Some(place) => needed.push((place, at)),
                None => {
                    let what = format!("`{}` needs the unknown process `{name}`", entry.key);
                    reading.findings.unknown(at, what, name, names.iter().copied(), "write one of");
                }
            }
        }
        all_needed.push(needed);
    }
    let (mut order, mut left): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..names.len()).collect());
    while let Some(at) =
        left.iter().position(|place| all_needed[*place].iter().all(|(needed, _)| order.contains(needed)))
    {
        order.push(left.remove(at));
    }
    if let Some(cycle) = cycle(&left, &all_needed) {
        let path: Vec<String> = cycle.iter().map(|(place, _)| format!("`{}`", names[*place])).collect();
        let what = format!("{} wait for each other", path.join(" and "));
        reading.at(cycle[0].1, what, "remove one of their `needs`");
    }
    let mut processes: Vec<Option<Process>> = processes.into_iter().map(Some).collect();
    order.into_iter().filter_map(|place| processes[place].take()).collect()
}

/// Finds processes that depend on each other in a cycle, each with the place of its `needs`. Each process in `left` must depend on another
/// one in `left`.
fn cycle(left: &[usize], needs: &[Vec<(usize, Span)>]) -> Option<Vec<(usize, Span)>> {
    let mut path: Vec<(usize, Span)> = Vec::new();
    let mut place = *left.first()?;
    loop {
        if let Some(start) = path.iter().position(|(known, _)| *known == place) {
            return Some(path.split_off(start));
        }
        let (next, at) = *needs[place].iter().find(|(needed, _)| left.contains(needed))?;
        path.push((place, at));
        place = next;
    }
}
