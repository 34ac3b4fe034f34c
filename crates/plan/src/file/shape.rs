//! Checks that a tree has the shape that the tables require. It finds all errors of spelling, form, and kind.

use super::findings::{Finding, Findings};
use super::form;
use super::keys::{Key, Table, ValueKind};
use super::near;
use super::span::Span;
use super::tables;
use super::tree::{Entry, Node, Value};
use crate::study::names_in;

/// Max characters of a text that a message repeats.
const SHOWN_MAX: usize = 60;

/// Checks a whole plan against its table. `parameters` are the names that may be used in braces.
pub(crate) fn check<'a>(
    root: &Node,
    table: &Table,
    parameters: impl Iterator<Item = &'a str>,
    findings: &mut Findings,
) {
    let parameters: Vec<&str> = parameters.collect();
    NamedValue { at: root.at, name: "the plan", example: "", parameters: &parameters }
        .check_table(root, table, findings);
}

/// A value with its place and name.
#[derive(Clone, Copy)]
struct NamedValue<'a> {
    /// Place for errors about a list or a mapping, which is too long to point at: its key.
    at: Span,
    name: &'a str,
    /// Example of its key. Empty if the value belongs to no key.
    example: &'a str,
    /// Names of parameters.
    parameters: &'a [&'a str],
}

impl NamedValue<'_> {
    fn check_kind(self, node: &Node, kind: &ValueKind, findings: &mut Findings) {
        if node.is_nothing() && !matches!(kind, ValueKind::Optional(_)) {
            let help = format!("{}, or remove it", self.help(kind));
            findings.at(self.at, format!("{} has no value", self.name), help);
            return;
        }
        match (kind, &node.value) {
            (ValueKind::One(form), Value::Text(text)) => {
                if let Err(what) = (form.check)(&text.text) {
                    if self.report_undefined(node, &text.text, findings) {
                        return;
                    }
                    // The help after the semicolon is replaced by one in the words of the key.
                    let what = what.split("; write ").next().unwrap_or_default().to_owned();
                    let repaired: Vec<String> =
                        form::repaired(form, &text.text).iter().map(|value| self.example_of(value)).collect();
                    let help =
                        if repaired.is_empty() { form.words.to_owned() } else { repaired.join(" or ") };
                    findings.at(node.at, what, format!("write {help}"));
                }
            }
            (ValueKind::Word(words), Value::Text(text)) => self.check_word(node, &text.text, words, findings),
            (ValueKind::WordOr(words, form), Value::Text(text)) => match (form.check)(&text.text) {
                Ok(()) => {}
                Err(what) => match what.split_once("; write ") {
                    Some((what, help)) => findings.at(node.at, what, format!("write {help}")),
                    None => self.check_word(node, &text.text, words, findings),
                },
            },
            (ValueKind::Table(table), _) => self.check_table(node, table, findings),
            (ValueKind::Derived(table), _) => self.check_table(node, table, findings),
            (ValueKind::List(item) | ValueKind::OneOrList(item), Value::List(items)) => {
                self.check_items(items, item, findings)
            }
            (ValueKind::OneOrList(item), _) if fits(node, item) => self.check_kind(node, item, findings),
            (ValueKind::Named(item), Value::Map(entries)) => self.check_named(entries, kind, item, findings),
            (ValueKind::Optional(inner), _) => {
                if !node.is_nothing() {
                    self.check_kind(node, inner, findings);
                }
            }
            (ValueKind::Any, _) => {}
            (ValueKind::Either(kinds), _) => match kinds.iter().find(|kind| fits(node, kind)) {
                Some(kind) => self.check_kind(node, kind, findings),
                None => self.report_wrong_kind(node, kind, findings),
            },
            _ => self.report_wrong_kind(node, kind, findings),
        }
    }

    /// Reports undefined parameters in a value that cannot have braces. Returns whether it has any.
    fn report_undefined(self, node: &Node, text: &str, findings: &mut Findings) -> bool {
        let Some((name, ..)) = names_in(text).next() else { return false };
        let (what, listed_as) =
            (format!("undefined parameter {{{name}}}"), "define it under `vary`, or write one of");
        let known: Vec<String> = self.parameters.iter().map(|name| format!("{{{name}}}")).collect();
        match known.is_empty() {
            true => {
                findings.at(node.at, what, format!("define it under `vary`: `vary: {{ {name}: [ … ] }}`"))
            }
            false => {
                let known = known.iter().map(String::as_str);
                findings.unknown(node.at, what, &format!("{{{name}}}"), known, listed_as);
            }
        }
        true
    }

    fn check_items(self, items: &[Node], kind: &ValueKind, findings: &mut Findings) {
        if items.is_empty() {
            findings.at(self.at, format!("{} is an empty list", self.name), "add at least one item");
        }
        for item in items {
            let at = if item.is_nothing() { self.at } else { item.at };
            NamedValue {
                at,
                name: &format!("an item of {}", self.name),
                example: "",
                parameters: self.parameters,
            }
            .check_kind(item, kind, findings);
        }
    }

    fn check_named(self, entries: &[Entry], kind: &ValueKind, item: &ValueKind, findings: &mut Findings) {
        if entries.is_empty() {
            findings.at(self.at, format!("{} is empty", self.name), self.help(kind));
        }
        for entry in entries {
            let name = format!("`{}`", shortened(&entry.key));
            NamedValue { at: entry.key_at, name: &name, example: "", parameters: self.parameters }
                .check_kind(&entry.value, item, findings);
        }
    }

    fn check_word(self, node: &Node, text: &str, words: &[&str], findings: &mut Findings) {
        if !words.contains(&text) && !self.report_undefined(node, text, findings) {
            let what = format!("unknown value {:?} for {}", shortened(text), self.name);
            findings.unknown(node.at, what, text, words.iter().copied(), "write one of");
        }
    }

    fn check_table(self, node: &Node, table: &Table, findings: &mut Findings) {
        let Value::Map(entries) = &node.value else {
            let what = format!("{} must be a mapping, not {}", self.name, kind_of(node));
            let at = self.error_span(node);
            findings.at(at, what, format!("write {}", table.example));
            return;
        };
        for entry in entries {
            match table.keys.iter().find(|key| key.name == entry.key) {
                Some(key) => {
                    let name = format!("`{}`", key.name);
                    let place = NamedValue {
                        at: entry.key_at,
                        name: &name,
                        example: key.example,
                        parameters: self.parameters,
                    };
                    place.check_kind(&entry.value, &key.kind, findings);
                }
                None => report_unknown_key(entry, table, findings),
            }
        }
        for Key { name: missing, example, .. } in table.keys.iter().filter(|key| key.is_required) {
            // A misspelled key counts as present, because its spelling is already reported.
            let is_meant = |entry: &Entry| {
                entry.key == *missing || near::nearest(&entry.key, table.names()) == Some(missing)
            };
            if !entries.iter().any(is_meant) {
                let at = entries.first().filter(|_| self.at == node.at).map_or(self.at, |entry| entry.key_at);
                findings.at(
                    at,
                    format!("{} requires `{missing}`", self.name),
                    format!("add `{missing}: {example}`"),
                );
            }
        }
    }

    fn report_wrong_kind(self, node: &Node, kind: &ValueKind, findings: &mut Findings) {
        if let [Entry { key, value, .. }] = node.entries()
            && value.is_nothing()
            && self.parameters.contains(&key.as_str())
        {
            let what = format!("{{{key}}} without quotes is a mapping");
            findings.at(node.at, what, format!("write \"{{{key}}}\""));
            return;
        }
        let what = format!("{} cannot be {}", self.name, kind_of(node));
        findings.at(self.error_span(node), what, self.help(kind));
    }

    /// Help for the error.
    fn help(self, kind: &ValueKind) -> String {
        match self.example {
            "" => format!("write {}", kind.words()),
            example => format!("write {}", self.example_of(example)),
        }
    }

    /// Key with a value, or only the value if there is no key.
    fn example_of(self, value: &str) -> String {
        match self.example {
            "" => format!("`{value}`"),
            _ => format!("`{}: {value}`", self.name.trim_matches('`')),
        }
    }

    /// Place for an error: a single value itself, otherwise the key.
    fn error_span(self, node: &Node) -> Span {
        if matches!(node.value, Value::Text(_)) { node.at } else { self.at }
    }
}

fn report_unknown_key(entry: &Entry, table: &Table, findings: &mut Findings) {
    let (key, at) = (entry.key.as_str(), entry.key_at);
    if key.is_empty() || key == "<<" || findings.is_full() {
        return;
    }
    let what = format!("unknown key `{}` in {}", shortened(key), table.display_name());
    let elsewhere = || {
        let all = || super::tables::all().iter().map(|other| (other, other.names().collect::<Vec<_>>()));
        let named = all().find_map(|(other, names)| Some((*names.iter().find(|name| **name == key)?, other)));
        named.or_else(|| all().find_map(|(other, names)| Some((near::synonym(key, &names)?, other))))
    };
    match (near::nearest(key, table.names()), elsewhere()) {
        (None, Some((name, other))) => findings.keep(Finding {
            at: Some(at),
            what,
            note: Some(format!("`{name}` is a key of {}", other.display_name())),
            help: {
                let renamed = if name == key { String::new() } else { format!(" as `{name}`") };
                let names = near::listed(&table.names().collect::<Vec<_>>());
                // Commands and statements run without a load, to which steps belong.
                let place = match (table.name, other.name) == (tables::STATEMENTS.name, "step") {
                    true => "a step of `setup` or `teardown`".to_owned(),
                    false => other.display_name(),
                };
                format!("move it into {place}{renamed}, or write one of {names}")
            },
        }),
        (Some(near), _) => findings.keep(Finding {
            at: Some(at),
            what,
            note: Some(format!("did you mean `{near}`?")),
            help: format!("write `{}`", corrected_pair(near, entry, table)),
        }),
        (None, None) => findings.unknown(at, what, key, table.names(), "write one of"),
    }
}

/// Key with the given value, corrected if necessary: `for: 10s`. Only the key if no correction fits.
fn corrected_pair(name: &str, entry: &Entry, table: &Table) -> String {
    let key = table.keys.iter().find(|key| key.name == name);
    let kind = key.map(|key| match &key.kind {
        ValueKind::OneOrList(item) => item,
        kind => kind,
    });
    let value = match (kind, entry.value.text()) {
        (Some(ValueKind::One(form)), Some(text)) if (form.check)(text).is_ok() => Some(text.to_owned()),
        (Some(ValueKind::One(form)), Some(text)) => form::repaired(form, text).into_iter().next(),
        _ => None,
    };
    let value = value.filter(|value| value.len() <= SHOWN_MAX && !value.contains('\n'));
    value.map_or_else(|| name.to_owned(), |value| format!("{name}: {value}"))
}

fn shortened(text: &str) -> String {
    text.chars().take(SHOWN_MAX).collect()
}

pub(crate) fn fits(node: &Node, kind: &ValueKind) -> bool {
    match kind {
        ValueKind::One(_) | ValueKind::Word(_) | ValueKind::WordOr(..) => {
            matches!(node.value, Value::Text(_))
        }
        ValueKind::List(_) => matches!(node.value, Value::List(_)),
        ValueKind::Table(_) | ValueKind::Derived(_) | ValueKind::Named(_) => {
            matches!(node.value, Value::Map(_))
        }
        ValueKind::OneOrList(item) => matches!(node.value, Value::List(_)) || fits(node, item),
        ValueKind::Optional(kind) => fits(node, kind),
        ValueKind::Any => true,
        ValueKind::Either(kinds) => kinds.iter().any(|kind| fits(node, kind)),
    }
}

fn kind_of(node: &Node) -> &'static str {
    match node.value {
        Value::Text(_) => "a single value",
        Value::List(_) => "a list",
        Value::Map(_) => "a mapping",
    }
}
