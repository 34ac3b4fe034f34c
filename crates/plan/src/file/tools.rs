//! Reads `tool` of a load: the command of an external load generator, and the keys that apply to it.

use loadtools::{TOOLS, Tool};

use super::reading::Reading;
use super::tree::{Entry, Node};
use crate::spec::{LoadSpec, Spanned};
use crate::study::{Braced, ToolText, is_name, whole_seconds};

/// Keys that apply to a load with `tool`. Other values belong into the tool's own command.
const KEYS: [&str; 7] = ["name", "tool", "users", "warm-up", "for", "requests", "profile"];
/// Names of a system that the command may use, in addition to the system's parameters.
const SYSTEM_NAMES: [&str; 6] = ["port", "dir", "plan", "tenbin", "system", "host"];
/// Names for the duration of the load.
const DURATION_NAMES: [&str; 2] = ["for", "seconds"];
const DURATION_DEFAULT_NS: u64 = 10_000_000_000;

/// Rejects events in plans with tools. The cost of events is computed from individual requests, which no tool reports.
pub(crate) fn reject_events(root: &Node, reading: &mut Reading<'_>) {
    let loads = root.get("load").map_or(&[][..], Node::items);
    let Some(events) = root.entry("events").filter(|_| loads.iter().any(|load| load.entry("tool").is_some()))
    else {
        return;
    };
    let what =
        "`events` cannot be measured by another load generator: what they cost is seen in single requests";
    reading.at(events.key_at, what, "remove `events`, or the loads with `tool`");
}

/// Reads the command of a load and its values. `None` if there is no command, or if it has errors.
pub(crate) fn read(
    root: &Node,
    load: &Node,
    spec: &LoadSpec,
    is_quick: bool,
    reading: &mut Reading<'_>,
) -> Option<ToolText> {
    let entry = load.entry("tool")?;
    let before = reading.findings.count();
    for other in load.entries().iter().filter(|entry| !KEYS.contains(&entry.key.as_str())) {
        let what = format!("`{}` does not apply to a load with `tool`", other.key);
        reading.at(other.key_at, what, "remove it, and write what the tool needs into its command");
    }
    let words = reading.command(&entry.value, &known(root));
    let texts: Vec<String> = words.iter().map(|word| word.fill(|_| None)).collect();
    let tool = find_tool(&texts, entry, reading)?;
    let given = |value: &Option<Spanned<u64>>| value.as_ref().and_then(Spanned::get).copied();
    let text = ToolText {
        tool,
        users: given(&spec.users).and_then(|users| u32::try_from(users).ok()),
        requests: given(&spec.requests),
        warm_up_ns: given(&spec.warm_up_ns).unwrap_or(0),
        measured_ns: given(&spec.measured_ns).unwrap_or(DURATION_DEFAULT_NS),
        words,
    };
    let uses_length = text.words.iter().flat_map(Braced::names).any(|name| DURATION_NAMES.contains(&name));
    let is_whole = [text.warm_up_ns, text.measured_ns].into_iter().all(|ns| whole_seconds(ns).is_some());
    if uses_length && !is_whole {
        let when = if is_quick { "in a quick run, " } else { "" };
        let what = format!("{when}a load with `tool` takes whole seconds");
        reading.at(entry.key_at, what, "write `for: 10s` and `warm-up: 2s`, or other whole seconds");
    }
    if !is_quick {
        check_consistency(&text, load, entry, reading);
    }
    (reading.findings.count() == before).then_some(text)
}

fn find_tool(words: &[String], entry: &Entry, reading: &mut Reading<'_>) -> Option<&'static Tool> {
    let tool = loadtools::find_in_command(words.iter().map(String::as_str));
    if tool.is_none() && !words.is_empty() {
        let known: Vec<&str> = TOOLS.iter().flat_map(|tool| tool.programs).copied().collect();
        let what = "the command runs no load generator whose output Tenbin can read";
        let help = format!("run one of {}", known.join(", "));
        reading.at(entry.value.at, what, help);
    }
    tool
}

/// Checks that the command uses the values of the load, and that the load defines the values that the command uses. One of them must set
/// the duration.
fn check_consistency(text: &ToolText, load: &Node, entry: &Entry, reading: &mut Reading<'_>) {
    let uses = |name: &str| text.words.iter().flat_map(Braced::names).any(|used| used == name);
    for (key, example) in [("users", "10"), ("requests", "1000")] {
        match (load.entry(key), uses(key)) {
            (None, true) => {
                let what = format!("{{{key}}} has no value");
                reading.at(entry.value.at, what, format!("add `{key}: {example}` to the load"));
            }
            (Some(given), false) => {
                let what = format!("the command does not use `{key}`");
                reading.at(
                    given.key_at,
                    what,
                    format!("write {{{key}}} into the command, or remove `{key}`"),
                );
            }
            _ => {}
        }
    }
    let has_length = DURATION_NAMES.into_iter().any(uses);
    if let Some(warm_up) = load.entry("warm-up").filter(|_| !has_length && text.warm_up_ns > 0) {
        let what = "`warm-up` requires a command with a length: it is run for the warm-up first";
        reading.at(warm_up.key_at, what, "write {for} or {seconds} into the command, or remove `warm-up`");
    }
    if !has_length && load.entry("for").is_none() {
        let what = "the command has no length";
        reading.at(entry.value.at, what, "write {for} or {seconds} into the command, or add `for: 60s`");
    }
}

/// Names that the command may use. A parameter counts only if every system has it.
fn known(root: &Node) -> Vec<String> {
    let names = ToolText::NAMES.into_iter().chain(["url", "plan"]);
    let mut known: Vec<String> = names.map(str::to_owned).collect();
    let Some(systems) = root.get("systems").map(Node::entries) else { return known };
    known.extend(SYSTEM_NAMES.map(str::to_owned));
    let knobs = |system: &Entry| -> Vec<String> {
        let all = [root.get("vary"), system.value.get("vary")].into_iter().flatten().flat_map(Node::entries);
        all.map(|knob| knob.key.clone()).filter(|name| is_name(name)).collect()
    };
    let mut shared = systems.first().map(knobs).unwrap_or_default();
    shared.retain(|name| systems.iter().all(|system| knobs(system).contains(name)));
    known.extend(shared);
    known
}
