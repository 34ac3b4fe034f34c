//! All scripts of a run, and the variables they share.

use std::collections::HashMap;
use std::ops::Range;

use crate::script::build::{Builder, Built};
use crate::script::command::Command;
use crate::script::distribution::Distribution;
use crate::script::fault::Fault;
use crate::script::statement::Statement;

/// Which language a script is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// pgbench's, exactly.
    Pgbench,
    /// The same with texts and more ways to draw: what built-in workloads and plans use.
    Extended,
}

/// What a script may do beyond talking to the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allow {
    /// Nothing.
    #[default]
    Nothing,
    /// `\shell` and `\setshell`.
    Shell,
}

/// Every script of a run. Statements are numbered over all of them.
#[derive(Clone, Debug, Default)]
pub struct Deck {
    pub(crate) scripts: Vec<Script>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) names: Names,
    pub(crate) distribution: Distribution,
}

/// One script.
#[derive(Clone, Debug)]
pub struct Script {
    pub(crate) name: String,
    pub(crate) statements: Range<u16>,
    pub(crate) has_pipeline: bool,
    pub(crate) commands: Vec<Command>,
}

impl Script {
    /// Its name, as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The numbers of its statements.
    pub fn statements(&self) -> Range<u16> {
        self.statements.clone()
    }

    /// Whether it has a `\startpipeline`, which needs a mode with values apart from the text.
    pub fn has_pipeline(&self) -> bool {
        self.has_pipeline
    }
}

impl Deck {
    /// Without scripts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a script; its number, from 0 in the order of adding.
    ///
    /// # Errors
    /// All faults that can be told apart, in the order of the text. The deck is then as before.
    pub fn add(
        &mut self,
        name: &str,
        text: &[u8],
        language: Language,
        allow: Allow,
    ) -> Result<u16, Vec<Fault>> {
        let numbers = (self.scripts.len() as u16, self.statements.len() as u16);
        let builder = Builder::new(name, text, (language, allow), &mut self.names, numbers);
        let Built { script, mut statements } = builder.build()?;
        self.statements.append(&mut statements);
        self.scripts.push(script);
        Ok(numbers.0)
    }

    /// The slot of a variable, which is made if it is new. `None`: no variable can have that name.
    pub fn variable(&mut self, name: &str) -> Option<u16> {
        if is_name(name.as_bytes()) { self.names.slot(name) } else { None }
    }

    /// The slot of a variable that a script or somebody else named before.
    pub fn find(&self, name: &str) -> Option<u16> {
        self.names.find(name)
    }

    /// The scripts.
    pub fn scripts(&self) -> &[Script] {
        &self.scripts
    }

    /// The statements of all scripts: their place is their number.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// Says how `random_row` draws.
    pub fn set_distribution(&mut self, distribution: Distribution) {
        self.distribution = distribution;
    }
}

/// The names of variables; the place of a name is its slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    slots: HashMap<String, u16>,
    names: Vec<String>,
}

impl Names {
    /// The slot of a name, made if new; `None` if there are too many.
    pub(crate) fn slot(&mut self, name: &str) -> Option<u16> {
        if let Some(slot) = self.find(name) {
            return Some(slot);
        }
        let slot = u16::try_from(self.names.len()).ok()?;
        self.slots.insert(name.to_owned(), slot);
        self.names.push(name.to_owned());
        Some(slot)
    }

    pub(crate) fn find(&self, name: &str) -> Option<u16> {
        self.slots.get(name).copied()
    }

    pub(crate) fn name(&self, slot: u16) -> &str {
        self.names.get(slot as usize).map_or("", String::as_str)
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}

/// The name in scripts of a variable that a plan calls by this name: `people.name` is `people_name`.
pub fn variable_name(name: &str) -> String {
    name.replace(['.', '-'], "_")
}

/// Whether a variable can have this name: letters, digits, `_` and anything beyond ASCII, and no digit first.
pub(crate) fn is_name(name: &[u8]) -> bool {
    name.first().is_some_and(|byte| !byte.is_ascii_digit()) && name.iter().all(|byte| is_of_name(*byte))
}

/// Whether a name may hold this byte after its first.
pub(crate) fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
