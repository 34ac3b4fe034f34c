//! Reads the section `systems`, or only `url`: the systems to measure.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::addresses;
use super::database;
use super::endpoints;
use super::events;
use super::folder::leads_outside;
use super::own_data;
use super::parameters;
use super::prepare;
use super::processes;
use super::proxies;
use super::quick::Quick;
use super::reading::{Reading, is_known};
use super::resources::{self, LimitContext};
use super::secret;
use super::span::{Span, line_at};
use super::tls;
use super::tree::{Entry, Node, WithUnits as _};
use super::url;
use super::variants::{self, VariedSystem};
use super::ycsb;
use crate::running::RunningSpec;
use crate::study::{
    ActionText, Braced, EndpointText, Knob, LimitsText, PortText, Process, RunningText, SqlFileText, System,
    Variant, is_number, names_in,
};
use crate::system_kind::SystemKind;

/// Names that every text of a system may use.
const BUILT_IN: [&str; 5] = ["port", "dir", "plan", "tenbin", "system"];
/// Name of the system's host in braces. A parameter with this name takes precedence.
const HOST: &str = "host";
const TEMPLATE_BYTES_MAX: u64 = 1 << 20;
const COMMANDS_WITHIN_NS: u64 = 60_000_000_000;

/// Names that the texts of a system may use, and other context of its parts.
pub(crate) struct Scope<'a> {
    pub(crate) name: &'a str,
    /// Place of the system's name.
    pub(crate) at: Span,
    pub(crate) node: &'a Node,
    /// Names of parameters, and built-in names.
    pub(crate) known: Vec<String>,
}

/// Reads systems and variants. `is_sound` means that unused definitions are reported.
pub(crate) fn read(
    root: &Node,
    is_sound: bool,
    quick: Option<&Quick<'_>>,
    reading: &mut Reading<'_>,
) -> (Vec<System>, Vec<Variant>) {
    match (root.entry("url"), root.entry("systems")) {
        (Some(one), Some(several)) => {
            let second = if one.key_at < several.key_at { several } else { one };
            let what = "`url` and `systems` exclude each other";
            reading.at(second.key_at, what, "remove one of them; a system can have its own `url`");
            (Vec::new(), Vec::new())
        }
        (Some(one), None) => running_with_variants(root, one, quick, reading),
        (None, Some(several)) => {
            if let Some(socket) = root.entry("socket") {
                reading.at(
                    socket.key_at,
                    "`socket` requires `url`; a system has its own `socket`",
                    "move it into the system",
                );
            }
            for key in ["pid", "container", "select"] {
                if let Some(entry) = root.entry(key) {
                    let what = format!("`{key}` requires `url`; a system has its own `{key}`");
                    reading.at(entry.key_at, what, "move it into the system");
                }
            }
            if let Some(database) = root.entry("database") {
                reading.at(
                    database.key_at,
                    "`database` requires `url`; a system has its own `database`",
                    "move it into the systems",
                );
            }
            tls::report_misplaced(root, reading);
            let (mut systems, mut all) = (Vec::new(), Vec::new());
            let of_steps = (reading.kinds.clone(), reading.at_url.clone());
            for entry in several.value.entries() {
                if root.get("workload").is_some() {
                    // The protocol of a system determines which steps it supports.
                    let url = first_url(&entry.value).unwrap_or_default();
                    (reading.kinds, reading.at_url) = (url::step_kinds(url), url::step_kinds(url));
                }
                reading.own_name(&entry.key, entry.key_at, "system");
                let varied = VariedSystem { root, entry: Some(entry), number: systems.len() };
                let (knobs, mut variants) = variants::read(&varied, quick, reading);
                let host = host(&entry.value, root, &knobs, reading);
                let around = LimitContext { variants: &variants, pin: root.get("pin") };
                let limits = resources::read(&entry.value, around, reading);
                let confines = Confinement { root, limits, host, around };
                systems.push(system(entry, knobs, confines, is_sound, reading));
                all.append(&mut variants);
            }
            (reading.kinds, reading.at_url) = of_steps;
            variants::check_count(all.len(), several.key_at, reading);
            (systems, all)
        }
        (None, None) => match root.entry("endpoints") {
            Some(named) => running_with_variants(root, named, quick, reading),
            None => (Vec::new(), Vec::new()),
        },
    }
}

/// Variants of all systems.
pub(crate) fn variants(root: &Node, quick: Option<&Quick<'_>>, reading: &mut Reading<'_>) -> Vec<Variant> {
    let Some(systems) = root.get("systems") else {
        return variants::read(&VariedSystem { root, entry: None, number: 0 }, quick, reading).1;
    };
    let mut all = Vec::new();
    for (number, entry) in systems.entries().iter().enumerate() {
        all.extend(variants::read(&VariedSystem { root, entry: Some(entry), number }, quick, reading).1);
    }
    all
}

/// A system that already runs, once for each combination of the plan's parameters.
fn running_with_variants(
    root: &Node,
    entry: &Entry,
    quick: Option<&Quick<'_>>,
    reading: &mut Reading<'_>,
) -> (Vec<System>, Vec<Variant>) {
    let (knobs, variants) = variants::read(&VariedSystem { root, entry: None, number: 0 }, quick, reading);
    (vec![System { knobs, ..running(root, entry, reading) }], variants)
}

/// System that is already running, named by the address of `url`, or of the first of `endpoints`.
fn running(root: &Node, entry: &Entry, reading: &mut Reading<'_>) -> System {
    let known = ["plan".to_owned()];
    let anything = |_: &str| Some("x".to_owned());
    let endpoints = endpoints::read_addresses(root, root, entry.key_at, &known, anything, reading);
    let url = match addresses::first_url(&entry.value) {
        Some((node, text)) if entry.key == "url" => {
            let url = reading.braced_url(node, text, &known);
            url::check(
                node,
                &url.fill_url(secret::is_secret_name, anything),
                root.get("socket").is_some(),
                reading,
            );
            url
        }
        _ => endpoints.first().map(|first| first.url.clone()).unwrap_or_default(),
    };
    let text = url.fill(|_| None);
    let check = |node: &Node, _: &Braced, filled: &str, reading: &mut Reading<'_>| {
        url::check(node, filled, false, reading);
    };
    let list = addresses::read(root, &known, &anything, check, reading);
    let socket = root.get("socket").and_then(|node| Some(reading.braced(node, node.text()?, &known)));
    let tls = tls::read(root, &text, &known, reading);
    let database = read_database(root, entry.key_at, &known, anything, reading);
    System {
        socket,
        running: read_running(root, &known, reading),
        tls,
        list,
        database,
        endpoints,
        tables: prepare::read(root, reading),
        records: ycsb::read_loading(root, root, reading),
        own_data: own_data::read(root, &known, reading),
        ..System::running(url::authority(&text), url)
    }
}

fn system(
    entry: &Entry,
    knobs: Vec<Knob>,
    confines: Confinement<'_>,
    is_sound: bool,
    reading: &mut Reading<'_>,
) -> System {
    let node = &entry.value;
    let findings_before = reading.findings.count();
    let Confinement { root, limits, host, around } = confines;
    let built_in = BUILT_IN.iter().chain([&HOST]);
    let known = built_in.map(|name| (*name).to_owned()).chain(knobs.iter().map(|knob| knob.name.clone()));
    let scope = Scope { name: &entry.key, at: entry.key_at, node, known: known.collect() };
    let fill = |name: &str| Some(placeholder(&knobs, name));
    let endpoints = endpoints::read_addresses(node, root, scope.at, &scope.known, fill, reading);
    let url = url(&scope, &knobs, &endpoints, reading);
    let is_started = node.get("start").is_some() || node.get("processes").is_some();
    let check = |node: &Node, url: &Braced, filled: &str, reading: &mut Reading<'_>| {
        url::check(node, filled, false, reading);
        reject_unless_started(node, url, is_started, reading);
    };
    let list = addresses::read(node, &scope.known, &fill, check, reading);
    let database = read_database(node, scope.at, &scope.known, fill, reading);
    let socket =
        node.get("socket").and_then(|socket| Some(reading.braced(socket, socket.text()?, &scope.known)));
    let tls = tls::read(node, first_url(node).unwrap_or("http://"), &scope.known, reading);
    let at = (&url, database.as_ref(), endpoints.as_slice());
    let [before, after] = ["before", "after"].map(|key| commands(key, &scope, at, reading));
    let mut system = System {
        name: entry.key.clone(),
        has_knobs_in_env: false,
        url,
        list,
        database,
        endpoints,
        socket,
        running: read_running(node, &scope.known, reading),
        tls,
        files: files(&scope, reading),
        before,
        after,
        version: node.get("version").map(|version| reading.command(version, &scope.known)),
        env: env(node, &scope.known, reading),
        dir: dir(node, &scope.known, reading),
        commands_within_ns: node.duration_ns("commands-within").unwrap_or(COMMANDS_WITHIN_NS),
        processes: processes_and_proxies(&scope, reading),
        tables: prepare::read(node, reading),
        records: ycsb::read_loading(node, root, reading),
        own_data: own_data::read(node, &scope.known, reading),
        limits,
        disk_bytes: node.get("disk").and_then(|disk| units::size_bytes(disk.text()?).ok()),
        raisable: raisable(node, &knobs, reading),
        host,
        knobs,
        events: Vec::new(),
    };
    system.events = events::read_actions(&scope, &system, around, reading);
    report_never_started(&system, &scope, reading);
    let uses = |knob: &Knob| {
        let is_text = system.texts().flat_map(Braced::names).any(|name| name == knob.name);
        is_text || reading.parameters.is_used(&knob.name)
    };
    let own: Vec<&Knob> = parameters::own(root, &system.knobs).collect();
    system.has_knobs_in_env = system.is_started() && !own.is_empty() && !own.into_iter().any(uses);
    // A misspelling may be the reason why a definition seems unused.
    if is_sound && reading.findings.count() == findings_before {
        report_unused(&system, root, &scope, reading);
    }
    system
}

/// Processes of a system that already runs, if the plan names them.
fn read_running(node: &Node, known: &[String], reading: &mut Reading<'_>) -> Option<RunningText> {
    let (pid, container) = (node.entry("pid"), node.entry("container"));
    if let (Some(_), Some(second)) = (pid, container) {
        let what = "`pid` and `container` exclude each other";
        reading.at(second.key_at, what, "remove one of them");
    }
    let entry = pid.or(container)?;
    if let Some(start) = ["start", "processes"].into_iter().find(|key| node.get(key).is_some()) {
        let what = format!("`{}` names a system that runs already, and this one has `{start}`", entry.key);
        reading.at(entry.key_at, what, format!("remove `{}` or `{start}`", entry.key));
    }
    let text = entry.value.text()?;
    let findings_before = reading.findings.count();
    let braced = reading.braced(&entry.value, text, known);
    let is_pid = entry.key == "pid";
    // A text with variables is checked when their values are known.
    if reading.findings.count() == findings_before && braced.names().next().is_none() {
        let spec = if is_pid { RunningSpec::Pid } else { RunningSpec::Container };
        if let Err((what, help)) = spec(text.to_owned()).read(&reading.folder.path) {
            reading.at(entry.value.at, what, help);
        }
    }
    Some(if is_pid { RunningText::Pid(braced) } else { RunningText::Container(braced) })
}

/// Context of a system, and its confinement.
struct Confinement<'a> {
    /// The whole plan.
    root: &'a Node,
    limits: LimitsText,
    host: Option<String>,
    around: LimitContext<'a>,
}

/// Parameters that an experiment may raise.
fn raisable(node: &Node, knobs: &[Knob], reading: &mut Reading<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for item in node.get("limits").map_or(&[][..], Node::items) {
        let Some(name) = item.text() else { continue };
        let Some(knob) = knobs.iter().find(|knob| knob.name == name) else {
            let known = knobs.iter().map(|knob| knob.name.as_str());
            let what = format!("unknown parameter `{name}`");
            reading.findings.unknown(item.at, what, name, known, "define it under `vary`, or write one of");
            continue;
        };
        if let ([value], false) = (&knob.values[..], is_number(knob)) {
            let what = format!("`{name}` has one value, {value:?}, and only a whole number can be raised");
            let help = format!("list the value to try after it, as in `vary: {{ {name}: [ {value}, … ] }}`");
            reading.at(item.at, what, help);
        } else if names.iter().any(|known| known == name) {
            reading.at(item.at, format!("`{name}` is listed twice"), "remove one of the two");
        }
        names.push(name.to_owned());
    }
    names
}

/// Name of the host that the system runs on. `None` if it sets none.
fn host(node: &Node, root: &Node, knobs: &[Knob], reading: &mut Reading<'_>) -> Option<String> {
    let value = node.get("host")?;
    let name = value.text()?;
    let hosts = root.get("hosts").map_or(&[][..], Node::entries);
    let Some(host) = hosts.iter().find(|host| host.key == name) else {
        let what = format!("unknown host `{name}`");
        let known = hosts.iter().map(|host| host.key.as_str());
        reading.findings.unknown(value.at, what, name, known, "define it under `hosts`, or write one of");
        return None;
    };
    if host.value.text_of("namespace") == Some("false") {
        reading.at(
            host.value.at,
            "`namespace: false` is no host",
            "write `namespace: true`, or remove the host",
        );
    }
    if knobs.iter().any(|knob| knob.name == HOST) {
        let what = "a system with `host` has no parameter of that name: {host} is the address of its host";
        reading.at(value.at, what, "choose another name for the parameter");
    }
    Some(name.to_owned())
}

/// Processes in start order. Proxies come first, because they depend on no other process.
fn processes_and_proxies(scope: &Scope<'_>, reading: &mut Reading<'_>) -> Vec<Process> {
    let own = processes::read(scope, reading);
    if own.is_empty() {
        // A system that already runs has no processes.
        return own;
    }
    let mut all = proxies::read(scope, reading);
    for process in own.iter().filter(|process| all.iter().any(|proxy| proxy.name == process.name)) {
        let what = format!("the process name {:?} is that of a proxy", process.name);
        reading.at(scope.at, what, "choose another name");
    }
    all.extend(own);
    all
}

/// Reports processes with `start-by: event` that no event starts.
/// Reads the commands and statements of `before` or `after`.
fn commands(
    key: &str,
    scope: &Scope<'_>,
    at: (&Braced, Option<&Braced>, &[EndpointText]),
    reading: &mut Reading<'_>,
) -> Vec<Vec<Braced>> {
    let items = scope.node.get(key).map_or(&[][..], Node::items);
    let commands = items.iter().map(|item| match item.get("sql") {
        Some(_) => statements(item, key, scope, at, reading),
        None => vec![reading.command(item, &scope.known)],
    });
    commands.flatten().collect()
}

/// Commands that run the statements of an item of `before` or `after`, one for each text.
fn statements(
    item: &Node,
    key: &str,
    scope: &Scope<'_>,
    (url, database, endpoints): (&Braced, Option<&Braced>, &[EndpointText]),
    reading: &mut Reading<'_>,
) -> Vec<Vec<Braced>> {
    let named = item.entry("endpoint").and_then(|entry| Some((entry, entry.value.text()?)));
    let url = match named {
        None => database.unwrap_or(url),
        Some((entry, name)) => match endpoints.iter().find(|endpoint| endpoint.name == name) {
            Some(endpoint) => &endpoint.url,
            None => {
                let known = endpoints.iter().map(|endpoint| endpoint.name.as_str());
                let what = format!("unknown endpoint `{name}`");
                reading.findings.unknown(
                    entry.value.at,
                    what,
                    name,
                    known,
                    "define it under `endpoints`, or write one of",
                );
                return Vec::new();
            }
        },
    };
    if !SystemKind::by_url(&url.fill(|_| Some("x".to_owned()))).does_answer("sql") {
        let what = format!("`sql` of `{key}` needs a database, and this is the URL of another system");
        reading.at(item.at, what, "add `endpoint` with the name of a database, or `database` to the system");
        return Vec::new();
    }
    if url.names().any(secret::is_secret_name) {
        let what = format!("`sql` of `{key}` is a command of its own, and would show the secret in the URL");
        reading.at(item.at, what, "put the password into PGPASSWORD, ~/.pgpass, or MYSQL_PWD");
        return Vec::new();
    }
    let texts = item.get("sql").map_or(&[][..], Node::items);
    let texts = texts.iter().filter_map(|text| own_data::text(text, &scope.known, reading));
    let command = |text: SqlFileText| {
        let text = match text.file {
            Some(file) => Braced::read(&format!("@{{plan}}/{file}")),
            None => text.text,
        };
        vec![Braced::read("{tenbin}"), Braced::read("sql"), url.clone(), text]
    };
    texts.map(command).collect()
}

fn report_never_started(system: &System, scope: &Scope<'_>, reading: &mut Reading<'_>) {
    for process in system.processes.iter().filter(|process| process.is_started_by_event) {
        let starts = |action: &ActionText| matches!(action, ActionText::Start(name) if *name == process.name);
        if !system.events.iter().any(|event| starts(&event.action)) {
            let entry = scope.node.get("processes").and_then(|all| all.get(&process.name)?.entry("start-by"));
            let what = format!("no event starts `{}`", process.name);
            let help = format!("add an event with `start: {}`, or remove `start-by`", process.name);
            reading.at(entry.map_or(scope.at, |entry| entry.key_at), what, help);
        }
    }
}

fn url(scope: &Scope<'_>, knobs: &[Knob], endpoints: &[EndpointText], reading: &mut Reading<'_>) -> Braced {
    let is_started = scope.node.get("start").is_some() || scope.node.get("processes").is_some();
    let Some(node) = scope.node.get("url") else {
        if let Some(first) = endpoints.first().filter(|_| reading.at_url.is_empty()) {
            return first.url.clone();
        }
        let has_error_at = scope.node.entries().iter().any(|entry| reading.findings.has_at(entry.key_at));
        if !is_started && !has_error_at {
            let what = format!("the system `{}` has neither `start` nor `url`", scope.name);
            reading.at(scope.at, what, "add `start` or `processes`, or the `url` of a running system");
        }
        let is_elsewhere = scope.node.get("host").is_some();
        return match (reading.at_url.owner(), is_elsewhere) {
            (Some(owner), _) => Braced::read(&format!("{}://{{host}}:{{port}}", owner.schemes[0].name)),
            (None, true) => Braced::read("http://{host}:{port}"),
            (None, false) => Braced::read("http://127.0.0.1:{port}"),
        };
    };
    let Some((node, text)) = addresses::first_url(node) else { return Braced::default() };
    let findings_before = reading.findings.count();
    let url = reading.braced_url(node, text, &scope.known);
    let filled = url.fill_url(secret::is_secret_name, |name| Some(placeholder(knobs, name)));
    if reading.findings.count() == findings_before {
        url::check(node, &filled, scope.node.get("socket").is_some(), reading);
    }
    reject_unless_started(node, &url, is_started, reading);
    url
}

/// URL of a system, or the first of a list.
fn first_url(system: &Node) -> Option<&str> {
    addresses::first_url(system.get("url")?).map(|(_, text)| text)
}

fn reject_unless_started(node: &Node, url: &Braced, is_started: bool, reading: &mut Reading<'_>) {
    if !is_started && url.names().any(|name| name == "port" || name.starts_with("port.")) {
        let what = "a free port requires a system with `start`";
        reading.at(node.at, what, "write the port of the running system, or add `start`");
    }
}

/// Placeholder value of a variable in a URL.
fn placeholder(knobs: &[Knob], name: &str) -> String {
    let value = knobs.iter().find(|knob| knob.name == name).and_then(|knob| knob.values.first());
    value.cloned().unwrap_or_else(|| if name.starts_with("port") { "1" } else { "x" }.to_owned())
}

/// Database URL of a system in which `url` accepts HTTP requests. If it is required and missing, the error is reported at `at`.
fn read_database(
    node: &Node,
    at: Span,
    known: &[String],
    fill: impl Fn(&str) -> Option<String>,
    reading: &mut Reading<'_>,
) -> Option<Braced> {
    let Some(entry) = node.entry("database") else {
        database::report_missing(at, reading);
        return None;
    };
    let text = entry.value.text()?;
    let findings_before = reading.findings.count();
    let database = reading.braced(&entry.value, text, known);
    if reading.findings.count() == findings_before {
        database::check_key(entry, &database.fill(fill), reading);
    }
    let is_started = node.get("start").is_some() || node.get("processes").is_some();
    reject_unless_started(&entry.value, &database, is_started, reading);
    Some(database)
}

pub(crate) fn env(node: &Node, known: &[String], reading: &mut Reading<'_>) -> Vec<(String, Braced)> {
    let mut env = Vec::new();
    for entry in node.get("env").map_or(&[][..], Node::entries) {
        if entry.key.is_empty() || entry.key.contains(['=', '\0']) {
            reading.at(
                entry.key_at,
                "invalid name of an environment variable",
                "write a name such as RACK_ENV",
            );
        }
        let text = entry.value.text().unwrap_or_default();
        env.push((entry.key.clone(), reading.braced_with_secrets(&entry.value, text, known)));
    }
    env
}

pub(crate) fn dir(node: &Node, known: &[String], reading: &mut Reading<'_>) -> Option<Braced> {
    let inside = node.get("in")?;
    let text = inside.text()?;
    let braced = reading.braced(inside, text, known);
    // The folder does not exist yet if its name depends on the run.
    if braced.names().next().is_none() && !reading.folder.path.join(text).is_dir() {
        reading.at(
            inside.at,
            format!("no such folder: {text}"),
            "write a path relative to the plan's folder",
        );
    }
    Some(braced)
}

fn files(scope: &Scope<'_>, reading: &mut Reading<'_>) -> Vec<(PathBuf, Braced)> {
    let mut files = Vec::new();
    for entry in scope.node.get("files").map_or(&[][..], Node::entries) {
        let path = Path::new(&entry.key);
        if path.is_absolute() || leads_outside(path) || path.file_name().is_none() || entry.key.ends_with('/')
        {
            let what = "invalid path for a file in {dir}";
            reading.at(entry.key_at, what, "write a relative path such as conf/app.conf, without ..");
        }
        let content = match (entry.value.text(), entry.value.get("template")) {
            (Some(text), _) => reading.braced_with_secrets(&entry.value, text, &scope.known),
            (None, Some(template)) => read_template(template, &scope.known, reading),
            (None, None) => continue,
        };
        files.push((path.to_path_buf(), content));
    }
    files
}

fn read_template(node: &Node, known: &[String], reading: &mut Reading<'_>) -> Braced {
    let name = node.text().unwrap_or_default();
    let bytes = match reading.folder.read(name, TEMPLATE_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err((what, help)) => {
            reading.at(node.at, what, help);
            return Braced::default();
        }
    };
    let Ok(text) = String::from_utf8(bytes) else {
        reading.at(node.at, format!("{name} is not UTF-8"), "save it as UTF-8");
        return Braced::default();
    };
    for (unknown, start, _) in names_in(&text).filter(|(name, ..)| !is_known(name, known)) {
        if reading.findings.is_full() {
            break;
        }
        let place = format!("{name}, line {}: ", line_at(&text, start).number);
        if secret::is_secret_name(unknown) {
            reading.secret(node.at, unknown, &place);
            continue;
        }
        reading.report_unknown_name(node.at, unknown, &place, known);
    }
    Braced::read(&text)
}

/// Reports unused parameters, and ports that no process listens on.
fn report_unused(system: &System, root: &Node, scope: &Scope<'_>, reading: &mut Reading<'_>) {
    let used = |name: &str| system.texts().flat_map(Braced::names).any(|used| used == name);
    let own = parameters::own(root, &system.knobs).filter(|_| !system.has_knobs_in_env);
    for knob in own.filter(|knob| !used(&knob.name)) {
        if reading.parameters.is_used(&knob.name) {
            continue;
        }
        let entry = scope.node.get("vary").and_then(|vary| vary.entry(&knob.name));
        let what = format!("unused parameter `{}`: all its variants are the same", knob.name);
        let help = format!(
            "use {{{}}} in `start`, in another text of the system, in the scenario, or in the load",
            knob.name
        );
        reading.at(entry.map_or(scope.at, |entry| entry.key_at), what, help);
    }
    report_unused_ports(system, scope, reading);
    let is_port = |name: &&str| *name == "port" || name.starts_with("port.");
    for name in system.urls().flat_map(Braced::names).filter(is_port) {
        let told = || system.texts().skip(system.urls().count()).flat_map(Braced::names);
        if system.is_started() && system.socket.is_none() && !told().any(|told| told == name) {
            let what = format!(
                "no text of `{}` contains {{{name}}}, the port to which the load is sent",
                system.name
            );
            let help = format!("use {{{name}}} in `start`, or write the port of the system in `url`");
            reading.at(scope.at, what, help);
        }
    }
}

/// Reports ports of readiness conditions that no text has.
fn report_unused_ports(system: &System, scope: &Scope<'_>, reading: &mut Reading<'_>) {
    for process in &system.processes {
        let PortText::Named(name) = &process.ready.port else { continue };
        if system.texts().flat_map(Braced::names).any(|used| used == name) {
            continue;
        }
        let inner = scope.node.get("processes").and_then(|processes| processes.get(&process.name));
        let port = inner.unwrap_or(scope.node).get("ready").and_then(|ready| ready.get("port"));
        let names = system.texts().flat_map(Braced::names).filter(|name| name.starts_with("port"));
        let known: BTreeSet<&str> = names.map(|name| name.trim_start_matches("port.")).collect();
        let what = format!("no text of `{}` contains the port {{{name}}}", process.name);
        let listed_as = format!("use {{{name}}} in its `start`, or write here one of");
        let (at, name) = (port.map_or(scope.at, |port| port.at), name.trim_start_matches("port."));
        reading.findings.unknown(at, what, name, known, &listed_as);
    }
}
