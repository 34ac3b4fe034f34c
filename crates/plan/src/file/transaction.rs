//! A step that is a transaction: its statements, how many rows they must bring, and what is saved of them.

use load::ThinkTime;
use sql::workload;
use wire::braces::{Piece, pieces};

use super::form;
use super::reading::Reading;
use super::step::ReadStep;
use super::tree::{Entry, Node};
use super::variables::Variables;
use crate::draft::{Draft, Played};
use crate::plan::{Action, PlannedStep, SqlAction};
use crate::scripts::{style_named, styled};

pub(crate) const KINDS: [&str; 4] = ["sql", "transaction", "script", "workload"];
const SCRIPT_BYTES_MAX: u64 = 8 * 1024 * 1024;
const NAME_LENGTH_MAX: usize = 60;
/// Columns are kept under a name that no script of a plan has, and get their own then.
const COLUMN: &str = "saved_column_";

/// Whether a step is a transaction.
pub(crate) fn is_one(node: &Node) -> bool {
    node.entries().iter().any(|entry| KINDS.contains(&entry.key.as_str()))
}

/// Reads a step; what is wrong with it is among the findings. `number` is that of its script.
pub(crate) fn read(
    node: &Node,
    number: u16,
    variables: &mut Variables,
    reading: &mut Reading<'_>,
) -> Option<(ReadStep, Played)> {
    let of_requests = ["headers", "body", "body-file", "request"];
    let is_foreign = |entry: &&Entry| {
        of_requests.contains(&entry.key.as_str()) || super::step::METHODS.contains(&entry.key.as_str())
    };
    let mut given = node.entries().iter().filter(|entry| KINDS.contains(&entry.key.as_str()));
    let first = given.next()?;
    for second in given.chain(node.entries().iter().filter(is_foreign)) {
        let what = format!("a step is one transaction, and `{}` is one already", first.key);
        reading.at(second.key_at, what, "leave it out, or begin a new step with `- `");
    }
    let named = node.get("name");
    if let Some(named) = named {
        reading.own_name(named.text()?, named.at, "step");
    }
    let of_step = named.and_then(Node::text).map(str::to_owned);
    let (name, played) = match first.key.as_str() {
        "workload" => built_in(&first.value, of_step, reading)?,
        "script" => file(&first.value, of_step, node, variables, reading)?,
        _ => statements(first, of_step, node, variables, reading)?,
    };
    let saves = saves(node, &first.key, variables, reading);
    let expects = expects(node, reading);
    let action = Action::Sql(SqlAction { script: number, expects, saves });
    let think = node.text_of("think").map_or(ThinkTime::None, think);
    let weight = node.get("weight").and_then(|node| Some((form::weight(node.text()?).ok()?, node.at)));
    let step = PlannedStep { name, action };
    let name_at = named.map_or(first.value.at, |named| named.at);
    Some((ReadStep { step, think, weight, name_at, authorization_at: None }, played))
}

fn built_in(node: &Node, name: Option<String>, reading: &mut Reading<'_>) -> Option<(String, Played)> {
    let text = node.text()?;
    let (base, style) = styled(text);
    if let Some(Err(way_out)) = style.map(style_named) {
        reading.at(node.at, format!("{text} names no style"), way_out);
        return None;
    }
    let Some(workload) = workload::find(base) else {
        let known = workload::WORKLOADS.iter().map(|workload| workload.name);
        let what = format!("there is no workload `{text}`");
        reading.findings.unknown(node.at, what, text, known, "write one of");
        return None;
    };
    let whole = style.map_or_else(|| workload.name.to_owned(), |style| format!("{}:{style}", workload.name));
    Some((name.unwrap_or_else(|| whole.clone()), Played::Workload(whole)))
}

fn file(
    node: &Node,
    name: Option<String>,
    step: &Node,
    variables: &mut Variables,
    reading: &mut Reading<'_>,
) -> Option<(String, Played)> {
    let path = node.text()?;
    let bytes = match reading.folder.read(path, SCRIPT_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err((what, way_out)) => {
            reading.at(node.at, what, way_out);
            return None;
        }
    };
    let Ok(text) = String::from_utf8(bytes) else {
        reading.at(node.at, format!("{path} is not UTF-8"), "save it as UTF-8");
        return None;
    };
    variables.use_in_script(node, &text, true, reading);
    let text = [with_slots(&text), saving(step)].concat();
    let name = name.unwrap_or_else(|| path.to_owned());
    Some((name.clone(), Played::Text { name, text: text.into_bytes() }))
}

/// One text, or several in a transaction.
fn statements(
    entry: &Entry,
    name: Option<String>,
    step: &Node,
    variables: &mut Variables,
    reading: &mut Reading<'_>,
) -> Option<(String, Played)> {
    let mut texts = Vec::new();
    for item in entry.value.items() {
        let text = item.text()?;
        variables.use_in_script(item, text, false, reading);
        if entry.key == "transaction" && is_an_edge(text) {
            let way_out = "leave it out, or write a `script`, which begins and commits where it says";
            reading.at(item.at, "a `transaction` begins and commits by itself", way_out);
        }
        texts.push(with_slots(text));
    }
    let first = entry.value.items().first().and_then(Node::text).unwrap_or_default();
    let count = texts.len();
    let ended = texts.iter().enumerate().map(|(number, text)| {
        let saving = if number + 1 == count { saving(step) } else { String::new() };
        [&ended(text, saving.is_empty()), saving.as_str()].concat()
    });
    let text: String = match entry.key.as_str() {
        "transaction" => {
            ["BEGIN;\n".to_owned()].into_iter().chain(ended).chain(["COMMIT;\n".to_owned()]).collect()
        }
        _ => ended.collect(),
    };
    let name = name.unwrap_or_else(|| shortened(first));
    Some((name.clone(), Played::Text { name, text: text.into_bytes() }))
}

/// Whether a statement begins or commits a transaction.
fn is_an_edge(text: &str) -> bool {
    let end_of_word = |sign: char| sign.is_whitespace() || sign == ';';
    let word = text.trim_start().split(end_of_word).next().unwrap_or_default();
    ["begin", "start", "commit", "end"].iter().any(|edge| word.eq_ignore_ascii_case(edge))
}

/// With a semicolon at its end, or without, and a line of its own after it.
fn ended(text: &str, has_semicolon: bool) -> String {
    let bare = text.trim_end().trim_end_matches(';').trim_end();
    // A comment at the end would take the semicolon in.
    let is_comment = bare.lines().last().is_some_and(|line| line.contains("--"));
    let is_command = bare.lines().last().is_some_and(|line| line.trim_start().starts_with('\\'));
    match has_semicolon && !is_command {
        true if is_comment => format!("{bare}\n;\n"),
        true => format!("{bare};\n"),
        false => format!("{bare}\n"),
    }
}

/// What makes variables of the columns of the last statement's row.
fn saving(step: &Node) -> String {
    let saves = step.get("save").map_or(&[][..], Node::entries);
    let columns = saves.iter().filter_map(|entry| Some((slot(&entry.key), entry.value.text_of("column")?)));
    let sets: String = columns.map(|(slot, column)| format!("\\set {slot} :{COLUMN}{column}\n")).collect();
    if sets.is_empty() { sets } else { format!("\\gset {COLUMN}\n{sets}") }
}

fn saves(node: &Node, kind: &str, variables: &mut Variables, reading: &mut Reading<'_>) -> Vec<String> {
    let mut saves = Vec::new();
    for entry in node.get("save").map_or(&[][..], Node::entries) {
        if kind == "workload" || kind == "script" {
            let what = format!("`save` goes with `sql` and `transaction`, not with `{kind}`");
            reading.at(entry.key_at, what, "write \\gset into the script, or leave it out");
            continue;
        }
        for wrong in entry.value.entries().iter().filter(|entry| entry.key != "column") {
            let what = format!("a row has columns, and no `{}`", wrong.key);
            reading.at(wrong.key_at, what, format!("write {{ column: {} }}", entry.key));
        }
        if let Some(column) = entry.value.get("column") {
            let is_name = |text: &str| text.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_');
            if !column.text().is_some_and(is_name) {
                let way_out = "write SELECT … AS name, and that name here";
                reading.at(column.at, "the name of a column has letters, digits and _ here", way_out);
            }
        }
        if variables.save(entry, reading).is_some() {
            saves.push(entry.key.clone());
        }
    }
    saves
}

fn expects(node: &Node, reading: &mut Reading<'_>) -> Option<sql::Rows> {
    let expect = node.get("expect")?;
    for entry in expect.entries().iter().filter(|entry| entry.key != "rows") {
        let what = format!("`{}` is for replies of HTTP", entry.key);
        reading.at(entry.key_at, what, "write `rows: 1`, or leave it out");
    }
    form::rows(expect.text_of("rows")?).ok()
}

/// The rules of the command line read it, as for any other step.
fn think(text: &str) -> ThinkTime {
    let draft =
        Draft { url: super::loads::ANY_URL.to_owned(), think: Some(text.to_owned()), ..Draft::default() };
    match draft.check().map(|plan| plan.load) {
        Ok(load::Load::Closed(closed)) => closed.think_time,
        _ => ThinkTime::None,
    }
}

/// Names in braces as scripts know them.
fn with_slots(text: &str) -> String {
    let parts = pieces(text.as_bytes()).map(|piece| match piece {
        Piece::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Piece::Name(name) | Piece::Raw(name) => format!("{{{}}}", slot(name)),
    });
    parts.collect()
}

/// A variable of a plan as scripts know it: `people.name` is `people_name`.
pub(crate) fn slot(name: &str) -> String {
    name.replace(['.', '-'], "_")
}

/// The beginning of a statement, on one line.
fn shortened(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(NAME_LENGTH_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
