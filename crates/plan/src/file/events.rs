//! Reads the sections `events`: times from the plan, and actions from its systems.

use super::near;
use super::quick::Quick;
use super::reading::Reading;
use super::resources::{self, LimitContext};
use super::systems::Scope;
use super::tree::{Entry, Node, WithUnits as _};
use crate::endpoint::Select;
use crate::study::{
    ActionText, Braced, EventMoment, EventSignal, LinkText, PortText, ReloadText, SignText, StudyEvent,
    StudyLoad, System, SystemEvent, UrlList,
};
use crate::units;

/// Default timeout of an event in nanoseconds.
const WITHIN_NS: u64 = 30_000_000_000;
const EVENTS_MAX: usize = 50;
/// Max number of event occurrences in a run, as many as the store keeps.
const OCCURRENCES_MAX: u64 = 1_000;

/// Actions of events: the key, and the reader of its value. An event has exactly one.
const ACTIONS: &[(&str, ReadAction)] = &[
    ("run", run),
    ("signal", |entry, system, reading| signal(entry, system, reading).map(ActionText::Signal)),
    ("start", |entry, system, reading| start(entry, system, reading).map(ActionText::Start)),
    ("stop", |entry, system, reading| system.process(&entry.value, reading).map(ActionText::Stop)),
    ("kill", |entry, system, reading| system.process(&entry.value, reading).map(ActionText::Kill)),
    ("restart", |entry, system, reading| system.process(&entry.value, reading).map(ActionText::Restart)),
    ("pause", pause),
    ("limit", limit),
    ("cut", |entry, system, reading| link(&entry.value, LinkText::Cut, system, reading)),
    ("slow", slow),
    ("reset", |entry, system, reading| link(&entry.value, LinkText::Reset, system, reading)),
    ("fill", fill),
    ("set", set),
    ("shards", shards),
];

/// Actions on systems that Tenbin did not start.
const ON_RUNNING_SYSTEMS: [&str; 2] = ["run", "shards"];

/// Reads the value of an action's key. `None` if it has errors, which are added to the findings.
type ReadAction = fn(&Entry, &ActionContext<'_>, &mut Reading<'_>) -> Option<ActionText>;

/// Keys that apply only to certain actions.
const COMPANIONS: &[(&str, &[&str])] = &[
    ("lock", &["run"]),
    ("process", &["signal"]),
    ("for", &["pause", "limit", "cut", "slow", "fill"]),
    ("leave", &["fill"]),
    ("reload", &["set"]),
];

/// Event of a system, in the process of being read.
struct ActionContext<'a> {
    scope: &'a Scope<'a>,
    system: &'a System,
    /// Mapping of the event.
    node: &'a Node,
    around: LimitContext<'a>,
}

/// Reads the actions of a system.
pub(crate) fn read_actions(
    scope: &Scope<'_>,
    system: &System,
    around: LimitContext<'_>,
    reading: &mut Reading<'_>,
) -> Vec<SystemEvent> {
    let entries = scope.node.get("events").map_or(&[][..], Node::entries);
    entries.iter().filter_map(|entry| action(entry, scope, system, around, reading)).collect()
}

fn action(
    entry: &Entry,
    scope: &Scope<'_>,
    system: &System,
    around: LimitContext<'_>,
    reading: &mut Reading<'_>,
) -> Option<SystemEvent> {
    let node = &entry.value;
    let here = ActionContext { scope, system, node, around };
    let mut given = ACTIONS.iter().filter_map(|(key, read)| Some((node.entry(key)?, read)));
    let (Some((first, read)), second) = (given.next(), given.next()) else {
        let has_error_at = node.entries().iter().any(|entry| reading.findings.has_at(entry.key_at));
        if !has_error_at {
            let keys: Vec<String> = ACTIONS.iter().map(|(key, _)| format!("`{key}`")).collect();
            let what = format!("the event `{}` does nothing", entry.key);
            reading.at(entry.key_at, what, format!("add one of {}", keys.join(", ")));
        }
        return None;
    };
    if let Some((second, _)) = second {
        let what = format!("an event has one action, and this one has `{}`", first.key);
        reading.at(second.key_at, what, "remove one of them, or make two events, one `after` the other");
    }
    for (key, actions) in COMPANIONS {
        if let Some(companion) = node.entry(key).filter(|_| !actions.contains(&first.key.as_str())) {
            let what = format!("`{key}` requires `{}`", actions.join("` or `"));
            reading.at(companion.key_at, what, "remove it");
        }
    }
    if !system.is_started() && !ON_RUNNING_SYSTEMS.contains(&first.key.as_str()) {
        let what = format!("`{}` requires a system that Tenbin starts", first.key);
        reading.at(first.key_at, what, "use `run` or `shards`, or add `start` to the system");
        return None;
    }
    let action = read(first, &here, reading)?;
    let until = node.get("until");
    let sign = until.and_then(|until| sign(until, &here, reading));
    Some(SystemEvent {
        name: entry.key.clone(),
        action,
        until: sign,
        within_ns: node.duration_ns("within").unwrap_or(WITHIN_NS),
        may_fail: node.text_of("may-fail") == Some("true"),
    })
}

impl ActionContext<'_> {
    /// Name of a process, checked against those that exist.
    fn process(&self, node: &Node, reading: &mut Reading<'_>) -> Option<String> {
        let name = node.text()?;
        let known = || self.system.processes.iter().map(|process| process.name.as_str());
        if !known().any(|known| known == name) {
            let what = format!("unknown process `{name}`");
            reading.findings.unknown(node.at, what, name, known(), "write one of");
            return None;
        }
        Some(name.to_owned())
    }

    /// Process named under `process`, or else the first that starts with the system.
    fn named_or_first_process(&self, node: &Node, reading: &mut Reading<'_>) -> Option<String> {
        match node.get("process") {
            Some(named) => self.process(named, reading),
            None => self.system.first_process().map(str::to_owned),
        }
    }
}

fn run(entry: &Entry, here: &ActionContext<'_>, reading: &mut Reading<'_>) -> Option<ActionText> {
    let command = reading.command(&entry.value, &here.scope.known);
    let lock = here.node.get("lock").and_then(|lock| {
        if !reading.kinds.unit().has_sessions() {
            let what = "`lock` requires a database, and no step is a transaction";
            reading.at(lock.at, what, "add a step with `sql`, or run a command that holds the lock");
        }
        let mut statement = |key: &str| {
            let node = lock.get(key)?;
            Some(reading.braced(node, node.text()?, &here.scope.known))
        };
        Some([statement("before")?, statement("after")?])
    });
    Some(ActionText::Run { command, lock })
}

fn signal(entry: &Entry, here: &ActionContext<'_>, reading: &mut Reading<'_>) -> Option<EventSignal> {
    let process = here.named_or_first_process(here.node, reading)?;
    Some(EventSignal { process, signal: entry.value.text()?.to_owned() })
}

/// Reads `start`. Only a process that does not run can be started.
fn start(entry: &Entry, here: &ActionContext<'_>, reading: &mut Reading<'_>) -> Option<String> {
    let name = here.process(&entry.value, reading)?;
    let by_event = here.system.processes.iter().any(|one| one.name == name && one.is_started_by_event);
    let others = here.scope.node.get("events").map_or(&[][..], Node::entries).iter();
    let is_ended =
        others.filter_map(|other| ["stop", "kill"].into_iter().find_map(|key| other.value.text_of(key)));
    if !by_event && !is_ended.into_iter().any(|ended| ended == name) {
        let what = format!("`{name}` runs from the start, and no event stops it");
        let help = "use `restart`, add an event that stops it, or add `start-by: event` to the process";
        reading.at(entry.value.at, what, help);
    }
    Some(name)
}

fn pause(entry: &Entry, here: &ActionContext<'_>, reading: &mut Reading<'_>) -> Option<ActionText> {
    let process = here.process(&entry.value, reading)?;
    let Some(lasting) = here.node.entry("for") else {
        reading.at(entry.key_at, "`pause` requires `for`", "add `for: 800ms`");
        return None;
    };
    Some(ActionText::Pause { process, for_ns: units::duration_ns(lasting.value.text()?).ok()? })
}

fn limit(entry: &Entry, here: &ActionContext<'_>, reading: &mut Reading<'_>) -> Option<ActionText> {
    let limits = resources::read_values(&entry.value, here.around, reading);
    if limits.0.is_empty() {
        reading.at(entry.key_at, "`limit` limits nothing", "add `cpu`, `cores`, `memory`, or `io`");
        return None;
    }
    Some(ActionText::Limit { limits, for_ns: here.node.duration_ns("for") })
}

/// Change to the link of the proxy that a value names.
fn link(
    node: &Node,
    order: LinkText,
    here: &ActionContext<'_>,
    reading: &mut Reading<'_>,
) -> Option<ActionText> {
    let name = node.text()?;
    let known =
        || here.system.processes.iter().filter_map(|process| Some(process.proxy.as_ref()?.name.as_str()));
    if !known().any(|known| known == name) {
        let what = format!("unknown proxy `{name}`");
        reading.findings.unknown(node.at, what, name, known(), "define it under `proxies`, or write one of");
        return None;
    }
    Some(ActionText::Link { name: name.to_owned(), order, for_ns: here.node.duration_ns("for") })
}

fn slow(entry: &Entry, here: &ActionContext<'_>, reading: &mut Reading<'_>) -> Option<ActionText> {
    let node = &entry.value;
    let mut values = Vec::new();
    for key in ["delay", "round-trip", "jitter", "bandwidth"] {
        let Some((value, text)) = node.get(key).and_then(|value| Some((value, value.text()?))) else {
            continue;
        };
        values.push((key, reading.braced(value, text, &here.scope.known)));
    }
    if values.is_empty() {
        reading.at(
            entry.key_at,
            "`slow` changes nothing",
            "add `delay`, `round-trip`, `jitter`, or `bandwidth`",
        );
        return None;
    }
    if let (Some(_), Some(second)) = (node.get("delay"), node.entry("round-trip")) {
        let what = "`delay` and `round-trip` exclude each other";
        reading.at(second.key_at, what, "remove one of them; a round trip takes twice the delay");
    }
    link(node.get("link")?, LinkText::Slow(values), here, reading)
}

/// Reads `fill`, which fills only a disk of the system's own.
fn fill(entry: &Entry, here: &ActionContext<'_>, reading: &mut Reading<'_>) -> Option<ActionText> {
    let Some(disk_bytes) = here.system.disk_bytes else {
        let what = format!("`fill` fills a disk of the system's own, and `{}` has none", here.system.name);
        reading.at(entry.key_at, what, "add `disk: 64MiB` to the system, and let it write below {dir}/disk");
        return None;
    };
    let leave = here.node.get("leave");
    let leave_bytes = leave.and_then(|leave| units::size_bytes(leave.text()?).ok()).unwrap_or(0);
    if let Some(leave) = leave.filter(|_| leave_bytes >= disk_bytes) {
        let what = format!("`leave` is no less than the disk, which has {}", units::show_size(disk_bytes));
        reading.at(leave.at, what, "write a smaller size");
    }
    Some(ActionText::Fill { leave_bytes, for_ns: here.node.duration_ns("for") })
}

fn set(entry: &Entry, here: &ActionContext<'_>, reading: &mut Reading<'_>) -> Option<ActionText> {
    let mut knobs = Vec::new();
    for knob in entry.value.entries() {
        let known = || here.system.knobs.iter().map(|knob| knob.name.as_str());
        let files = || here.system.files.iter().flat_map(|(_, text)| text.names());
        if !known().any(|known| known == knob.key) {
            let what = format!("unknown parameter `{}`", knob.key);
            reading.findings.unknown(
                knob.key_at,
                what,
                &knob.key,
                known(),
                "add it to `vary`, or write one of",
            );
        } else if !files().any(|used| used == knob.key) {
            let what = format!("no text of `files` contains {{{}}}", knob.key);
            reading.at(knob.key_at, what, "use it there: `set` writes these files again");
        }
        knobs.push((knob.key.clone(), knob.value.text().unwrap_or_default().to_owned()));
    }
    let Some(reload) = here.node.get("reload") else {
        reading.at(entry.key_at, "`set` requires `reload`", "add `reload: { signal: HUP }`");
        return None;
    };
    let reload = match (reload.entry("signal"), reload.entry("run")) {
        (Some(first), Some(second)) => {
            let second = if first.key_at < second.key_at { second } else { first };
            reading.at(second.key_at, "`signal` and `run` exclude each other", "remove one of them");
            return None;
        }
        (Some(signal), None) => {
            let process = here.named_or_first_process(reload, reading)?;
            ReloadText::Signal(EventSignal { process, signal: signal.value.text()?.to_owned() })
        }
        (None, Some(command)) => ReloadText::Run(reading.command(&command.value, &here.scope.known)),
        (None, None) => {
            reading.at(reload.at, "`reload` does nothing", "add `signal: HUP`, or `run` with a command");
            return None;
        }
    };
    Some(ActionText::Set { knobs, reload })
}

/// Reads `shards`, which needs exactly one list of URLs that a hash selects from.
fn shards(entry: &Entry, here: &ActionContext<'_>, reading: &mut Reading<'_>) -> Option<ActionText> {
    let endpoints = here.system.endpoints.iter().map(|endpoint| &endpoint.list);
    let lists: Vec<&UrlList> = std::iter::once(&here.system.list)
        .chain(endpoints)
        .filter(|list| matches!(list.select, Some(Select::Hash(..))))
        .collect();
    let [list] = lists.as_slice() else {
        let what = format!("`shards` requires one list of URLs with `hash`, and there are {}", lists.len());
        reading.at(entry.key_at, what, "add `select: { hash: \"{user}\" }` to a list of URLs");
        return None;
    };
    let (count, urls) = (units::count(entry.value.text()?).ok()?, list.further.len() as u64 + 1);
    if !(1..=urls).contains(&count) {
        let what = format!("{count} is not between 1 and {urls}, the number of URLs");
        reading.at(entry.value.at, what, "write the number of URLs that get requests from then on");
        return None;
    }
    Some(ActionText::Shards(count as u32))
}

fn sign(node: &Node, here: &ActionContext<'_>, reading: &mut Reading<'_>) -> Option<SignText> {
    let (log, get, port) = (node.entry("log"), node.entry("get"), node.entry("port"));
    if let (Some(log), Some(other)) = (log, get.or(port)) {
        let second = if log.key_at < other.key_at { other } else { log };
        reading.at(second.key_at, "`until` has one condition", "remove one of them");
        return None;
    }
    if let Some(process) = node.entry("process").filter(|_| log.is_none()) {
        reading.at(process.key_at, "`process` requires `log`", "remove it");
    }
    let port = port.and_then(|port| find_port(port, here, reading));
    match (log, get) {
        (Some(log), _) => {
            if !here.system.is_started() {
                let what = "`log` requires a system that Tenbin starts";
                reading.at(log.key_at, what, "use `get` or `port`, or add `start` to the system");
                return None;
            }
            let process = here.named_or_first_process(node, reading)?;
            let text = reading.braced(&log.value, log.value.text()?, &here.scope.known);
            Some(SignText::Text { process, text })
        }
        (None, Some(get)) => {
            let path = get.value.text()?;
            if !path.starts_with(['/', '{']) {
                let what = format!("the path {path:?} does not start with /");
                reading.at(get.value.at, what, format!("write /{path}"));
            }
            if port.is_none() && here.system.socket.is_some() {
                let what = "`get` requires a port, and this system listens on a socket";
                reading.at(get.key_at, what, "add `port`, or use `log`");
            }
            let path = reading.braced(&get.value, path, &here.scope.known);
            Some(SignText::Get { port, path })
        }
        (None, None) => match port {
            Some(port) => Some(SignText::Tcp { port }),
            None => {
                let has_error_at = node.entry("port").is_some();
                if !has_error_at {
                    reading.at(node.at, "`until` has no condition", "add `log`, `get`, or `port`");
                }
                None
            }
        },
    }
}

/// Port that texts refer to by name. At least one text must use the name.
fn find_port(entry: &Entry, here: &ActionContext<'_>, reading: &mut Reading<'_>) -> Option<String> {
    let name = entry.value.text()?.trim_start_matches('{').trim_end_matches('}');
    let PortText::Named(name) = PortText::named(name) else { return None };
    let known = || here.system.texts().flat_map(Braced::names).filter(|name| name.starts_with("port"));
    if !known().any(|known| known == name) {
        let what = format!("no text of `{}` contains the port {{{name}}}", here.system.name);
        let mut names: Vec<&str> = known().map(|name| name.trim_start_matches("port.")).collect();
        names.sort_unstable();
        names.dedup();
        reading.findings.unknown(entry.value.at, what, &name, names, "write one of");
        return None;
    }
    Some(name)
}

/// Reads the times of events, and checks that every system has an action for each.
pub(crate) fn read(
    root: &Node,
    loads: &[StudyLoad],
    systems: &[System],
    reading: &mut Reading<'_>,
) -> Vec<StudyEvent> {
    let section = root.entry("events");
    let entries = section.map_or(&[][..], |section| section.value.entries());
    if let (Some(section), Some(_)) = (section, root.entry("url")) {
        let what = "`events` requires `systems`, each of which says what to do";
        reading.at(section.key_at, what, "write the URL as a system: `systems: { app: { url: … } }`");
        return Vec::new();
    }
    if let Some(further) = entries.get(EVENTS_MAX) {
        reading.at(further.key_at, format!("there are more than {EVENTS_MAX} events"), "use `every`");
    }
    let entries = &entries[..entries.len().min(EVENTS_MAX)];
    let mut events: Vec<StudyEvent> = Vec::new();
    for entry in entries {
        reading.own_name(&entry.key, entry.key_at, "event");
        if let Some(moment) = moment(entry, entries, systems, reading) {
            events.push(StudyEvent { name: entry.key.clone(), moment });
        }
    }
    check_actions(root, entries, reading);
    report_cycles(&events, entries, reading);
    report_outside_loads(&events, entries, loads, systems, reading);
    if let Some(section) = section.filter(|_| has_too_many_occurrences(&events, loads)) {
        report_too_many(section, reading);
    }
    events
}

fn moment(
    entry: &Entry,
    entries: &[Entry],
    systems: &[System],
    reading: &mut Reading<'_>,
) -> Option<EventMoment> {
    let node = &entry.value;
    let (at, after) = (node.entry("at"), node.entry("after"));
    for key in ["every", "times"] {
        let needed = if key == "every" { "at" } else { "every" };
        if let Some(entry) = node.entry(key).filter(|_| node.entry(needed).is_none()) {
            reading.at(entry.key_at, format!("`{key}` requires `{needed}`"), "remove it, or add that");
        }
    }
    if let Some(delay) = node.entry("delay").filter(|_| after.is_none()) {
        reading.at(delay.key_at, "`delay` requires `after`", "remove it, or add it to `at`");
    }
    let delay_ns = node.duration_ns("delay").unwrap_or(0);
    match (at, after) {
        (Some(at), Some(after)) => {
            let second = if at.key_at < after.key_at { after } else { at };
            reading.at(second.key_at, "`at` and `after` exclude each other", "remove one of them");
            None
        }
        (None, None) => {
            if !node.entries().iter().any(|entry| reading.findings.has_at(entry.key_at)) {
                let what = format!("the event `{}` has no time", entry.key);
                reading.at(entry.key_at, what, "add `at: 20s`, or `after: EVENT`");
            }
            None
        }
        (Some(at), None) => {
            let every = node.entry("every");
            let every_ns = every.and_then(|every| units::duration_ns(every.value.text()?).ok());
            if let (Some(every), Some(0)) = (every, every_ns) {
                reading.at(every.value.at, "events that follow each other at once", "write 1s, or more");
                return None;
            }
            let times = node.get("times").and_then(|times| units::count(times.text()?).ok());
            if let (Some(node), Some(0)) = (node.get("times"), times) {
                reading.at(node.at, "an event that takes place 0 times", "write 1, or more");
            }
            let times = times.map(|times| u32::try_from(times).unwrap_or(u32::MAX).max(1));
            Some(EventMoment::At { at_ns: offset_ns(at.value.text()?).ok()?, every_ns, times })
        }
        (None, Some(after)) => match after.value.text() {
            Some(event) => after_event(event, after, entries, delay_ns, reading),
            None => after_text(after, systems, delay_ns, reading),
        },
    }
}

fn after_event(
    event: &str,
    after: &Entry,
    entries: &[Entry],
    delay_ns: u64,
    reading: &mut Reading<'_>,
) -> Option<EventMoment> {
    let Some(other) = entries.iter().find(|other| other.key == event) else {
        let known = entries.iter().map(|entry| entry.key.as_str());
        let what = format!("unknown event `{event}`");
        reading.findings.unknown(after.value.at, what, event, known, "write one of");
        return None;
    };
    if other.value.entry("every").is_some() {
        let what = format!("`{event}` takes place several times");
        reading.at(after.value.at, what, "use `at`, or an event that takes place once");
    }
    Some(EventMoment::AfterEvent { event: event.to_owned(), delay_ns })
}

fn after_text(
    after: &Entry,
    systems: &[System],
    delay_ns: u64,
    reading: &mut Reading<'_>,
) -> Option<EventMoment> {
    let Some(log) = after.value.get("log") else {
        let has_error_at = after.value.entries().iter().any(|entry| reading.findings.has_at(entry.key_at));
        if !has_error_at {
            reading.at(
                after.value.at,
                "`after` has no condition",
                "add `log`, or write the name of an event",
            );
        }
        return None;
    };
    let process = after.value.get("process");
    for system in systems {
        let known = || system.processes.iter().map(|process| process.name.as_str());
        if !system.is_started() {
            let what =
                format!("`log` requires systems that Tenbin starts, and `{}` runs already", system.name);
            reading.at(log.at, what, "use `at`");
        } else if let Some((process, name)) = process.and_then(|process| Some((process, process.text()?)))
            && !known().any(|known| known == name)
        {
            let what = format!("the system `{}` has no process `{name}`", system.name);
            reading.findings.unknown(process.at, what, name, known(), "write one of");
        }
    }
    let process = process.and_then(Node::text).map(str::to_owned);
    Some(EventMoment::AfterText { text: log.text()?.to_owned(), process, delay_ns })
}

/// Parses `20s`, or `-2s` for a time within the warm-up.
pub(crate) fn offset_ns(text: &str) -> Result<i64, String> {
    let text = text.trim();
    let (sign, size) = text.strip_prefix('-').map_or((1, text), |size| (-1, size));
    let size_ns = units::duration_ns(size)?;
    Ok(i64::try_from(size_ns).unwrap_or(i64::MAX) * sign)
}

/// Checks that each system has an action for every event of the plan, and no others.
fn check_actions(root: &Node, entries: &[Entry], reading: &mut Reading<'_>) {
    for system in root.get("systems").map_or(&[][..], Node::entries) {
        let own = system.value.get("events").map_or(&[][..], Node::entries);
        let without = entries.iter().filter(|entry| !own.iter().any(|own| own.key == entry.key));
        let without: Vec<&str> = without.map(|entry| entry.key.as_str()).collect();
        if let Some(first) = without.first() {
            let at = system.value.entry("events").map_or(system.key_at, |events| events.key_at);
            let what = format!("the system `{}` has no action for {}", system.key, near::listed(&without));
            let help =
                format!("add one to the system, such as `events: {{ {first}: {{ run: ./command }} }}`");
            reading.at(at, what, help);
        }
        for entry in own {
            if !entries.iter().any(|known| known.key == entry.key) {
                let known = entries.iter().map(|entry| entry.key.as_str());
                let what = format!("the plan has no event `{}`", entry.key);
                let help = "add it to `events` of the plan, such as `events: { NAME: { at: 20s } }`; or write one of";
                reading.findings.unknown(entry.key_at, what, &entry.key, known, help);
            }
        }
    }
}

/// Reports events that wait for each other.
fn report_cycles(events: &[StudyEvent], entries: &[Entry], reading: &mut Reading<'_>) {
    let before = |name: &str| match events.iter().find(|event| event.name == name).map(|event| &event.moment)
    {
        Some(EventMoment::AfterEvent { event, .. }) => Some(event.as_str()),
        _ => None,
    };
    for entry in entries {
        let mut chain = vec![entry.key.as_str()];
        while let Some(next) = chain.last().and_then(|last| before(last)) {
            if next == entry.key {
                let names: Vec<String> = chain.iter().map(|name| format!("`{name}`")).collect();
                let what = format!("{} wait for each other", names.join(" and "));
                let what = if chain.len() == 1 { format!("`{next}` waits for itself") } else { what };
                let at = entry.value.entry("after").map_or(entry.key_at, |after| after.value.at);
                reading.at(at, what, "give one of them a time with `at`");
                return;
            }
            if chain.contains(&next) {
                break;
            }
            chain.push(next);
        }
    }
}

/// Earliest end of the measured time, in nanoseconds after the warm-up. `None` if a number of requests ends the load.
fn measured_ns(load: &StudyLoad) -> Option<u64> {
    let measured_ns = load.run_ns?.saturating_sub(load.warm_up_ns);
    let extensions = load.spec.extend.as_ref().and_then(|extend| extend.get()).copied().unwrap_or(0);
    Some(measured_ns / (extensions + 1))
}

/// Message and help if an event is not within all loads. `None` if it is.
fn outside_any_load(event: &StudyEvent, loads: &[StudyLoad], systems: &[System]) -> Option<(String, String)> {
    loads.iter().find_map(|load| outside_load(event, load, systems))
}

fn outside_load(event: &StudyEvent, load: &StudyLoad, systems: &[System]) -> Option<(String, String)> {
    let EventMoment::At { at_ns, every_ns, times } = &event.moment else { return None };
    let (name, shown) = (&event.name, units::show_duration);
    if at_ns.unsigned_abs() > load.warm_up_ns && *at_ns < 0 {
        let what = format!(
            "`{name}` begins before the load {:?}, whose warm-up takes {}",
            load.name,
            shown(load.warm_up_ns)
        );
        return Some((what, "write a later time, or a longer `warm-up`".to_owned()));
    }
    let Some(end_ns) = measured_ns(load) else {
        let what = format!("a number of requests ends the load {:?}, so `every` requires `times`", load.name);
        return (every_ns.is_some() && times.is_none()).then(|| (what, "add `times: 3`".to_owned()));
    };
    let times = event.moment.times(Some(end_ns)).unwrap_or(1);
    let last_ns = i128::from(*at_ns) + i128::from(every_ns.unwrap_or(0)) * i128::from(times - 1);
    let paused_ns = systems.iter().flat_map(|system| &system.events).filter(|one| one.name == *name);
    let paused_ns = paused_ns.filter_map(|one| match one.action {
        ActionText::Pause { for_ns, .. } => Some(i128::from(for_ns)),
        ActionText::Limit { for_ns, .. }
        | ActionText::Link { for_ns, .. }
        | ActionText::Fill { for_ns, .. } => for_ns.map(i128::from),
        _ => None,
    });
    let paused_ns = paused_ns.max().unwrap_or(0);
    let is_beyond = last_ns >= i128::from(end_ns) || last_ns + paused_ns > i128::from(end_ns);
    is_beyond.then(|| {
        let last = shown(u64::try_from(last_ns.max(0)).unwrap_or(u64::MAX));
        let verb = if last_ns >= i128::from(end_ns) { "begins" } else { "still holds the system up" };
        let what = format!(
            "`{name}` {verb} after the end of the load {:?}: at {last}, of {} that are measured",
            load.name,
            shown(end_ns)
        );
        (what, format!("write a time below {}, or a longer `for` of the load", shown(end_ns)))
    })
}

fn has_too_many_occurrences(events: &[StudyEvent], loads: &[StudyLoad]) -> bool {
    loads.iter().any(|load| {
        let times = |event: &StudyEvent| u64::from(event.moment.times(measured_ns(load)).unwrap_or(1));
        events.iter().map(times).sum::<u64>() > OCCURRENCES_MAX
    })
}

/// Events of a quick run. Those with times in `quick` must be within its loads. Other events are removed if they are not, together
/// with those that follow them.
pub(crate) fn read_quick(
    root: &Node,
    quick: &Quick<'_>,
    loads: &[StudyLoad],
    systems: &[System],
    usual: &[StudyEvent],
    reading: &mut Reading<'_>,
) -> Vec<StudyEvent> {
    let own = quick.node.get("events").map_or(&[][..], Node::entries);
    let entries = root.get("events").map_or(&[][..], Node::entries);
    for entry in own.iter().filter(|own| !entries.iter().any(|entry| entry.key == own.key)) {
        let what = format!("the plan has no event `{}`", entry.key);
        let known = entries.iter().map(|entry| entry.key.as_str());
        reading.findings.unknown(entry.key_at, what, &entry.key, known, "write one of");
    }
    let own_of = |name: &str| own.iter().find(|own| own.key == name);
    let entries: Vec<Entry> =
        entries.iter().map(|entry| own_of(&entry.key).unwrap_or(entry).clone()).collect();
    let mut events = Vec::new();
    for event in usual {
        let moment = match own_of(&event.name) {
            Some(own) => moment(own, &entries, systems, reading),
            None => Some(event.moment.clone()),
        };
        events.extend(moment.map(|moment| StudyEvent { name: event.name.clone(), moment }));
    }
    report_cycles(&events, &entries, reading);
    report_outside_loads(&events, own, loads, systems, reading);
    if let Some(section) = quick.node.entry("events").filter(|_| has_too_many_occurrences(&events, loads)) {
        report_too_many(section, reading);
    }
    retain_within(loads, systems, &mut events);
    events
}

/// Reports events with times in `entries` that are not within the loads.
fn report_outside_loads(
    events: &[StudyEvent],
    entries: &[Entry],
    loads: &[StudyLoad],
    systems: &[System],
    reading: &mut Reading<'_>,
) {
    for entry in entries {
        let event = events.iter().find(|event| event.name == entry.key);
        let problem = event.and_then(|event| outside_any_load(event, loads, systems));
        if let Some((what, help)) = problem {
            let at = entry.value.entry("at").map_or(entry.key_at, |at| at.value.at);
            reading.at(at, what, help);
        }
    }
}

fn report_too_many(section: &Entry, reading: &mut Reading<'_>) {
    let what = format!("there are more than {OCCURRENCES_MAX} events in one run");
    reading.at(section.key_at, what, "use a longer `every`, or `times`");
}

/// Removes events that are not within the loads of a quick run, and those that follow them.
fn retain_within(loads: &[StudyLoad], systems: &[System], events: &mut Vec<StudyEvent>) {
    events.retain(|event| outside_any_load(event, loads, systems).is_none());
    loop {
        let names: Vec<String> = events.iter().map(|event| event.name.clone()).collect();
        events.retain(|event| match &event.moment {
            EventMoment::AfterEvent { event, .. } => names.contains(event),
            _ => true,
        });
        if events.len() == names.len() {
            return;
        }
    }
}
