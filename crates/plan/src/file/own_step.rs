//! Reads a step that its protocol owns, by the keys that the protocol lists. The step is in a plan file, or in the query of a URL.

use wire::Protocol;
use wire::braces::{self, Piece, pieces};
use wire::step::{
    self, Kind, ReplyKeys, SavedValue, Size, StepDefinition, StepValueError, Table, Text, Value, WrittenStep,
};

use super::reading::Reading;
use super::tree::{Entry, Node};
use super::variables::Variables;
use crate::plan::OwnedAction;
use crate::study::names_in;
use crate::units;

/// Keys about replies.
const REPLY_KEYS: [&str; 2] = [step::EXPECT, step::SAVE];

/// Key of a step that a protocol owns, and the protocol. `None` for other steps.
pub(crate) fn owner(step: &Node) -> Option<(&Entry, &'static Protocol)> {
    step.entries().iter().find_map(|entry| Some((entry, step::owner_of(&entry.key)?.0)))
}

/// Protocol that owns a step. `None` for other steps.
pub(crate) fn protocol(step: &Node) -> Option<&'static Protocol> {
    owner(step).map(|(_, protocol)| protocol)
}

/// Definition of the steps with this key next to their own. `None` if there are none.
fn further_owner(key: &str) -> Option<&'static StepDefinition> {
    step::with_extra_keys().find(|(_, further)| further.has(key)).map(|(steps, _)| steps)
}

/// Reads the step. Errors are added to the findings.
pub(crate) fn read(step: &Node, variables: &mut Variables, reading: &mut Reading<'_>) -> Option<OwnedAction> {
    let (entry, protocol) = owner(step)?;
    let own = protocol.own_steps()?;
    let key = own.key(&entry.key)?;
    forbid_further_keys(step, key.name, own, variables, reading);
    look_up_variables(&entry.value, &key.kind, variables, reading);
    let (expect, saves) = match &own.reply {
        Some(keys) => reply_rules(step, keys, own, variables, reading),
        None => (None, Vec::new()),
    };
    let read = |value: Value| {
        let (expect, saves) = (expect.as_ref(), saves.as_slice());
        (own.read)(&WrittenStep { key: key.name, value: &value, expect, saves })
    };
    let action = value(&entry.value, &key.kind, Braces::Variables)
        // The check of shapes reports a value of another kind.
        .and_then(|value| value.map(read).transpose());
    match action {
        Ok(step) => {
            let (protocol, step) = (Some(protocol), step?);
            Some(OwnedAction { protocol, step, host: String::new(), keep_alive: true })
        }
        Err(wrong) => {
            let at = error_place(step, &entry.value, &wrong).map_or(entry.key_at, |node| node.at);
            if !reading.findings.has_at(at) {
                reading.at(at, wrong.what, wrong.help);
            }
            None
        }
    }
}

/// Reports a key next to the step's own that applies to another protocol.
fn forbid_further_keys(
    step: &Node,
    key: &str,
    own: &StepDefinition,
    variables: &mut Variables,
    reading: &mut Reading<'_>,
) {
    let is_foreign = |other: &&Entry| {
        let other = other.key.as_str();
        let is_of_replies = own.reply.is_none() && REPLY_KEYS.contains(&other);
        further_owner(other).is_some() || is_of_replies
    };
    if let Some(other) = step.entries().iter().find(is_foreign) {
        let noun = further_owner(&other.key).map_or(step::requests().noun(), |steps| steps.noun);
        let what = format!("`{}` applies to {noun}, and the step is {}", other.key, own.noun);
        reading.at(other.key_at, what, format!("remove it; `{key}` says {}", own.says));
    }
    // Names in `save` still count as saved, so that later steps that use them are not reported.
    if own.reply.is_some() {
        return;
    }
    for saved in step.get("save").map_or(&[][..], Node::entries) {
        variables.save(saved, reading);
    }
}

/// Reads the checks and the saved values of a step.
fn reply_rules(
    step: &Node,
    keys: &ReplyKeys,
    own: &StepDefinition,
    variables: &mut Variables,
    reading: &mut Reading<'_>,
) -> (Option<Value>, Vec<SavedValue>) {
    let expect =
        step.get(step::EXPECT).and_then(|node| reply_rule(node, keys.expect, own, variables, reading));
    let mut saves = Vec::new();
    for entry in step.get(step::SAVE).map_or(&[][..], Node::entries) {
        let value = reply_rule(&entry.value, keys.save, own, variables, reading);
        // Later steps know the name even if its place in the reply has errors.
        let variable = variables.save(entry, reading);
        saves.extend(variable.zip(value).map(|(variable, value)| SavedValue {
            name: entry.key.clone(),
            variable,
            value,
        }));
    }
    (expect, saves)
}

/// Reads a table of the protocol, and rejects keys of other protocols in it.
fn reply_rule(
    node: &Node,
    table: &'static Table,
    own: &StepDefinition,
    variables: &mut Variables,
    reading: &mut Reading<'_>,
) -> Option<Value> {
    look_up_variables(node, &Kind::Table(table), variables, reading);
    forbid_reply_keys(
        node,
        own.noun,
        |key| table.keys.iter().any(|known| known.name == key),
        table.keys,
        reading,
    );
    match value(node, &Kind::Table(table), Braces::Variables) {
        Ok(value) => value,
        Err(wrong) => {
            let at = wrong.path.iter().try_fold(node, |node, key| node.get(key)).unwrap_or(node).at;
            if !reading.findings.has_at(at) {
                reading.at(at, wrong.what, wrong.help);
            }
            None
        }
    }
}

/// Reports keys in `expect` or `save` that apply to steps of other protocols.
fn forbid_reply_keys(
    node: &Node,
    noun: &str,
    is_known: impl Fn(&str) -> bool,
    known: &[step::Key],
    reading: &mut Reading<'_>,
) {
    for entry in node.entries().iter().filter(|entry| !is_known(&entry.key)) {
        if !reading.findings.has_at(entry.key_at) {
            let names: Vec<String> = known.iter().map(|key| format!("`{}`", key.name)).collect();
            let help = match names.is_empty() {
                true => "remove it".to_owned(),
                false => format!("remove it, or write one of {}", names.join(", ")),
            };
            reading.at(entry.key_at, format!("`{}` does not apply to {noun}", entry.key), help);
        }
    }
}

/// Reports keys in `expect` and `save` of a step that apply only to protocols with protocol-specific steps.
pub(crate) fn forbid_owned_reply_keys(step: &Node, noun: &str, reading: &mut Reading<'_>) {
    let owned = |table: fn(&ReplyKeys) -> &'static Table, key: &str| {
        let replies = step::owners().filter_map(|(_, own)| own.reply.as_ref());
        replies.flat_map(|reply| table(reply).keys).any(|known| known.name == key)
    };
    if let Some(expect) = step.get(step::EXPECT) {
        forbid_reply_keys(expect, noun, |key| !owned(|reply| reply.expect, key), &[], reading);
    }
    for saved in step.get(step::SAVE).map_or(&[][..], Node::entries) {
        forbid_reply_keys(&saved.value, noun, |key| !owned(|reply| reply.save, key), &[], reading);
    }
}

/// Place of an error in a value, or in the rules for replies. `None` if it is absent, or if it is a whole table.
fn error_place<'a>(step: &'a Node, node: &'a Node, wrong: &StepValueError) -> Option<&'a Node> {
    let is_of_reply = wrong.path.first().is_some_and(|first| REPLY_KEYS.contains(first));
    let node = if is_of_reply { step } else { node };
    let part = wrong.path.iter().try_fold(node, |node, key| node.get(key));
    part.filter(|_| !wrong.path.is_empty() || node.text().is_some())
}

/// Resolves the variables in every text, and rejects them in constant texts.
fn look_up_variables(node: &Node, kind: &Kind, variables: &mut Variables, reading: &mut Reading<'_>) {
    match kind {
        Kind::Json => {
            step::json::text(node, &mut |node, text| variables.resolve_names(node, text, reading));
        }
        Kind::Text => variables.resolve_names(node, node.text().unwrap_or_default(), reading),
        Kind::TextOrTexts => {
            let items = node.items().iter().filter_map(|item| Some((item, item.text()?)));
            items.for_each(|(item, text)| variables.resolve_names(item, text, reading));
        }
        Kind::Constant(noun) => {
            if let Some((name, start, end)) = names_in(node.text().unwrap_or_default()).next() {
                let at = node.part(reading.source, start, end);
                let help = format!("write the bytes themselves; {{{{{name}}}}} for literal braces");
                reading.at(at, format!("{noun} contains no value"), help);
            }
        }
        Kind::Table(table) => {
            for key in table.keys {
                if let Some(part) = node.get(key.name) {
                    look_up_variables(part, &key.kind, variables, reading);
                }
            }
        }
        Kind::List(item) => {
            node.items().iter().for_each(|node| look_up_variables(node, item, variables, reading));
        }
        Kind::TextOrTable(table) if node.text().is_none() => {
            look_up_variables(node, &Kind::Table(table), variables, reading);
        }
        Kind::TextOrTable(_) => look_up_variables(node, &Kind::Text, variables, reading),
        Kind::OneOrList(item) => {
            node.items().iter().for_each(|node| look_up_variables(node, item, variables, reading));
        }
        Kind::Named(item) => {
            node.entries().iter().for_each(|entry| look_up_variables(&entry.value, item, variables, reading));
        }
        Kind::Optional(of) | Kind::Required(of) => look_up_variables(node, of, variables, reading),
        Kind::Size { .. } | Kind::Count | Kind::Truth | Kind::Form(_) | Kind::Sizes | Kind::Any => {}
    }
}

/// Meaning of braces in a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Braces {
    /// Braces enclose names of variables.
    Variables,
    /// Braces are literal, as on the command line.
    Themselves,
}

/// Reads a value from the command line, where braces are literal. A value of another kind becomes an empty table.
pub(crate) fn flag_value(node: &Node, kind: &Kind) -> Result<Value, StepValueError> {
    Ok(value(node, kind, Braces::Themselves)?.unwrap_or_else(|| Value::Table(Vec::new())))
}

/// Reads a value of a kind. `None` if the value is of another kind.
fn value(node: &Node, kind: &Kind, braces: Braces) -> Result<Option<Value>, StepValueError> {
    Ok(match (kind, node.text()) {
        (Kind::Table(table), _) => Some(table_value(node, table, braces)?),
        (Kind::List(item) | Kind::OneOrList(item), _) => Some(list_value(node, item, braces)?),
        (Kind::TextOrTexts, None) => Some(list_value(node, &Kind::Text, braces)?),
        (Kind::TextOrTable(table), None) => Some(table_value(node, table, braces)?),
        (Kind::Named(item), _) => {
            let entries = node
                .entries()
                .iter()
                .map(|entry| Ok((entry.key.clone(), value(&entry.value, item, braces)?)));
            let entries = entries.collect::<Result<Vec<_>, _>>()?.into_iter();
            Some(Value::Named(entries.map(|(name, value)| (name, value.unwrap_or(Value::Nothing))).collect()))
        }
        (Kind::Json, None) => {
            let json = step::json::text(node, &mut |_, _| {});
            Some(Value::Text(Text { template: json.clone().into_bytes(), written: json }))
        }
        (Kind::Optional(of) | Kind::Required(of), _) => value(node, of, braces)?,
        (Kind::Any, _) => None,
        (_, None) => None,
        (
            Kind::Text | Kind::TextOrTexts | Kind::TextOrTable(_) | Kind::Json | Kind::Form(_) | Kind::Sizes,
            Some(text),
        ) => {
            let template = match braces {
                Braces::Variables => text.as_bytes().to_vec(),
                Braces::Themselves => braces::literal(text.as_bytes()),
            };
            Some(Value::Text(Text { written: text.to_owned(), template }))
        }
        (Kind::Constant(_), Some(text)) => Some(Value::Bytes(match braces {
            Braces::Variables => unescape(text),
            Braces::Themselves => text.as_bytes().to_vec(),
        })),
        (Kind::Size { min_bytes, max_bytes }, Some(text)) => {
            let bytes = size(text, *min_bytes, *max_bytes)?;
            Some(Value::Size(Size { written: text.to_owned(), bytes }))
        }
        (Kind::Count, Some(text)) => {
            let help = "write a whole number such as 100 or 10k";
            Some(Value::Count(units::count(text).map_err(|what| wrong(without_help(&what), help))?))
        }
        (Kind::Truth, Some(text)) => {
            let what = || format!("{text:?} is neither true nor false");
            Some(Value::Truth(text.parse().map_err(|_| wrong(&what(), "write true or false"))?))
        }
    })
}

fn list_value(node: &Node, item: &Kind, braces: Braces) -> Result<Value, StepValueError> {
    let items = node.items().iter().map(|node| value(node, item, braces));
    Ok(Value::List(items.filter_map(Result::transpose).collect::<Result<_, _>>()?))
}

fn table_value(node: &Node, table: &Table, braces: Braces) -> Result<Value, StepValueError> {
    for [first, second] in table.exclusive {
        if node.get(first).is_some() && node.get(second).is_some() {
            let what = format!("`{first}` and `{second}` exclude each other");
            return Err(StepValueError { path: vec![second], ..wrong(&what, "remove one of them") });
        }
    }
    let mut entries = Vec::new();
    for key in table.keys {
        let Some(part) = node.get(key.name) else { continue };
        let of_key = value(part, &key.kind, braces).map_err(|mut wrong| {
            wrong.path.insert(0, key.name);
            wrong
        })?;
        entries.extend(of_key.map(|value| (key.name, value)));
    }
    Ok(Value::Table(entries))
}

/// Returns a text whose braces are literal: `{{name}}` means `{name}`.
fn unescape(text: &str) -> Vec<u8> {
    let literal = pieces(text.as_bytes()).filter_map(|piece| match piece {
        Piece::Text(bytes) => Some(bytes),
        Piece::Name(_) | Piece::Raw(_) => None,
    });
    literal.collect::<Vec<_>>().concat()
}

fn size(text: &str, min_bytes: u64, max_bytes: u64) -> Result<u64, StepValueError> {
    let help = format!("write a size from {min_bytes} byte on, such as 4KiB or 1MiB");
    let bytes = units::size_bytes(text).map_err(|what| wrong(&what, &help))?;
    if !(min_bytes..=max_bytes).contains(&bytes) {
        return Err(wrong(&format!("{text} is not from {min_bytes} to {max_bytes} bytes"), &help));
    }
    Ok(bytes)
}

fn wrong(what: &str, help: &str) -> StepValueError {
    StepValueError { path: Vec::new(), what: what.to_owned(), help: help.to_owned() }
}

/// First part of an error, without the help that follows a semicolon.
fn without_help(what: &str) -> &str {
    what.split("; ").next().unwrap_or_default()
}
