//! Reads a step that is a transaction: its statements, the expected number of rows, and the saved columns.

use sql::script::variable_name;
use sql::workload;

use super::form;
use super::own_step;
use super::reading::Reading;
use super::step::ReadStep;
use super::tree::{Entry, Node};
use super::variables::Variables;
use crate::draft::Played;
use crate::plan::{Action, PlannedStep, SqlAction};
use crate::scripts::{SCRIPT_BYTES_MAX, style_named, styled};

pub(crate) const KINDS: [&str; 4] = ["sql", "transaction", "script", "workload"];
/// Max characters of the default name of a step: the beginning of its statement.
const NAME_LENGTH_MAX: usize = 60;
/// Prefix for the columns of a row, which no script of a plan uses. They are then copied to their own names.
const COLUMN: &str = "saved_column_";

/// Whether a step is a transaction.
pub(crate) fn is_one(node: &Node) -> bool {
    node.entries().iter().any(|entry| KINDS.contains(&entry.key.as_str()))
}

/// Reads a step. Errors are added to the findings. `number` is that of its script.
pub(crate) fn read(
    node: &Node,
    number: u16,
    variables: &mut Variables,
    reading: &mut Reading<'_>,
) -> Option<(ReadStep, Played)> {
    let requests = wire::step::requests().steps();
    let is_foreign = |entry: &&Entry| {
        let is_request = requests.is_some_and(|steps| steps.key(&entry.key).is_some());
        is_request || entry.key == "headers" || own_step::is_body(&entry.key)
    };
    let mut given = node.entries().iter().filter(|entry| KINDS.contains(&entry.key.as_str()));
    let first = given.next()?;
    for second in given.chain(node.entries().iter().filter(is_foreign)) {
        let what = format!("a step has one transaction, and this one has `{}`", first.key);
        reading.at(second.key_at, what, "remove it, or start a new step with `- `");
    }
    own_step::forbid_owned_reply_keys(node, "transactions", reading);
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
    let think = super::step::think(node);
    let weight = node.get("weight").and_then(|node| Some((form::weight(node.text()?).ok()?, node.at)));
    let step = PlannedStep { name, endpoint: 0, action };
    let name_at = named.map_or(first.value.at, |named| named.at);
    let has_own_name = named.is_some();
    Some((ReadStep { step, think, weight, name_at, has_own_name, authorization_at: None }, played))
}

fn built_in(node: &Node, name: Option<String>, reading: &mut Reading<'_>) -> Option<(String, Played)> {
    let text = node.text()?;
    let (base, style) = styled(text);
    if let Some(Err(help)) = style.map(style_named) {
        reading.at(node.at, format!("unknown style in {text}"), help);
        return None;
    }
    if let Some(mix) = workload::find_mix(base) {
        let steps =
            mix.parts.iter().map(|(name, weight)| format!("{{ workload: {name}, weight: {weight} }}"));
        let what = format!("{base} is a mix of {} workloads, and a step is one", mix.parts.len());
        let steps: Vec<String> = steps.collect();
        reading.at(node.at, what, format!("write the steps {}", steps.join(", ")));
        return None;
    }
    let Some(workload) = workload::find(base) else {
        let known = workload::WORKLOADS.iter().map(|workload| workload.name);
        let what = format!("unknown workload `{text}`");
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
        Err((what, help)) => {
            reading.at(node.at, what, help);
            return None;
        }
    };
    let Ok(text) = String::from_utf8(bytes) else {
        reading.at(node.at, format!("{path} is not UTF-8"), "save it as UTF-8");
        return None;
    };
    variables.use_in_script(node, &text, true, reading);
    let text = [text, saving(step)].concat();
    let name = name.unwrap_or_else(|| path.to_owned());
    Some((name.clone(), Played::Text { name, text: text.into_bytes() }))
}

/// Reads `sql` with one statement or several, or `transaction`.
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
            let help = "remove it, or use a `script` with its own BEGIN and COMMIT";
            reading.at(item.at, "`transaction` adds BEGIN and COMMIT itself", help);
        }
        texts.push(text.to_owned());
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

/// Ends a statement with a line break, and with a semicolon if `has_semicolon`.
fn ended(text: &str, has_semicolon: bool) -> String {
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
fn saving(step: &Node) -> String {
    let saves = step.get("save").map_or(&[][..], Node::entries);
    let columns =
        saves.iter().filter_map(|entry| Some((variable_name(&entry.key), entry.value.text_of("column")?)));
    let sets: String = columns.map(|(name, column)| format!("\\set {name} :{COLUMN}{column}\n")).collect();
    if sets.is_empty() { sets } else { format!("\\gset {COLUMN}\n{sets}") }
}

fn saves(node: &Node, kind: &str, variables: &mut Variables, reading: &mut Reading<'_>) -> Vec<String> {
    let mut saves = Vec::new();
    for entry in node.get("save").map_or(&[][..], Node::entries) {
        if kind == "workload" || kind == "script" {
            let what = format!("`save` requires `sql` or `transaction`, and this step has `{kind}`");
            reading.at(entry.key_at, what, "use \\gset in the script, or remove it");
            continue;
        }
        for wrong in entry.value.entries().iter().filter(|entry| entry.key != "column") {
            let what = format!(
                "`{}` applies to {} replies; a row has columns",
                wrong.key,
                wire::step::requests().noun()
            );
            reading.at(wrong.key_at, what, format!("write {{ column: {} }}", entry.key));
        }
        if let Some(column) = entry.value.get("column") {
            let is_name = |text: &str| text.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_');
            if !column.text().is_some_and(is_name) {
                let help = "rename the column with SELECT … AS name";
                reading.at(column.at, "the name of a saved column may contain letters, digits, and _", help);
            }
        }
        if variables.save(entry, reading).is_some() {
            saves.push(entry.key.clone());
        }
    }
    saves
}

fn expects(node: &Node, reading: &mut Reading<'_>) -> Option<sql::RowCount> {
    let expect = node.get("expect")?;
    for entry in expect.entries().iter().filter(|entry| entry.key != "rows") {
        let what = format!("`{}` applies to {} replies", entry.key, wire::step::requests().noun());
        reading.at(entry.key_at, what, "write `rows: 1`, or remove it");
    }
    form::rows(expect.text_of("rows")?).ok()
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
