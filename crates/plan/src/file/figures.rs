//! Reads the section `figures`: figures that a plan defines itself, and their names in `compare` and `gates`.

use judge::{ComparedBy, METRICS, OwnFigure, is_name_of_figure, is_unit_of_figure};

use super::near;
use super::parameters;
use super::reading::Reading;
use super::tree::{Entry, Node, Text, Value, WithUnits as _};
use crate::study::{FigureSummary, FigureText, SourceText};
use crate::system_kind::{SystemKind, request_schemes};

/// Max number of figures. Each is a column, and may be read every second.
const FIGURES_MAX: usize = 32;
/// Shortest and longest interval of readings in nanoseconds.
const EVERY_RANGE_NS: [u64; 2] = [200_000_000, 3_600_000_000_000];
const SOURCES: [&str; 3] = ["sql", "command", "prometheus"];
const SYSTEM_NAMES: [&str; 6] = ["port", "dir", "plan", "tenbin", "system", "host"];
const FIGURE: &str = "figure ";

/// Reads all figures.
pub(crate) fn read(root: &Node, reading: &mut Reading<'_>) -> Vec<FigureText> {
    let Some(section) = root.entry("figures") else { return Vec::new() };
    let entries = section.value.entries();
    if entries.len() > FIGURES_MAX {
        reading.at(section.key_at, format!("there are more than {FIGURES_MAX} figures"), "remove some");
        return Vec::new();
    }
    let known: Vec<String> =
        SYSTEM_NAMES.map(str::to_owned).into_iter().chain(parameters::common_parameters(root)).collect();
    let figures: Vec<FigureText> =
        entries.iter().filter_map(|entry| figure(root, entry, &known, reading)).collect();
    let used = figures.iter().flat_map(FigureText::texts).flat_map(|text| text.names());
    reading.parameters.mark_later_names(used);
    figures
}

fn figure(root: &Node, entry: &Entry, known: &[String], reading: &mut Reading<'_>) -> Option<FigureText> {
    let (name, node) = (entry.key.as_str(), &entry.value);
    if !is_name_of_figure(name) {
        let help = "use letters, digits, _, ., and -, begin with a letter, and use 40 at most";
        reading.at(entry.key_at, format!("{name:?} is not a valid name of a figure"), help);
    } else if METRICS.iter().any(|metric| metric.name == name) {
        let what = format!("`{name}` is a metric that every run has");
        reading.at(entry.key_at, what, format!("choose another name, such as {name}_of_app"));
    }
    let source = source(root, entry, known, reading);
    let unit = unit(node, reading);
    let every_ns = every_ns(node, reading);
    let asked = node.get("summary").and_then(|summary| Some((summary, summary.text()?)));
    let named = |text: &str| FigureSummary::NAMED.iter().find(|(name, _)| *name == text);
    let usual = if every_ns.is_some() { FigureSummary::Mean } else { FigureSummary::After };
    let summary = asked.and_then(|(_, text)| named(text)).map_or(usual, |(_, summary)| *summary);
    if let Some((node, text)) = asked.filter(|_| summary.needs_load_readings() && every_ns.is_none()) {
        reading.at(
            node.at,
            format!("`summary: {text}` requires readings during the load"),
            "add `every: 1s`",
        );
    }
    let higher_is_better = node.text_of("better") == Some("higher");
    let figure = OwnFigure { name: name.to_owned(), unit, higher_is_better };
    Some(FigureText { figure, every_ns, summary, source: source? })
}

/// The one source of a figure.
fn source(root: &Node, entry: &Entry, known: &[String], reading: &mut Reading<'_>) -> Option<SourceText> {
    let node = &entry.value;
    let given: Vec<&Entry> = SOURCES.into_iter().filter_map(|key| node.entry(key)).collect();
    let [first, others @ ..] = given.as_slice() else {
        if !node.entries().iter().any(|entry| reading.findings.has_at(entry.key_at)) {
            let what = format!("the figure `{}` has no source", entry.key);
            reading.at(entry.key_at, what, "add `command`, `sql`, or `prometheus`");
        }
        return None;
    };
    if let Some(second) = others.first() {
        let what = format!("`{}` and `{}` exclude each other", first.key, second.key);
        reading.at(second.key_at, what, "remove one of them");
    }
    for (key, owner) in [("endpoint", "sql"), ("name", "prometheus")] {
        if let Some(stray) = node.entry(key).filter(|_| node.entry(owner).is_none()) {
            reading.at(stray.key_at, format!("`{key}` requires `{owner}`"), "remove it");
        }
    }
    match first.key.as_str() {
        "command" => Some(SourceText::Command(reading.command(&first.value, known))),
        "sql" => {
            let query = reading.braced(&first.value, first.value.text()?, known);
            let endpoint = node.get("endpoint").and_then(|node| Some((node, node.text()?)));
            check_database(root, first, endpoint, reading);
            Some(SourceText::Sql { endpoint: endpoint.map(|(_, name)| name.to_owned()), query })
        }
        _ => prometheus(first, node, known, reading),
    }
}

fn prometheus(entry: &Entry, node: &Node, known: &[String], reading: &mut Reading<'_>) -> Option<SourceText> {
    let text = entry.value.text()?;
    let url = reading.braced(&entry.value, text, known);
    let filled = url.fill(|name| Some(if name.starts_with("port") { "1" } else { "x" }.to_owned()));
    let is_exporter = |scheme: &str| request_schemes().iter().any(|one| !one.is_secure && one.name == scheme);
    let is_right = url::Url::parse(&filled).is_ok_and(|url| is_exporter(url.scheme()) && url.has_host());
    if !is_right {
        let what = format!("{text:?} is no address of an exporter");
        reading.at(entry.value.at, what, "write it like http://127.0.0.1:9100/metrics");
    }
    let Some(name) = node.get("name").and_then(Node::text) else {
        let what = "`prometheus` requires the name of a metric";
        reading.at(entry.key_at, what, "add `name: process_resident_memory_bytes`");
        return None;
    };
    Some(SourceText::Prometheus { url, name: name.to_owned() })
}

/// Checks that a statement has a database.
fn check_database(root: &Node, sql: &Entry, endpoint: Option<(&Node, &str)>, reading: &mut Reading<'_>) {
    let systems = root.get("systems").map_or(&[][..], Node::entries);
    let all = || std::iter::once(root).chain(systems.iter().map(|system| &system.value));
    let endpoints = || all().filter_map(|node| node.get("endpoints")).flat_map(Node::entries);
    if let Some((node, name)) = endpoint {
        if !endpoints().any(|known| known.key == name) {
            let what = format!("unknown endpoint `{name}`");
            if endpoints().next().is_none() {
                let help = format!("define it: `endpoints: {{ {name}: postgres://app@127.0.0.1/app }}`");
                return reading.at(node.at, what, help);
            }
            let known = endpoints().map(|known| known.key.as_str());
            reading.findings.unknown(
                node.at,
                what,
                name,
                known,
                "define it under `endpoints`, or write one of",
            );
        }
        return;
    }
    let urls = all().flat_map(|node| [node.get("url"), node.get("database")]).flatten().flat_map(Node::items);
    let urls = urls.chain(endpoints().flat_map(|known| match known.value.get("url") {
        Some(url) => url.items(),
        None => known.value.items(),
    }));
    if !urls.filter_map(Node::text).any(|url| SystemKind::by_url(url).does_answer(&sql.key)) {
        let what = "no system of the plan has a database that could answer `sql`";
        reading.at(sql.key_at, what, "add `database: postgres://…` to the system, or use `command`");
    }
}

fn unit(node: &Node, reading: &mut Reading<'_>) -> String {
    let Some((unit, text)) = node.get("unit").and_then(|unit| Some((unit, unit.text()?))) else {
        return String::new();
    };
    if !is_unit_of_figure(text) {
        let help = "write bytes, ns, us, ms, s, or a word such as pages";
        reading.at(unit.at, format!("{text:?} is not a valid unit"), help);
        return String::new();
    }
    text.to_owned()
}

fn every_ns(node: &Node, reading: &mut Reading<'_>) -> Option<u64> {
    let every_ns = node.duration_ns("every")?;
    let [least, most] = EVERY_RANGE_NS;
    if let Some(node) = node.get("every").filter(|_| !(least..=most).contains(&every_ns)) {
        reading.at(node.at, "the interval is not between 200ms and 1h", "write `every: 1s`");
    }
    Some(every_ns.clamp(least, most))
}

/// The plan with the whole names of figures under `compare` and `gates`, where it may write their names alone.
pub(crate) fn named(root: &Node, reading: &mut Reading<'_>) -> Node {
    let Value::Map(entries) = &root.value else { return root.clone() };
    let figures: Vec<OwnFigure> =
        root.get("figures").map_or(&[][..], Node::entries).iter().filter_map(read_definition).collect();
    let named = entries.iter().map(|entry| {
        let value = match entry.key.as_str() {
            "compare" => expand_compare(&entry.value, &figures, reading),
            "gates" => map_items(&entry.value, &mut |text| expand_gate(text, &figures)),
            _ => entry.value.clone(),
        };
        Entry { value, ..entry.clone() }
    });
    Node { at: root.at, value: Value::Map(named.collect()) }
}

/// Name, unit, and direction of a figure, as far as they are right.
fn read_definition(entry: &Entry) -> Option<OwnFigure> {
    let unit = entry.value.text_of("unit").filter(|unit| is_unit_of_figure(unit)).unwrap_or_default();
    is_name_of_figure(&entry.key).then(|| OwnFigure {
        name: entry.key.clone(),
        unit: unit.to_owned(),
        higher_is_better: entry.value.text_of("better") == Some("higher"),
    })
}

fn expand_compare(node: &Node, figures: &[OwnFigure], reading: &mut Reading<'_>) -> Node {
    let Value::Map(entries) = &node.value else { return node.clone() };
    let mut unknown = Vec::new();
    let named = entries.iter().map(|entry| match entry.key.as_str() {
        "by" | "also" => {
            for node in entry.value.items() {
                unknown
                    .extend(node.text().filter(|text| is_unknown(text, figures)).map(|text| (node.at, text)));
            }
            let value = map_items(&entry.value, &mut |text| metric(text, figures));
            Entry { value, ..entry.clone() }
        }
        _ => entry.clone(),
    });
    let named = Node { at: node.at, value: Value::Map(named.collect()) };
    for (at, text) in unknown {
        let name = text.strip_prefix(FIGURE).unwrap_or(text);
        let known = figures.iter().map(|figure| figure.name.as_str());
        let what = format!("unknown figure `{name}`");
        reading.findings.unknown(at, what, name, known, "define it under `figures`, or write one of");
    }
    named
}

/// Whether a text refers to a figure that the plan does not define: by its prefix, or by a name that is close to a known one.
fn is_unknown(text: &str, figures: &[OwnFigure]) -> bool {
    let names = || figures.iter().map(|figure| figure.name.as_str());
    match text.strip_prefix(FIGURE) {
        Some(rest) => {
            let name = OwnFigure::parse(text).map_or_else(|| rest.to_owned(), |figure| figure.name);
            names().all(|known| known != name)
        }
        None => {
            let is_metric = ComparedBy::named(text).is_some();
            !is_metric && names().all(|known| known != text) && near::nearest(text, names()).is_some()
        }
    }
}

/// Whole name of a figure. `None` for other metrics.
fn metric(text: &str, figures: &[OwnFigure]) -> Option<String> {
    let name = OwnFigure::parse(text).map(|figure| figure.name);
    let name = name.as_deref().unwrap_or(text);
    let found = figures.iter().find(|figure| figure.name == name).or_else(|| {
        let names = figures.iter().map(|figure| figure.name.as_str());
        let near = is_unknown(text, figures).then(|| near::nearest(name, names)).flatten();
        figures.iter().find(|figure| Some(figure.name.as_str()) == near)
    });
    found.map(|figure| figure.stored_name())
}

/// A gate with the prefix before the name of a figure. `None` for other gates.
fn expand_gate(text: &str, figures: &[OwnFigure]) -> Option<String> {
    let name = text.trim_start();
    let end = name.find(|sign: char| sign.is_whitespace() || "<>=".contains(sign))?;
    let is_one = figures.iter().any(|figure| figure.name == name[..end]);
    is_one.then(|| format!("{FIGURE}{name}"))
}

fn map_items(node: &Node, change: &mut impl FnMut(&str) -> Option<String>) -> Node {
    let value = match &node.value {
        Value::Text(text) => match change(&text.text) {
            None => node.value.clone(),
            Some(changed) => Value::Text(Text { text: changed, is_plain: false }),
        },
        Value::List(items) => Value::List(items.iter().map(|item| map_items(item, change)).collect()),
        Value::Map(_) => node.value.clone(),
    };
    Node { at: node.at, value }
}
