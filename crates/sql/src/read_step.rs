//! Reads a step that is a transaction: its statements, the expected number of rows, and the saved columns.

use std::sync::Arc;

use wire::step::tree::{Entry, Node};
use wire::step::{self, ParsedStep, Reader};

use crate::keys::{is_step_key, rows};
use crate::script::variable_name;
use crate::settings::RowCount;
use crate::step::{ScriptSource, SqlStep};
use crate::workload::{self, find_style, styled};

/// Max bytes of a script.
pub const SCRIPT_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Max characters of the default name of a step: the beginning of its statement.
const NAME_LENGTH_MAX: usize = 60;
/// Prefix for the columns of a row, which no script of a plan uses. They are then copied to their own names.
const COLUMN: &str = "saved_column_";

/// Reads a step. Errors are reported to the reader.
pub fn read_step(node: &Node, reader: &mut dyn Reader) -> Option<ParsedStep> {
    let requests = step::requests().steps();
    let is_body = |key: &str| step::with_extra_keys().any(|(_, further)| further.bodies.contains(&key));
    let is_foreign = |entry: &&Entry| {
        let is_request = requests.is_some_and(|steps| steps.key(&entry.key).is_some());
        is_request || entry.key == "headers" || is_body(&entry.key)
    };
    let mut given = node.entries().iter().filter(|entry| is_step_key(&entry.key));
    let first = given.next()?;
    for second in given.chain(node.entries().iter().filter(is_foreign)) {
        let what = format!("a step has one transaction, and this one has `{}`", first.key);
        reader.report(second.key_at, what, "remove it, or start a new step with `- `".to_owned());
    }
    let name = node.text_of("name").map(str::to_owned);
    let (title, played) = match first.key.as_str() {
        "workload" => built_in(&first.value, name, reader)?,
        "script" => file(&first.value, name, node, reader)?,
        _ => statements(first, name, node, reader)?,
    };
    let saves = saves(node, &first.key, reader);
    let expects = expects(node, reader);
    let step = Arc::new(SqlStep { title, played, expects, saves });
    Some(ParsedStep { step, title_at: first.value.at, authorization_at: None })
}

fn built_in(node: &Node, name: Option<String>, reader: &mut dyn Reader) -> Option<(String, ScriptSource)> {
    let text = node.text()?;
    let (base, style) = styled(text);
    if let Some(Err(help)) = style.map(find_style) {
        reader.report(node.at, format!("unknown style in {text}"), help);
        return None;
    }
    if let Some(mix) = workload::find_mix(base) {
        let steps =
            mix.parts.iter().map(|(name, weight)| format!("{{ workload: {name}, weight: {weight} }}"));
        let what = format!("{base} is a mix of {} workloads, and a step is one", mix.parts.len());
        let steps: Vec<String> = steps.collect();
        reader.report(node.at, what, format!("write the steps {}", steps.join(", ")));
        return None;
    }
    let Some(workload) = workload::find(base) else {
        let known: Vec<&str> = workload::WORKLOADS.iter().map(|workload| workload.name).collect();
        reader.report_unknown(node.at, format!("unknown workload `{text}`"), text, &known);
        return None;
    };
    let whole = style.map_or_else(|| workload.name.to_owned(), |style| format!("{}:{style}", workload.name));
    Some((name.unwrap_or_else(|| whole.clone()), ScriptSource::Workload(whole)))
}

fn file(
    node: &Node,
    name: Option<String>,
    step: &Node,
    reader: &mut dyn Reader,
) -> Option<(String, ScriptSource)> {
    let path = node.text()?;
    let bytes = match reader.file(path, SCRIPT_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err((what, help)) => {
            reader.report(node.at, what, help);
            return None;
        }
    };
    let Ok(text) = String::from_utf8(bytes) else {
        reader.report(node.at, format!("{path} is not UTF-8"), "save it as UTF-8".to_owned());
        return None;
    };
    let text = reader.with_parameters(text);
    reader.resolve_names_in_script(node, &text, true);
    let text = [text, save_commands(step)].concat();
    let name = name.unwrap_or_else(|| path.to_owned());
    Some((name.clone(), ScriptSource::Text { name, text: text.into_bytes() }))
}

/// Reads `sql` with one statement or several, or `transaction`.
fn statements(
    entry: &Entry,
    name: Option<String>,
    step: &Node,
    reader: &mut dyn Reader,
) -> Option<(String, ScriptSource)> {
    let mut texts = Vec::new();
    for item in entry.value.items() {
        let text = item.text()?;
        reader.resolve_names_in_script(item, text, false);
        if entry.key == "transaction" && is_transaction_boundary(text) {
            let help = "remove it, or use a `script` with its own BEGIN and COMMIT";
            reader.report(item.at, "`transaction` adds BEGIN and COMMIT itself".to_owned(), help.to_owned());
        }
        texts.push(text.to_owned());
    }
    let first = entry.value.items().first().and_then(Node::text).unwrap_or_default();
    let count = texts.len();
    let terminated = texts.iter().enumerate().map(|(number, text)| {
        let save_commands = if number + 1 == count { save_commands(step) } else { String::new() };
        [&terminated(text, save_commands.is_empty()), save_commands.as_str()].concat()
    });
    let text: String = match entry.key.as_str() {
        "transaction" => {
            ["BEGIN;\n".to_owned()].into_iter().chain(terminated).chain(["COMMIT;\n".to_owned()]).collect()
        }
        _ => terminated.collect(),
    };
    let name = name.unwrap_or_else(|| shortened(first));
    Some((name.clone(), ScriptSource::Text { name, text: text.into_bytes() }))
}

/// Whether a statement begins or ends a transaction.
fn is_transaction_boundary(text: &str) -> bool {
    let end_of_word = |sign: char| sign.is_whitespace() || sign == ';';
    let word = text.trim_start().split(end_of_word).next().unwrap_or_default();
    ["begin", "start", "commit", "end"].iter().any(|edge| word.eq_ignore_ascii_case(edge))
}

/// Ends a statement with a line break, and with a semicolon if `has_semicolon`.
fn terminated(text: &str, has_semicolon: bool) -> String {
    let bare = text.trim_end().trim_end_matches(';').trim_end();
    // A semicolon after a comment would be part of the comment.
    let is_comment = bare.lines().last().is_some_and(|line| line.contains("--"));
    let is_command = bare.lines().last().is_some_and(|line| line.trim_start().starts_with('\\'));
    match has_semicolon && !is_command {
        true if is_comment => format!("{bare}\n;\n"),
        true => format!("{bare};\n"),
        false => format!("{bare}\n"),
    }
}

/// Script commands that save columns of the last statement's row as variables.
fn save_commands(step: &Node) -> String {
    let saves = step.get("save").map_or(&[][..], Node::entries);
    let columns =
        saves.iter().filter_map(|entry| Some((variable_name(&entry.key), entry.value.text_of("column")?)));
    let sets: String = columns.map(|(name, column)| format!("\\set {name} :{COLUMN}{column}\n")).collect();
    if sets.is_empty() { sets } else { format!("\\gset {COLUMN}\n{sets}") }
}

fn saves(node: &Node, kind: &str, reader: &mut dyn Reader) -> Vec<u16> {
    let mut saves = Vec::new();
    for entry in node.get("save").map_or(&[][..], Node::entries) {
        if kind == "workload" || kind == "script" {
            let what = format!("`save` requires `sql` or `transaction`, and this step has `{kind}`");
            reader.report(entry.key_at, what, "use \\gset in the script, or remove it".to_owned());
            continue;
        }
        for wrong in entry.value.entries().iter().filter(|entry| entry.key != "column") {
            let what =
                format!("`{}` applies to {} replies; a row has columns", wrong.key, step::requests().noun());
            reader.report(wrong.key_at, what, format!("write {{ column: {} }}", entry.key));
        }
        if let Some(column) = entry.value.get("column") {
            let is_name = |text: &str| text.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_');
            if !column.text().is_some_and(is_name) {
                let help = "rename the column with SELECT … AS name";
                let what = "the name of a saved column may contain letters, digits, and _";
                reader.report(column.at, what.to_owned(), help.to_owned());
            }
        }
        saves.extend(reader.save(entry));
    }
    saves
}

fn expects(node: &Node, reader: &mut dyn Reader) -> Option<RowCount> {
    let expect = node.get("expect")?;
    for entry in expect.entries().iter().filter(|entry| entry.key != "rows") {
        let what = format!("`{}` applies to {} replies", entry.key, step::requests().noun());
        reader.report(entry.key_at, what, "write `rows: 1`, or remove it".to_owned());
    }
    rows(expect.text_of("rows")?).ok()
}

/// Beginning of a statement, on one line.
fn shortened(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(NAME_LENGTH_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
