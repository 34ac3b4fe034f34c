//! Reads the section `load`: all loads as typed values, and their errors with the names of the file.

use load::Scenarios;
use load::open::Stage;

use super::quick::Quick;
use super::reading::Reading;
use super::replays;
use super::scenario;
use super::tools;
use super::tree::Node;
use crate::check_load::Destination;
use crate::csv_text;
use crate::error::{PlanError, Spelling};
use crate::plan::tool_unit;
use crate::recording::{self, AskedRecording};
use crate::spec::values::{COUNT, DURATION};
use crate::spec::{Field, InvalidText, LoadSpec, Spanned};
use crate::study::{StudyLoad, ToolText};

/// Whether every load has a `tool` or a `replay`, so that the plan needs no scenario.
pub(crate) fn need_no_scenario(root: &Node) -> bool {
    let has_none = |load: &Node| load.entry("tool").is_some() || load.entry("replay").is_some();
    root.get("load").is_some_and(|load| load.items().iter().all(has_none))
}

/// Reads all loads. `quick` changes loads, or removes some. `written` is the plan with its parameters in braces: a load has one name
/// under all of their values.
pub(crate) fn read(
    root: &Node,
    written: &Node,
    seed: u64,
    quick: Option<&Quick<'_>>,
    reading: &mut Reading<'_>,
) -> Vec<StudyLoad> {
    let Some(node) = root.get("load") else { return Vec::new() };
    let count = node.items().len();
    let mut loads: Vec<StudyLoad> = Vec::new();
    let written = written.get("load").map_or(&[][..], Node::items);
    for (node, written) in node.items().iter().zip(written) {
        check_name(node, count, &loads, reading);
        let named = node.get("name");
        if quick.is_some_and(|quick| !quick.has_load(node)) {
            continue;
        }
        let mut spec = spec(node, seed, quick, reading);
        let mut errors = Vec::new();
        let is_tool = node.entry("tool").is_some();
        let tool = tools::read(root, node, &spec, quick.is_some(), reading);
        let replay = replays::read(node, &mut spec, reading);
        if is_tool && tool.is_none() || node.entry("replay").is_some() && replay.is_none() {
            continue;
        }
        let unit = match (&tool, &replay) {
            (Some(tool), _) => tool_unit(tool.tool),
            (None, Some(replay)) => replay.traffic.unit,
            (None, None) => scenario::load_unit(root, node).unwrap_or(reading.kinds.unit()),
        };
        let pipeline_max = reading.pipeline_max.filter(|_| tool.is_none());
        let destination = Destination { unit, pipeline_max, ..Destination::default() };
        let checked = spec.check(destination, &mut errors);
        let is_right = errors.is_empty();
        errors.iter().for_each(|error| report(error, node, quick.is_some(), reading));
        if !is_right {
            continue;
        }
        let (mut words, mut stop_words) = checked.words(unit);
        let mut run_ns = checked.stop.at_ns;
        if let Some(replay) = &replay {
            (words, stop_words, run_ns) = (replay.words(), replay.stop_words(), None);
        }
        let usual_name =
            || tool.as_ref().map_or_else(|| summary_words(written), |tool| tool.tool.name.to_owned());
        loads.push(StudyLoad {
            name: named.and_then(Node::text).map_or_else(usual_name, str::to_owned),
            words: tool.as_ref().map_or(words, ToolText::load_words),
            stop_words,
            warm_up_ns: checked.warm_up_ns,
            timeout_ns: checked.timeout_ns,
            run_ns,
            scenario: node.text_of("scenario").map(str::to_owned),
            tool,
            replay,
            spec,
        });
    }
    loads
}

/// Checks the name of one of `count` loads. `loads` have been read already.
fn check_name(node: &Node, count: usize, loads: &[StudyLoad], reading: &mut Reading<'_>) {
    let named = node.get("name");
    match named.and_then(|named| Some((named, named.text()?))) {
        Some((named, name)) => {
            reading.own_name(name, named.at, "load");
            if loads.iter().any(|load| load.name == name) {
                reading.at(named.at, format!("a load named {name:?} exists already"), "choose another name");
            }
        }
        None if count > 1 && !node.entries().is_empty() && named.is_none() => {
            let at = node.entries().first().map_or(node.at, |entry| entry.key_at);
            reading.at(at, "each of several loads requires a name", "add `name: steady`, or another name");
        }
        None => {}
    }
}

/// Reports loads that follow an unknown scenario.
pub(crate) fn check_scenarios(node: Option<&Node>, scenarios: &Scenarios, reading: &mut Reading<'_>) {
    let names =
        || scenarios.list.iter().map(|scenario| scenario.name.as_str()).filter(|name| !name.is_empty());
    for node in node.map_or(&[][..], Node::items).iter().filter_map(|load| load.get("scenario")) {
        let Some(name) = node.text().filter(|name| !names().any(|known| known == *name)) else { continue };
        if names().next().is_none() {
            reading.at(node.at, "the scenario has no name, and all loads follow it", "remove `scenario`");
        } else {
            let what = format!("unknown scenario `{name}`");
            reading.findings.unknown(node.at, what, name, names(), "write one of");
        }
    }
}

/// Short words for a load: `100 users`, `500/s`.
fn summary_words(node: &Node) -> String {
    match (node.text_of("users"), node.text_of("rate")) {
        (Some("1"), _) => "1 user".to_owned(),
        (Some(users), _) => format!("{users} users"),
        (None, Some(rate)) if rate.contains('/') => rate.to_owned(),
        (None, Some(rate)) => format!("{rate}/s"),
        (None, None) if node.entry("recorded").is_some() => "recorded".to_owned(),
        (None, None) if node.entry("replay").is_some() => "replay".to_owned(),
        (None, None) => "stages".to_owned(),
    }
}

/// Reads the values of a load. Values that contradict its amount are reported here and omitted.
fn spec(node: &Node, seed: u64, quick: Option<&Quick<'_>>, reading: &mut Reading<'_>) -> LoadSpec {
    let mut spec = LoadSpec::from_node(node);
    spec.seed = Some(seed.into());
    connections(node, &mut spec);
    if is_open(node, reading) {
        spec.users = None;
    } else {
        spec.connections = None;
        spec.rate_per_s = None;
        spec.stages = None;
    }
    spec.recorded = spec.recorded.take().map(|asked| read_arrivals(asked, reading));
    if let Some(quick) = quick {
        shorten(&mut spec, LoadSpec::from_node(quick.node));
    }
    spec
}

/// Reads the file of a recording, once for all systems.
fn read_arrivals(asked: Spanned<AskedRecording>, reading: &mut Reading<'_>) -> Spanned<AskedRecording> {
    asked.and_then(|asked| {
        let AskedRecording::File(name) = asked else { return Ok(asked) };
        let bytes = reading.folder.read(&name, csv_text::BYTES_MAX);
        let bytes = bytes.map_err(|(what, help)| InvalidText::new(what, help))?;
        recording::read(bytes, &name).map(AskedRecording::Read)
    })
}

/// Reads the values of a mapping `connections`.
fn connections(node: &Node, spec: &mut LoadSpec) {
    let Some(mapping) = node.get("connections").filter(|node| !node.entries().is_empty()) else { return };
    spec.connections = mapping.entry("count").and_then(|entry| Spanned::from_entry(entry, &COUNT));
    spec.connection_lifetime_ns =
        mapping.entry("lifetime").and_then(|entry| Spanned::from_entry(entry, &DURATION));
}

/// Shortens a load for a quick run. Stages are shortened together, and the load is not extended.
fn shorten(spec: &mut LoadSpec, quick: LoadSpec) {
    spec.extend = None;
    spec.warm_up_ns = quick.warm_up_ns.or(spec.warm_up_ns.take());
    let Some(stages) = spec.stages.take() else {
        spec.measured_ns = quick.measured_ns.or(spec.measured_ns.take());
        return;
    };
    let quick_ns = quick.measured_ns.as_ref().and_then(Spanned::get).copied();
    spec.stages = Some(stages.map(|stages| match quick_ns {
        Some(quick_ns) => shorten_stages(stages, quick_ns),
        None => stages,
    }));
}

/// Scales stages down to a total duration, if that is shorter.
fn shorten_stages(stages: Vec<Stage>, within_ns: u64) -> Vec<Stage> {
    let total_ns = stages.iter().map(|stage| stage.for_ns).fold(0, u64::saturating_add);
    if within_ns >= total_ns {
        return stages;
    }
    let scaled = |for_ns: u64| (u128::from(for_ns) * u128::from(within_ns) / u128::from(total_ns)) as u64;
    stages.into_iter().map(|stage| Stage { for_ns: scaled(stage.for_ns), ..stage }).collect()
}

/// Whether the load is open: requests start at scheduled times.
fn is_open(node: &Node, reading: &mut Reading<'_>) -> bool {
    let (users, open) = (node.entry("users"), ["rate", "stages"].into_iter().find_map(|key| node.entry(key)));
    if open.is_none() && users.is_none() && node.entry("recorded").is_some() {
        return true;
    }
    match (users, open) {
        (Some(users), Some(open)) => {
            let second = if users.key_at < open.key_at { open } else { users };
            let what = format!(
                "a load has either `users`, who wait for replies, or `{}`, which does not wait",
                open.key
            );
            reading.at(second.key_at, what, "remove one of the two");
            users.key_at < open.key_at
        }
        (Some(_), None) => {
            let connections = node.entry("connections");
            let is_mapping = connections.is_some_and(|entry| !entry.value.entries().is_empty());
            let number = if is_mapping {
                connections.and_then(|entry| entry.value.entry("count"))
            } else {
                connections
            };
            if let Some(number) = number {
                let what = format!(
                    "`{}` requires `rate` or `stages`; each of the `users` has its own connection",
                    number.key
                );
                reading.at(number.key_at, what, "remove it");
            }
            false
        }
        (None, Some(_)) => true,
        (None, None) => {
            let entries = node.entries();
            let has_error_at = ["tool", "replay"].iter().any(|key| node.entry(key).is_some())
                || entries.iter().any(|entry| reading.findings.has_at(entry.key_at));
            if let Some(first) = entries.first().filter(|_| !has_error_at) {
                let what = "the load has no amount";
                reading.at(first.key_at, what, "add `users: 10` or `rate: 100/s`");
            }
            false
        }
    }
}

/// Reports an error with the names of the file, unless the form of the value is already reported.
fn report(error: &PlanError, node: &Node, is_quick: bool, reading: &mut Reading<'_>) {
    let at = match error.at {
        Some(at) if error.points_at_key() => at.key,
        Some(at) => at.point,
        None => node.at,
    };
    let is_in_stages =
        error.field == Field::STAGES && error.at.is_some_and(|at| reading.findings.has_within(at.value));
    if reading.findings.has_at(at) || is_in_stages {
        return;
    }
    let keys = Spelling::Keys;
    let when = if is_quick { "in a quick run, " } else { "" };
    let both = error.other().map_or(String::new(), |_| format!("{}: ", error.names(keys)));
    reading.at(at, format!("{when}{both}{}", error.what(keys)), error.help(keys));
}
