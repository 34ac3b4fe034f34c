//! Does a tree have the shape that the tables ask for? Every fault of spelling, of form and of kind is found here.

use super::findings::{Finding, Findings};
use super::keys::{Key, Kind, Table};
use super::near;
use super::span::Span;
use super::tree::{Entry, Node, Value};

/// Holds a whole plan against its table.
pub(crate) fn check(root: &Node, table: &Table, findings: &mut Findings) {
    Place { at: root.at, name: "a plan", example: "" }.in_table(root, table, findings);
}

/// Where a value stands, and what it is called.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// Where to point when the value itself, a list or a mapping, is long: at its key.
    at: Span,
    name: &'a str,
    /// Of its key; nothing for what is no key's value.
    example: &'a str,
}

impl Place<'_> {
    fn holds(self, node: &Node, kind: &Kind, findings: &mut Findings) {
        if node.is_nothing() && !matches!(kind, Kind::Optional(_) | Kind::Refused(..)) {
            let way_out = format!("{}, or leave it out", self.way_out(kind));
            findings.at(self.at, format!("{} has no value", self.name), way_out);
            return;
        }
        match (kind, &node.value) {
            (Kind::One(form), Value::Text(text)) => {
                if let Err(what) = (form.check)(&text.text) {
                    findings.at(node.at, what, format!("write {}", form.words));
                }
            }
            (Kind::Word(words), Value::Text(text)) => self.in_words(node, &text.text, words, findings),
            (Kind::Table(table), _) => self.in_table(node, table, findings),
            (Kind::List(item) | Kind::OneOrList(item), Value::List(items)) => {
                self.in_items(items, item, findings)
            }
            (Kind::OneOrList(item), _) if fits(node, item) => self.holds(node, item, findings),
            (Kind::Named(item), Value::Map(entries)) => self.in_named(entries, kind, item, findings),
            (Kind::Optional(inner), _) => {
                if !node.is_nothing() {
                    self.holds(node, inner, findings);
                }
            }
            (Kind::Either(kinds), _) => match kinds.iter().find(|kind| fits(node, kind)) {
                Some(kind) => self.holds(node, kind, findings),
                None => self.wrong_kind(node, kind, findings),
            },
            (Kind::Refused(what, way_out), _) => findings.at(self.at, *what, *way_out),
            _ => self.wrong_kind(node, kind, findings),
        }
    }

    fn in_items(self, items: &[Node], kind: &Kind, findings: &mut Findings) {
        if items.is_empty() {
            findings.at(self.at, format!("{} is an empty list", self.name), "write at least one item");
        }
        for item in items {
            let at = if item.is_nothing() { self.at } else { item.at };
            Place { at, name: &format!("an item of {}", self.name), example: "" }.holds(item, kind, findings);
        }
    }

    fn in_named(self, entries: &[Entry], kind: &Kind, item: &Kind, findings: &mut Findings) {
        if entries.is_empty() {
            findings.at(self.at, format!("{} is empty", self.name), self.way_out(kind));
        }
        for entry in entries {
            let name = format!("`{}`", shortened(&entry.key));
            Place { at: entry.key_at, name: &name, example: "" }.holds(&entry.value, item, findings);
        }
    }

    fn in_words(self, node: &Node, text: &str, words: &[&str], findings: &mut Findings) {
        if !words.contains(&text) {
            let what = format!("{} cannot be {:?}", self.name, shortened(text));
            findings.unknown(node.at, what, text, words.iter().copied(), "write one of");
        }
    }

    fn in_table(self, node: &Node, table: &Table, findings: &mut Findings) {
        let Value::Map(entries) = &node.value else {
            let what = format!("{} must be a mapping, not {}", self.name, kind_of(node));
            let at = self.start_of(node);
            findings.at(at, what, format!("write {}", table.example));
            return;
        };
        for entry in entries {
            match table.keys.iter().find(|key| key.name == entry.key) {
                Some(key) => {
                    let name = format!("`{}`", key.name);
                    let place = Place { at: entry.key_at, name: &name, example: key.example };
                    place.holds(&entry.value, &key.kind, findings);
                }
                None => unknown_key(&entry.key, entry.key_at, table, findings),
            }
        }
        for Key { name: missing, example, .. } in table.keys.iter().filter(|key| key.is_required) {
            // Under a typing error it is the typing error that is told.
            let is_meant = |entry: &Entry| {
                entry.key == *missing || near::nearest(&entry.key, table.names()) == Some(missing)
            };
            if !entries.iter().any(is_meant) {
                let at = entries.first().filter(|_| self.at == node.at).map_or(self.at, |entry| entry.key_at);
                findings.at(
                    at,
                    format!("{} lacks `{missing}`", self.name),
                    format!("add `{missing}: {example}`"),
                );
            }
        }
    }

    fn wrong_kind(self, node: &Node, kind: &Kind, findings: &mut Findings) {
        let what = format!("{} cannot be {}", self.name, kind_of(node));
        findings.at(self.start_of(node), what, self.way_out(kind));
    }

    /// What to write instead.
    fn way_out(self, kind: &Kind) -> String {
        match self.example {
            "" => format!("write {}", kind.words()),
            example => format!("write `{}: {example}`", self.name.trim_matches('`')),
        }
    }

    /// A single value is pointed at itself.
    fn start_of(self, node: &Node) -> Span {
        if matches!(node.value, Value::Text(_)) { node.at } else { self.at }
    }
}

fn unknown_key(key: &str, at: Span, table: &Table, findings: &mut Findings) {
    if key.is_empty() || key == "<<" || findings.is_full() {
        return;
    }
    let what = format!("{} has no key `{}`", table.called(), shortened(key));
    let elsewhere = super::tables::ALL.iter().find(|other| other.names().any(|name| name == key));
    match (near::nearest(key, table.names()), elsewhere) {
        (None, Some(other)) => findings.keep(Finding {
            at: Some(at),
            what,
            note: Some(format!("{} has one", other.called())),
            way_out: format!("move it, or write one of {}", near::listed(&table.names().collect::<Vec<_>>())),
        }),
        _ => findings.unknown(at, what, key, table.names(), "write one of"),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
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
