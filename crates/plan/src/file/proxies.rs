//! Reads `proxies`: Tenbin processes that simulate a slower network between parts of a system, or in front of it.

use super::processes;
use super::reading::Reading;
use super::systems::Scope;
use super::tree::Entry;
use crate::study::{Braced, PortText, Process, ProxyText, ReadyText, StopText, WhenText, is_name};

/// Part of the JSON that a running proxy prints.
const LISTENING_EVENT: &str = "\"event\":\"listening\"";
const READY_WITHIN_NS: u64 = 10_000_000_000;
/// Keys with equivalent flags of `tenbin proxy`.
const FLAGS: [&str; 8] =
    ["delay", "round-trip", "jitter", "jitter-kind", "bandwidth", "reset-after", "reset-share", "drop-new"];
/// Keys that require another key.
const NEEDS: [(&str, &str); 2] = [("jitter-kind", "jitter"), ("reset-share", "reset-after")];

/// Proxies of a system, as processes that start before its own.
pub(crate) fn read(scope: &Scope<'_>, reading: &mut Reading<'_>) -> Vec<Process> {
    let entries = scope.node.get("proxies").map_or(&[][..], |proxies| proxies.entries());
    entries.iter().filter_map(|entry| proxy(entry, scope, reading)).collect()
}

fn proxy(entry: &Entry, scope: &Scope<'_>, reading: &mut Reading<'_>) -> Option<Process> {
    let name = &entry.key;
    if !is_name(name) {
        let what = format!("{name:?} is not a valid name");
        reading.at(entry.key_at, what, "use letters, digits, _, ., and -, and begin with a letter");
        return None;
    }
    let node = &entry.value;
    if let (Some(_), Some(second)) = (node.get("delay"), node.entry("round-trip")) {
        let what = "`delay` and `round-trip` exclude each other";
        reading.at(second.key_at, what, "remove one of them; a round trip takes twice the delay");
    }
    for (key, needed) in NEEDS {
        if let Some(entry) = node.entry(key).filter(|_| node.get(needed).is_none()) {
            reading.at(entry.key_at, format!("`{key}` requires `{needed}`"), format!("add `{needed}`"));
        }
    }
    let mut flags = Vec::new();
    for key in FLAGS {
        let Some((value, text)) = node.get(key).and_then(|value| Some((value, value.text()?))) else {
            continue;
        };
        flags.extend([Braced::read(&format!("--{key}")), reading.braced(value, text, &scope.known)]);
    }
    let to_node = node.get("to")?;
    let to = reading.braced(to_node, to_node.text()?, &scope.known);
    let listens = format!("port.{name}");
    if to.names().any(|used| used == listens) {
        let what = "the proxy would connect to itself";
        reading.at(to_node.at, what, "write the port of the process that it passes connections on to");
    }
    let control = format!("{{dir}}/{name}.control");
    let fixed = ["{tenbin}", "proxy", &format!("{{{listens}}}")].map(Braced::read);
    let mut start: Vec<Braced> = fixed.into_iter().chain([to.clone()]).collect();
    start.extend(["--format", "json", "--control", &control].map(Braced::read));
    start.extend(flags);
    let when = WhenText::Log(Braced::read(LISTENING_EVENT));
    Some(Process {
        name: process_name(name),
        start,
        env: Vec::new(),
        dir: None,
        ready: ReadyText { when, port: PortText::None, within_ns: READY_WITHIN_NS, steady_within_ns: None },
        stop: StopText { signal: processes::TERM.to_owned(), command: None, within_ns: READY_WITHIN_NS },
        is_started_by_event: false,
        proxy: Some(ProxyText { name: name.clone(), to }),
    })
}

/// Name of the proxy's process in reports.
fn process_name(name: &str) -> String {
    format!("proxy {name}")
}
