//! Does a tree have the shape that the tables ask for? Every fault of spelling, of form and of kind is found here.

use super::findings::{Finding, Findings};
use super::keys::{Key, Kind, Table};
use super::near;
use super::span::Span;
use super::tree::{Node, Value};

/// Holds a whole plan against its table.
pub(crate) fn check(root: &Node, table: &Table, findings: &mut Findings) {
    in_table(root, root.at, table, "a plan", findings);
}

/// `at` is where to point when the value itself has no good place: at its key.
fn in_kind(node: &Node, at: Span, kind: &Kind, name: &str, findings: &mut Findings) {
    if node.is_nothing() && !matches!(kind, Kind::Optional(_) | Kind::Refused(..)) {
        findings.at(at, format!("{name} has no value"), format!("write {}, or leave it out", kind.words()));
        return;
    }
    match kind {
        Kind::One(form) => match node.text() {
            Some(text) => {
                if let Err(what) = (form.check)(text) {
                    findings.at(node.at, what, format!("write {}", form.words));
                }
            }
            None => wrong_kind(node, at, kind, name, findings),
        },
        Kind::Word(words) => in_words(node, at, kind, words, name, findings),
        Kind::Table(table) => in_table(node, at, table, name, findings),
        Kind::List(item) => match &node.value {
            Value::List(items) => in_items(items, at, item, name, findings),
            _ => wrong_kind(node, at, kind, name, findings),
        },
        Kind::OneOrList(item) => match &node.value {
            Value::List(items) => in_items(items, at, item, name, findings),
            _ => in_kind(node, at, item, name, findings),
        },
        Kind::Named(item) => match &node.value {
            Value::Map(entries) => {
                if entries.is_empty() {
                    findings.at(at, format!("{name} is empty"), format!("write {}", kind.words()));
                }
                for entry in entries {
                    in_kind(&entry.value, entry.key_at, item, &format!("`{}`", entry.key), findings);
                }
            }
            _ => wrong_kind(node, at, kind, name, findings),
        },
        Kind::Optional(inner) => {
            if !node.is_nothing() {
                in_kind(node, at, inner, name, findings);
            }
        }
        Kind::Either(kinds) => match kinds.iter().find(|kind| fits(node, kind)) {
            Some(kind) => in_kind(node, at, kind, name, findings),
            None => wrong_kind(node, at, kind, name, findings),
        },
        Kind::Refused(what, way_out) => findings.at(at, *what, *way_out),
    }
}

fn in_items(items: &[Node], at: Span, kind: &Kind, name: &str, findings: &mut Findings) {
    if items.is_empty() {
        findings.at(at, format!("{name} is an empty list"), "write at least one item");
    }
    for item in items {
        in_kind(
            item,
            if item.is_nothing() { at } else { item.at },
            kind,
            &format!("an item of {name}"),
            findings,
        );
    }
}

fn in_words(node: &Node, at: Span, kind: &Kind, words: &[&str], name: &str, findings: &mut Findings) {
    match node.text() {
        None => wrong_kind(node, at, kind, name, findings),
        Some(text) if words.contains(&text) => {}
        Some(text) => {
            let what = format!("{name} cannot be {text:?}");
            findings.unknown(node.at, what, text, words.iter().copied(), "write one of");
        }
    }
}

fn in_table(node: &Node, at: Span, table: &Table, name: &str, findings: &mut Findings) {
    let Value::Map(entries) = &node.value else {
        findings.at(
            start_of(node, at),
            format!("{name} must be a mapping, not {}", kind_of(node)),
            format!("write {}", table.example),
        );
        return;
    };
    for entry in entries {
        match table.keys.iter().find(|key| key.name == entry.key) {
            Some(key) => in_kind(&entry.value, entry.key_at, &key.kind, &format!("`{}`", key.name), findings),
            None => unknown_key(&entry.key, entry.key_at, table, findings),
        }
    }
    for Key { name: missing, example, .. } in table.keys.iter().filter(|key| key.is_required) {
        if !entries.iter().any(|entry| entry.key == *missing) {
            // Under a typing error it is the typing error that is told.
            let is_near =
                entries.iter().any(|entry| near::nearest(&entry.key, table.names()) == Some(missing));
            if !is_near {
                findings.at(
                    first_of(node, at),
                    format!("{name} lacks `{missing}`"),
                    format!("add `{missing}: {example}`"),
                );
            }
        }
    }
}

fn unknown_key(key: &str, at: Span, table: &Table, findings: &mut Findings) {
    if key.is_empty() || key == "<<" {
        return;
    }
    let shown: String = key.chars().take(60).collect();
    let what = format!("{} has no key `{shown}`", table.called());
    let elsewhere = super::tables::ALL.iter().find(|other| other.names().any(|name| name == key));
    let nearest = near::nearest(key, table.names());
    match (nearest, elsewhere) {
        (None, Some(other)) if !std::ptr::eq(*other, table) => findings.keep(Finding {
            at: Some(at),
            what,
            note: Some(format!("{} has one", other.called())),
            way_out: format!("move it, or write one of {}", near::listed(&table.names().collect::<Vec<_>>())),
        }),
        _ => findings.unknown(at, what, key, table.names(), "write one of"),
    }
}

fn wrong_kind(node: &Node, at: Span, kind: &Kind, name: &str, findings: &mut Findings) {
    let what = format!("{name} cannot be {}", kind_of(node));
    findings.at(start_of(node, at), what, format!("write {}", kind.words()));
}

fn fits(node: &Node, kind: &Kind) -> bool {
    match kind {
        Kind::One(_) | Kind::Word(_) => matches!(node.value, Value::Text(_)),
        Kind::List(_) => matches!(node.value, Value::List(_)),
        Kind::Table(_) | Kind::Named(_) => matches!(node.value, Value::Map(_)),
        Kind::OneOrList(item) => matches!(node.value, Value::List(_)) || fits(node, item),
        Kind::Optional(kind) => fits(node, kind),
        Kind::Either(kinds) => kinds.iter().any(|kind| fits(node, kind)),
        Kind::Refused(..) => true,
    }
}

fn kind_of(node: &Node) -> &'static str {
    match node.value {
        Value::Text(_) => "a single value",
        Value::List(_) => "a list",
        Value::Map(_) => "a mapping",
    }
}

/// A single value is pointed at itself; a list or mapping, which may be long, at its key.
fn start_of(node: &Node, at: Span) -> Span {
    if matches!(node.value, Value::Text(_)) { node.at } else { at }
}

/// Where something is missing: at the first key of the mapping, or at the key that holds it if that is nearer by.
fn first_of(node: &Node, at: Span) -> Span {
    match node.entries().first() {
        Some(entry) if at == node.at => entry.key_at,
        _ => at,
    }
}
