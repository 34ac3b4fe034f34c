//! Expands `workload` of a plan: the steps and the data of a built-in workload, in the protocol of the system.
//!
//! The sections are written into the tree before it is read, so that they are checked like the sections of any plan. Systems may have
//! different protocols: the tree is then read once for each system.

use super::findings::Findings;
use super::parse;
use super::reading::Reading;
use super::tree::{Entry, Node, Text, Value};
use super::{addresses, span::Span};
use crate::system_kind::has_tables_of_records;
use crate::units;
use crate::ycsb::{
    self, FIELD_BYTES_DEFAULT, FIELD_BYTES_MAX, FIELDS_DEFAULT, FIELDS_MAX, RECORDS_DEFAULT, RECORDS_MAX,
    RecordLayout, RecordLoading, RecordShape,
};

/// Key of the section.
const KEY: &str = "workload";
const PREPARE: &str = "prepare";
const JSONB: &str = "jsonb";

/// Whether the systems of a plan with a workload have different protocols or layouts, so that their steps differ.
pub(crate) fn differs_between_systems(root: &Node) -> bool {
    let mut kinds: Vec<(&str, RecordLayout)> =
        systems(root).filter_map(|system| Some((scheme(system)?, layout(system)))).collect();
    kinds.sort_unstable();
    kinds.dedup();
    root.entry(KEY).is_some() && kinds.len() > 1
}

/// The tree with the steps and data of its workload, for the system with this number. Unchanged without a workload.
pub(crate) fn expanded(root: &Node, system: usize, reading: &mut Reading<'_>) -> Option<Node> {
    let entry = root.entry(KEY)?;
    let at = entry.value.at;
    let shape = shape(&entry.value, reading);
    let name = entry.value.text().or(entry.value.text_of("name")).unwrap_or_default();
    let Some(workload) = ycsb::find(name) else {
        let known = ycsb::WORKLOADS.iter().map(|workload| workload.name);
        reading.findings.unknown(at, format!("unknown workload `{name}`"), name, known, "write one of");
        return None;
    };
    if let Some(steps) = root.entry("scenario").or(root.entry("scenarios")) {
        let what = format!("`{}` and `workload` exclude each other", steps.key);
        reading.at(steps.key_at, what, "remove one of them");
        return None;
    }
    let system = systems(root).nth(system);
    let url = system.and_then(url_of).unwrap_or_default();
    let text = match workload.sections(url, shape, system.map(layout).unwrap_or_default()) {
        Ok(text) => text,
        Err((what, help)) => {
            reading.at(at, what, help);
            return None;
        }
    };
    let Value::Map(entries) = &root.value else { return None };
    let mut entries: Vec<Entry> = entries.clone();
    let sections = parse::parse(&text, &mut Findings::default())?;
    for section in sections.entries().iter().map(|entry| with_span(entry, at)) {
        match entries.iter_mut().find(|entry| entry.key == section.key) {
            Some(own) => merge_section(&mut own.value, &section.value),
            None => entries.push(section),
        }
    }
    for entry in &mut entries {
        if entry.key == "systems"
            && let Value::Map(systems) = &mut entry.value.value
        {
            systems.iter_mut().for_each(|system| expand_prepare(&mut system.value, shape, at));
        }
    }
    let mut root = Node { at: root.at, value: Value::Map(entries) };
    expand_prepare(&mut root, shape, at);
    Some(root)
}

/// Number and size of the records that the section defines.
fn shape(node: &Node, reading: &mut Reading<'_>) -> RecordShape {
    let mut number = |key: &str, default: u64, max: u64, read: fn(&str) -> Result<u64, String>| {
        let Some((value, text)) = node.get(key).and_then(|node| Some((node, node.text()?))) else {
            return default;
        };
        match read(text) {
            Ok(number) if (1..=max).contains(&number) => number,
            _ => {
                let what = format!("{text:?} is no number from 1 to {max}");
                reading.at(value.at, what, format!("write a number such as {default}"));
                default
            }
        }
    };
    RecordShape {
        records: number("records", RECORDS_DEFAULT, RECORDS_MAX, units::count),
        fields: number("fields", FIELDS_DEFAULT.into(), FIELDS_MAX.into(), units::count) as u32,
        field_bytes: number("field-size", FIELD_BYTES_DEFAULT.into(), FIELD_BYTES_MAX.into(), |text| {
            units::size_bytes(text)
        }) as u32,
    }
}

/// Adds the entries of a section that the plan's own one lacks.
fn merge_section(own: &mut Node, section: &Node) {
    if let Value::Map(entries) = &mut own.value {
        for entry in section.entries() {
            if entries.iter().all(|known| known.key != entry.key) {
                entries.push(entry.clone());
            }
        }
    }
}

/// Replaces the workload of `prepare` by the statements and rows of its table. Records of stores stay for [`read_loading`].
fn expand_prepare(system: &mut Node, shape: RecordShape, at: Span) {
    let (has_tables, layout) = (url_of(system).is_some_and(has_tables_of_records), layout(system));
    let Value::Map(entries) = &mut system.value else { return };
    let Some(prepare) = entries.iter_mut().find(|entry| entry.key == PREPARE) else { return };
    let is_of_records = prepare.value.text_of(KEY).is_some_and(|name| ycsb::find(name).is_some());
    let (true, true, Value::Map(keys)) = (has_tables, is_of_records, &mut prepare.value.value) else {
        return;
    };
    let is_unlogged = keys.iter().any(|key| key.key == "unlogged-tables" && key.value.text() == Some("true"));
    let text = match layout {
        RecordLayout::Columns => {
            keys.retain(|key| key.key != KEY);
            shape.prepare_sections(is_unlogged)
        }
        // The workload's own steps insert the documents.
        RecordLayout::Jsonb => format!("sql: [\"{}\"]\n", sql::records::create_jsonb_table(is_unlogged)),
    };
    // The layout of documents is read again for their inserts.
    let is_read_again = layout == RecordLayout::Jsonb;
    keys.retain(|key| key.key != "unlogged-tables" && (is_read_again || key.key != JSONB));
    if let Some(sections) = parse::parse(&text, &mut Findings::default()) {
        keys.extend(sections.entries().iter().map(|entry| with_span(entry, at)));
    }
}

/// Records that `prepare` of a system inserts into a store. `None` if it names no such workload.
pub(crate) fn read_loading(system: &Node, root: &Node, reading: &mut Reading<'_>) -> Option<RecordLoading> {
    let prepare = system.get(PREPARE)?;
    let named = prepare.get(KEY).filter(|node| node.text().is_some_and(|name| ycsb::find(name).is_some()))?;
    let Some(workload) = root.get(KEY) else {
        let what = "the plan has no `workload` that says which records are meant";
        reading.at(named.at, what, "add `workload: ycsb-a` to the plan, in place of `scenario`");
        return None;
    };
    let jobs = prepare.text_of("jobs").and_then(|text| units::count(text).ok());
    let jobs = jobs.map_or(RecordLoading::JOBS_DEFAULT, |jobs| jobs.clamp(1, 256) as u32);
    Some(RecordLoading { shape: shape(workload, reading), jobs, layout: layout(system) })
}

/// Layout of the records of a system.
fn layout(system: &Node) -> RecordLayout {
    let asked = system.get(PREPARE).and_then(|prepare| prepare.text_of(JSONB));
    if asked == Some("true") { RecordLayout::Jsonb } else { RecordLayout::Columns }
}

/// Systems of a plan: the section `systems`, or the plan itself with its `url`.
fn systems(root: &Node) -> impl Iterator<Item = &Node> {
    let listed = root.get("systems").map_or(&[][..], Node::entries);
    let own = listed.is_empty().then_some(root);
    listed.iter().map(|entry| &entry.value).chain(own)
}

fn url_of(system: &Node) -> Option<&str> {
    addresses::first_url(system.get("url")?).map(|(_, text)| text)
}

fn scheme(system: &Node) -> Option<&str> {
    url_of(system)?.split(':').next()
}

/// The entry with all of its values at one place.
fn with_span(entry: &Entry, at: Span) -> Entry {
    Entry { key: entry.key.clone(), key_at: at, value: node_with_span(&entry.value, at) }
}

fn node_with_span(node: &Node, at: Span) -> Node {
    let value = match &node.value {
        Value::Text(Text { text, is_plain }) => Value::Text(Text { text: text.clone(), is_plain: *is_plain }),
        Value::List(items) => Value::List(items.iter().map(|item| node_with_span(item, at)).collect()),
        Value::Map(entries) => Value::Map(entries.iter().map(|entry| with_span(entry, at)).collect()),
    };
    Node { at, value }
}
