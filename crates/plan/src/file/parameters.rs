//! Fills the values of parameters into the tree of a plan before it is read, so that every key may use parameters.
//!
//! Texts of systems are skipped if their variables are filled in when a system starts: they may name ports and folders as well, and
//! experiments change their parameters. Values of systems that are a number, a word, or a size are filled in here.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::findings::Finding;
use super::keys::{Table, ValueKind};
use super::reading::Reading;
use super::span::Span;
use super::tables;
use super::tree::{Entry, Node, Text, Value};
use crate::study::{Knob, System, Variant, names_in};

/// Keys of a plan whose texts are never filled in. Texts of `endpoints` and `systems` are filled in when a system starts.
const UNFILLED_KEYS: [&str; 13] = [
    "question",
    "seed",
    "vary",
    "only",
    "except",
    "quick",
    "compare",
    "pin",
    "hosts",
    "diagnose",
    "systems",
    "figures",
    "endpoints",
];
/// Keys of a load that are skipped. The command of a tool is filled in when it starts.
const UNFILLED_LOAD_KEYS: [&str; 2] = ["name", "tool"];

/// Parameters while a plan is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parameters {
    /// Names of all parameters, of the plan and of all systems.
    names: BTreeSet<String>,
    /// Names that steps define themselves, which take precedence over parameters.
    defined: BTreeSet<String>,
    /// Values of the parameters of the setting that is read.
    values: BTreeMap<String, String>,
    /// Whether the values of a variant are being filled in.
    is_filled: bool,
    /// Names of the parameters that any text outside of systems has, or any value of a system that is not a text.
    used: BTreeSet<String>,
    /// Names in texts that are filled in later: in figures, and in commands of tools.
    in_later_texts: BTreeSet<String>,
    /// Texts that were filled in, with their parameters.
    places: Vec<(Span, String)>,
}

impl Parameters {
    /// Parameters that a plan defines, without their values.
    pub(crate) fn of(root: &Node) -> Self {
        let systems = root.get("systems").map_or(&[][..], Node::entries);
        let all = std::iter::once(root).chain(systems.iter().map(|system| &system.value));
        let names = all.filter_map(|node| node.get("vary")).flat_map(Node::entries);
        let names = names.map(|entry| entry.key.clone()).collect();
        Self { names, defined: defined(root), ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Names of all parameters.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Whether a name is a parameter only of other systems. `None` if no configuration is read.
    pub(crate) fn is_elsewhere(&self, name: &str) -> Option<bool> {
        let is_one =
            self.names.contains(name) && !self.values.contains_key(name) && !self.defined.contains(name);
        (!is_one || self.is_filled).then_some(is_one)
    }

    /// Whether a parameter occurs in a text that is filled in here, in a figure, or in the command of a tool.
    pub(crate) fn is_used(&self, name: &str) -> bool {
        self.used.contains(name) || self.in_later_texts.contains(name)
    }

    /// Notes names in texts that are filled in later.
    pub(crate) fn mark_later_names<'t>(&mut self, names: impl Iterator<Item = &'t str>) {
        self.in_later_texts.extend(names.map(str::to_owned));
    }

    /// Notes names in the texts below a node that are filled in later.
    fn mark_later_texts(&mut self, node: &Node) {
        match &node.value {
            Value::Text(text) => self.mark_later_names(names_in(&text.text).map(|(name, ..)| name)),
            Value::List(items) => items.iter().for_each(|item| self.mark_later_texts(item)),
            Value::Map(_) => {}
        }
    }

    /// Whether any parameter occurs in a text that is filled in here.
    pub(crate) fn has_used(&self) -> bool {
        !self.used.is_empty()
    }

    /// Number of parameters that stand anywhere that is filled in here.
    pub(crate) fn used_count(&self) -> usize {
        self.used.len()
    }

    /// Values of a variant that make its configuration differ from others, with the index of its system.
    pub(crate) fn key(&self, variant: &Variant) -> (usize, Vec<String>) {
        let values = variant.knobs.iter().filter(|(name, _)| self.used.contains(name));
        (variant.system, values.map(|(_, value)| value.clone()).collect())
    }

    /// Fills the values of one variant into the tree of a plan. Other systems get the values of their first variants.
    pub(crate) fn fill(&mut self, root: &Node, variants: &[Variant], variant: &Variant) -> Node {
        self.places.clear();
        self.is_filled = true;
        let knobs = variant.knobs.iter();
        self.values = knobs.filter(|(name, _)| !self.defined.contains(name)).cloned().collect();
        let Value::Map(entries) = &root.value else { return root.clone() };
        let has_systems = root.entry("systems").is_some();
        let filled = entries.iter().map(|entry| {
            let value = match entry.key.as_str() {
                "load" => self.fill_loads(&entry.value),
                "systems" => self.fill_systems(&entry.value, variants, variant),
                "endpoints" if !has_systems => self.fill_node(&entry.value),
                "endpoints" => self.fill_kind(&entry.value, &tables::ENDPOINTS.kind),
                key if UNFILLED_KEYS.contains(&key) => entry.value.clone(),
                _ => self.fill_node(&entry.value),
            };
            Entry { value, ..entry.clone() }
        });
        Node { at: root.at, value: Value::Map(filled.collect()) }
    }

    /// Text of a file that a step names, with the values of the setting.
    pub(crate) fn fill_file<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        self.filled(text).map_or(Cow::Borrowed(text), |(text, _)| Cow::Owned(text))
    }

    /// Adds to errors about texts that were filled in which values they have.
    pub(crate) fn annotate(&self, findings: &mut [Finding]) {
        for finding in findings {
            let is_in = |(place, _): &&(Span, String)| {
                finding.at.is_some_and(|at| place.start <= at.start && at.end <= place.end)
            };
            let Some((_, values)) = self.places.iter().find(is_in) else { continue };
            let note = finding.note.take().map_or(String::new(), |note| format!("{note} "));
            finding.note = Some(format!("{note}with {values}"));
        }
    }

    fn fill_loads(&mut self, node: &Node) -> Node {
        let mut fill = |node: &Node| match &node.value {
            Value::Map(entries) => {
                let filled =
                    entries.iter().map(|entry| match UNFILLED_LOAD_KEYS.contains(&entry.key.as_str()) {
                        true => {
                            self.mark_later_texts(&entry.value);
                            entry.clone()
                        }
                        false => Entry { value: self.fill_node(&entry.value), ..entry.clone() },
                    });
                Node { at: node.at, value: Value::Map(filled.collect()) }
            }
            _ => node.clone(),
        };
        match &node.value {
            Value::List(items) => Node { at: node.at, value: Value::List(items.iter().map(fill).collect()) },
            _ => fill(node),
        }
    }

    /// Fills every system in with its own values.
    fn fill_systems(&mut self, node: &Node, variants: &[Variant], of: &Variant) -> Node {
        let Value::Map(entries) = &node.value else { return node.clone() };
        let usual = self.values.clone();
        let mut filled = Vec::with_capacity(entries.len());
        for (number, entry) in entries.iter().enumerate() {
            let own = variants.iter().find(|variant| variant.system == number);
            let own = if of.system == number { Some(of) } else { own };
            self.values = own.map(|variant| variant.knobs.iter().cloned().collect()).unwrap_or_default();
            filled.push(Entry { value: self.fill_table(&entry.value, &tables::SYSTEM), ..entry.clone() });
        }
        self.values = usual;
        Node { at: node.at, value: Value::Map(filled) }
    }

    fn fill_table(&mut self, node: &Node, table: &Table) -> Node {
        let Value::Map(entries) = &node.value else { return node.clone() };
        let filled = entries.iter().map(|entry| {
            let key = table.keys.iter().find(|key| key.name == entry.key);
            let value = match key {
                // Statements and generators are read by the key itself.
                Some(key) if key.name == "prepare" => self.fill_node(&entry.value),
                Some(key) => self.fill_kind(&entry.value, &key.kind),
                None => entry.value.clone(),
            };
            Entry { value, ..entry.clone() }
        });
        Node { at: node.at, value: Value::Map(filled.collect()) }
    }

    /// Fills in values that are not texts, and cannot be filled in later.
    fn fill_kind(&mut self, node: &Node, kind: &ValueKind) -> Node {
        match (kind, &node.value) {
            (ValueKind::Table(table), _) => self.fill_table(node, table),
            (ValueKind::Derived(table), _) => self.fill_table(node, table),
            (ValueKind::One(form), Value::Text(text)) if (form.check)(&text.text).is_err() => {
                self.fill_node(node)
            }
            (ValueKind::Word(words), Value::Text(text)) if !words.contains(&text.text.as_str()) => {
                self.fill_node(node)
            }
            (ValueKind::WordOr(words, form), Value::Text(text))
                if !words.contains(&text.text.as_str()) && (form.check)(&text.text).is_err() =>
            {
                self.fill_node(node)
            }
            (ValueKind::List(item) | ValueKind::OneOrList(item), Value::List(items)) => {
                let items = items.iter().map(|node| self.fill_kind(node, item)).collect();
                Node { at: node.at, value: Value::List(items) }
            }
            (ValueKind::OneOrList(item) | ValueKind::Optional(item), _) => self.fill_kind(node, item),
            (ValueKind::Named(item), Value::Map(entries)) => {
                let fill =
                    |entry: &Entry| Entry { value: self.fill_kind(&entry.value, item), ..entry.clone() };
                Node { at: node.at, value: Value::Map(entries.iter().map(fill).collect()) }
            }
            (ValueKind::Either(kinds), _) => {
                let is_same = |kind: &&ValueKind| super::shape::fits(node, kind);
                kinds.iter().find(is_same).map_or_else(|| node.clone(), |kind| self.fill_kind(node, kind))
            }
            _ => node.clone(),
        }
    }

    /// Fills in all texts below a node.
    fn fill_node(&mut self, node: &Node) -> Node {
        let value = match &node.value {
            Value::Text(text) => match self.filled(&text.text) {
                None => return node.clone(),
                Some((filled, values)) => {
                    self.places.push((node.at, values));
                    Value::Text(Text { text: filled, is_plain: text.is_plain })
                }
            },
            Value::List(items) => Value::List(items.iter().map(|item| self.fill_node(item)).collect()),
            Value::Map(entries) => {
                let fill = |entry: &Entry| Entry { value: self.fill_node(&entry.value), ..entry.clone() };
                Value::Map(entries.iter().map(fill).collect())
            }
        };
        Node { at: node.at, value }
    }

    /// Text with filled-in values, and these values. `None` if the text has no parameter.
    fn filled(&mut self, text: &str) -> Option<(String, String)> {
        let (mut filled, mut values, mut done) = (String::new(), BTreeSet::new(), 0);
        for (name, start, end) in names_in(text) {
            let Some(value) = self.values.get(name) else { continue };
            filled.push_str(&text[done..start]);
            filled.push_str(value);
            values.insert(format!("{name}={value}"));
            self.used.insert(name.to_owned());
            done = end;
        }
        (!values.is_empty()).then(|| {
            filled.push_str(&text[done..]);
            (filled, values.into_iter().collect::<Vec<_>>().join(" "))
        })
    }
}

/// Reports parameters of the plan that steps define as well, and unused ones if `has_unused` is true.
pub(crate) fn check(root: &Node, systems: &[System], has_unused: bool, reading: &mut Reading<'_>) {
    for entry in root.get("vary").map_or(&[][..], Node::entries) {
        let name = entry.key.as_str();
        if reading.parameters.defined.contains(name) {
            let what = format!("`{name}` is a value of steps as well, under `data`, `save`, or `variables`");
            reading.at(entry.key_at, what, "choose another name for the parameter");
            continue;
        }
        let is_used = |system: &System| system.texts().flat_map(|text| text.names()).any(|used| used == name);
        if has_unused && !reading.parameters.is_used(name) && !systems.iter().any(is_used) {
            let what = format!("unused parameter `{name}`: all its variants are the same");
            let help = format!("use \"{{{name}}}\" in the scenario, the load, or a text of a system");
            reading.at(entry.key_at, what, help);
        }
    }
}

/// Names of the parameters that every system has.
pub(crate) fn common_parameters(root: &Node) -> Vec<String> {
    let names = |node: &Node| -> Vec<String> {
        node.get("vary").map_or(&[][..], Node::entries).iter().map(|entry| entry.key.clone()).collect()
    };
    let systems = root.get("systems").map_or(&[][..], Node::entries);
    let mut shared = systems.first().map_or_else(Vec::new, |system| names(&system.value));
    shared.retain(|name| systems.iter().all(|system| names(&system.value).contains(name)));
    [names(root), shared].concat()
}

/// Parameters that a system defines itself.
pub(crate) fn own<'a>(root: &'a Node, knobs: &'a [Knob]) -> impl Iterator<Item = &'a Knob> {
    let shared = root.get("vary").map_or(&[][..], Node::entries);
    knobs.iter().filter(|knob| shared.iter().all(|entry| entry.key != knob.name))
}

/// Names that `data`, `save`, and `variables` of `sql` define.
fn defined(root: &Node) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let variables = root.get("sql").and_then(|sql| sql.get("variables"));
    for node in [root.get("data"), variables].into_iter().flatten() {
        names.extend(node.entries().iter().map(|entry| entry.key.clone()));
    }
    for key in ["scenario", "scenarios", "setup", "teardown"] {
        root.get(key).into_iter().for_each(|node| collect_saved(node, &mut names));
    }
    names
}

fn collect_saved(node: &Node, names: &mut BTreeSet<String>) {
    if let Value::List(items) = &node.value {
        items.iter().for_each(|item| collect_saved(item, names));
    }
    for entry in node.entries() {
        if entry.key == "save" {
            names.extend(entry.value.entries().iter().map(|entry| entry.key.clone()));
        }
        collect_saved(&entry.value, names);
    }
}
