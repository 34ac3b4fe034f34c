//! Resolves names in the texts of steps: values from data, and values saved by earlier steps.

use std::collections::{BTreeMap, BTreeSet};

use sql::script::{self, DefinedVariables, Language, PREDEFINED_VARIABLES, Read, ReadForm, variable_name};
use wire::braces::{Piece, pieces};

use super::built_in;
use super::data::{self, DataText, Meaning};
use super::reading::Reading;
use super::secret;
use super::span::{Span, line_at};
use super::tree::{Entry, Node};
use crate::study::{is_name, names_in};

/// Max number of variables of a plan.
const VARIABLES_MAX: usize = 1_000;
/// Max number of names in braces, over all texts.
const USES_MAX: usize = 100_000;

/// All variables of a plan's steps.
pub(crate) struct Variables {
    names: Vec<String>,
    pub(crate) data: Vec<DataText>,
    /// Names that any step saves, each with its first place.
    saved: BTreeMap<String, Span>,
    used: BTreeSet<String>,
    /// Names saved by earlier steps of the iteration.
    at_hand: BTreeSet<String>,
    /// Names saved by `setup`, for all users.
    handed_on: BTreeSet<String>,
    /// Whether each iteration has only one step.
    is_mix: bool,
    uses: usize,
    /// Variables of all scripts: the ones that `sql` defines, and the ones of the workloads in use.
    of_scripts: BTreeSet<String>,
    /// Variables that the scripts of this scenario have set so far.
    given: DefinedVariables,
}

impl Variables {
    /// `saves` are the sections `save` of all steps. `of_scripts` are the variables of scripts, in addition to the variables of steps.
    pub(crate) fn new<'a>(
        data: Vec<DataText>,
        saves: impl Iterator<Item = &'a Node>,
        of_scripts: BTreeSet<String>,
    ) -> Self {
        let mut saved = BTreeMap::new();
        for entry in saves.flat_map(Node::entries) {
            saved.entry(entry.key.clone()).or_insert(entry.key_at);
        }
        let (used, at_hand, handed_on) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        Self {
            names: Vec::new(),
            data,
            saved,
            used,
            at_hand,
            handed_on,
            is_mix: false,
            uses: 0,
            of_scripts,
            given: DefinedVariables::default(),
        }
    }

    /// Names, in the order of their numbers.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether there are too many names to check.
    pub(crate) fn has_too_many_names(&self) -> bool {
        self.uses > USES_MAX
    }

    /// Begins a scenario, in which only values saved by `setup` are available.
    pub(crate) fn begin(&mut self, is_mix: bool) {
        self.at_hand.clone_from(&self.handed_on);
        self.given = DefinedVariables::default();
        self.is_mix = is_mix;
    }

    /// Makes all values saved so far available to all users.
    pub(crate) fn share_saved(&mut self) {
        self.handed_on.clone_from(&self.at_hand);
    }

    /// Whether all saved values that a text uses are already saved at this step.
    pub(crate) fn are_values_saved(&self, text: &str) -> bool {
        names_in(text).all(|(name, ..)| !self.saved.contains_key(name) || self.at_hand.contains(name))
    }

    /// Resolves the names in a text.
    pub(crate) fn resolve_names(&mut self, node: &Node, text: &str, reading: &mut Reading<'_>) {
        for (name, start, end) in names_in(text) {
            self.look_up(name, |source| node.part(source, start, end), String::new, reading);
        }
    }

    /// Resolves the names that a script reads: `{name}` and `:name`. `is_file` means that the text is in another file.
    pub(crate) fn resolve_names_in_script(
        &mut self,
        node: &Node,
        text: &str,
        is_file: bool,
        reading: &mut Reading<'_>,
    ) {
        if names_in(text).any(|(name, ..)| secret::is_secret_name(name)) {
            let what = "a statement contains no secret: servers log statements";
            reading.at(node.at, what, "use the secret in a request, or in `env` of the system");
        }
        for read in script::reads(text, Language::Extended, &mut self.given) {
            let start = read.range.start;
            let place = || match is_file {
                true => format!("line {} of the file: ", line_at(text, start).number),
                false => String::new(),
            };
            let part = read.range.clone();
            let at = |source: &str| if is_file { node.at } else { node.part(source, part.start, part.end) };
            match read.form {
                ReadForm::Braces if read.is_given => {}
                ReadForm::Braces => self.look_up(&read.name, at, place, reading),
                ReadForm::Value | ReadForm::Slice => self.look_up_value(&read, at, place, reading),
                ReadForm::Quoted => {
                    let names = self.names_in_plan(&read.name);
                    names.iter().for_each(|name| {
                        self.used.insert(name.clone());
                    });
                    if read.is_given || !names.is_empty() {
                        let Read { name, .. } = &read;
                        let what = format!("{}':{name}' is a text, and no value", place());
                        let help = format!("write :{name} without quotes, or '{{{name}}}' with them");
                        reading.at(at(reading.source), what, help);
                    }
                }
            }
        }
    }

    /// Resolves `:name`.
    fn look_up_value(
        &mut self,
        read: &Read,
        at: impl Fn(&str) -> Span,
        place: impl Fn() -> String,
        reading: &mut Reading<'_>,
    ) {
        let name = read.name.as_str();
        let names = self.names_in_plan(name);
        for name in &names {
            self.look_up(name, &at, &place, reading);
        }
        let is_defined =
            read.is_given || PREDEFINED_VARIABLES.contains(&name) || self.of_scripts.contains(name);
        if is_defined || !names.is_empty() {
            return;
        }
        if let Some(built_in) = built_in::from_script_name(name) {
            return self.look_up(&built_in, at, place, reading);
        }
        let known = self.saved.keys().cloned().chain(self.data.iter().flat_map(DataText::braced_names));
        let known = known.chain(self.of_scripts.iter().cloned()).chain(self.given.names().map(str::to_owned));
        let built_in = built_in::SPELLINGS.map(str::to_owned);
        let known: BTreeSet<String> =
            known.chain(built_in).map(|name| format!(":{}", variable_name(&name))).collect();
        let what = format!("{}undefined variable :{name}", place());
        let listed_as = "define it under `data`, `save`, or `variables` of `sql`, write \\: for a colon that is text, or use one of";
        let known = known.iter().map(String::as_str);
        reading.findings.unknown(at(reading.source), what, &format!(":{name}"), known, listed_as);
    }

    /// Names in the plan of all values that scripts know by this name.
    fn names_in_plan(&self, name: &str) -> Vec<String> {
        let of_data = self.data.iter().flat_map(DataText::braced_names);
        let known = self.saved.keys().cloned().chain(of_data);
        known.filter(|known| variable_name(known) == name).collect()
    }

    /// Resolves the names in a file.
    pub(crate) fn resolve_names_in_file(&mut self, node: &Node, bytes: &[u8], reading: &mut Reading<'_>) {
        let Ok(text) = std::str::from_utf8(bytes) else {
            for piece in pieces(bytes) {
                if let Piece::Name(name) | Piece::Raw(name) = piece {
                    self.look_up(name, |_| node.at, || "in the file, ".to_owned(), reading);
                }
            }
            return;
        };
        for (name, start, _) in names_in(text) {
            let place = || format!("line {} of the file: ", line_at(text, start).number);
            self.look_up(name, |_| node.at, place, reading);
        }
    }

    /// Resolves a name. `at` and `place` give its position, and are called only for an error.
    fn look_up(
        &mut self,
        name: &str,
        at: impl Fn(&str) -> Span,
        place: impl Fn() -> String,
        reading: &mut Reading<'_>,
    ) {
        self.uses += 1;
        if self.uses > USES_MAX || reading.findings.is_full() {
            if self.uses == USES_MAX + 1 {
                let what = format!("there are more than {USES_MAX} names in braces");
                reading.at(at(reading.source), what, "use fewer; write {{…}} for literal braces");
            }
            return;
        }
        if secret::is_secret_name(name) {
            return reading.secret(at(reading.source), name, &place());
        }
        if let Some(span) = self.saved.get(name) {
            self.used.insert(name.to_owned());
            if !self.at_hand.contains(name) {
                let line = line_at(reading.source, span.start).number;
                let (what, help) = if self.is_mix {
                    (
                        "is saved in another iteration: with weights, each iteration runs one step",
                        "remove the weights",
                    )
                } else {
                    ("is not saved by an earlier step", "save it in an earlier step of the scenario")
                };
                let what = format!("{}{{{name}}} (line {line}) {what}", place());
                reading.at(at(reading.source), what, help);
            }
            return;
        }
        match data::meaning(&self.data, name) {
            Meaning::Column { source, column } => {
                if let Some(variable) = self.number(name, at, reading) {
                    self.data[source].fill(variable, column);
                }
            }
            Meaning::NoColumn { source } => {
                let source = &self.data[source];
                let what = format!("{}unknown column {{{name}}} of `{}`", place(), source.name);
                let known = source.braced_names();
                unknown(at(reading.source), what, name, &known, "write one of", reading);
            }
            Meaning::Nothing if built_in::source(name).is_some() => {
                self.use_built_in(name, at, place, reading)
            }
            Meaning::Nothing if reading.parameters.is_elsewhere(name) != Some(false) => {
                report_foreign_parameter(name, at, &place(), reading)
            }
            Meaning::Nothing => {
                let data = self.data.iter().flat_map(DataText::braced_names);
                let built_in = built_in::SPELLINGS.map(str::to_owned);
                let parameters = reading.parameters.names().map(str::to_owned);
                let known = self.saved.keys().cloned().chain(parameters).chain(data).chain(built_in);
                let known: Vec<String> = known.collect();
                let listed_as =
                    "define it under `data` or `save`, write {{…}} for literal braces, or use one of";
                let what = format!("{}undefined variable {{{name}}}", place());
                unknown(at(reading.source), what, name, &known, listed_as, reading);
            }
        }
    }

    /// Resolves a built-in value, which needs no definition. Adds its source to the data.
    fn use_built_in(
        &mut self,
        name: &str,
        at: impl Fn(&str) -> Span,
        place: impl Fn() -> String,
        reading: &mut Reading<'_>,
    ) {
        let known = self.data.iter().position(|source| source.is_built_in(name));
        let source = match (known, built_in::source(name)) {
            (Some(known), _) => known,
            (None, Some(Ok(source))) => {
                self.data.push(DataText::built_in(name, at(reading.source), source));
                self.data.len() - 1
            }
            (None, Some(Err(what))) => {
                let at = at(reading.source);
                let what = what.split("; write ").next().unwrap_or_default();
                return reading.at(at, format!("{}{what}", place()), "write {random.int.1..1000}");
            }
            (None, None) => return,
        };
        if let Some(variable) = self.number(name, at, reading) {
            self.data[source].fill(variable, 0);
        }
    }

    /// Registers a value that a step saves, and returns the number of its variable.
    pub(crate) fn save(&mut self, entry: &Entry, reading: &mut Reading<'_>) -> Option<u16> {
        let name = entry.key.as_str();
        if !is_name(name) || secret::is_secret_name(name) {
            let help = "use letters, digits, _, ., and -, and begin with a letter";
            reading.at(entry.key_at, format!("{name:?} is not a valid name"), help);
            return None;
        }
        if !matches!(data::meaning(&self.data, name), Meaning::Nothing) {
            reading.at(
                entry.key_at,
                format!("`{name}` is defined under `data` already"),
                "choose another name",
            );
            return None;
        }
        if self.handed_on.contains(name) {
            reading.at(entry.key_at, format!("`{name}` is saved by `setup` already"), "choose another name");
            return None;
        }
        if !self.is_mix {
            self.at_hand.insert(name.to_owned());
        }
        self.number(name, |_| entry.key_at, reading)
    }

    /// Warns of unused saved values.
    pub(crate) fn unused(&self, reading: &mut Reading<'_>) {
        for (name, at) in self.saved.iter().filter(|(name, _)| !self.used.contains(*name)) {
            let help = format!("use {{{name}}} in a later step, or remove it");
            reading.findings.warn_at(*at, format!("unused saved value `{name}`"), help);
        }
    }

    /// Number of a variable that no text can name. `None` if there are too many variables.
    pub(crate) fn hidden_variable(&mut self, name: &str) -> Option<u16> {
        let known = self.names.iter().position(|known| known == name);
        let number = known.or((self.names.len() < VARIABLES_MAX).then_some(self.names.len()))?;
        if known.is_none() {
            self.names.push(name.to_owned());
        }
        Some(number as u16)
    }

    fn number(&mut self, name: &str, at: impl Fn(&str) -> Span, reading: &mut Reading<'_>) -> Option<u16> {
        if let Some(number) = self.names.iter().position(|known| known == name) {
            return Some(number as u16);
        }
        if self.names.len() >= VARIABLES_MAX {
            reading.at(
                at(reading.source),
                format!("there are more than {VARIABLES_MAX} variables"),
                "use fewer",
            );
            return None;
        }
        self.names.push(name.to_owned());
        Some((self.names.len() - 1) as u16)
    }
}

/// Reports a parameter that the system at hand lacks. A plan without any variant has an error already.
fn report_foreign_parameter(name: &str, at: impl Fn(&str) -> Span, place: &str, reading: &mut Reading<'_>) {
    if reading.parameters.is_elsewhere(name).is_some() {
        let what = format!("{place}{{{name}}} is a parameter of another system");
        reading.at(at(reading.source), what, "define it under `vary` of the plan, or of every system");
    }
}

/// Reports an unknown name. Names are compared and shown with their braces.
fn unknown(at: Span, what: String, name: &str, known: &[String], listed_as: &str, reading: &mut Reading<'_>) {
    let known: Vec<String> = known.iter().map(|name| format!("{{{name}}}")).collect();
    let known = known.iter().map(String::as_str);
    reading.findings.unknown(at, what, &format!("{{{name}}}"), known, listed_as);
}
