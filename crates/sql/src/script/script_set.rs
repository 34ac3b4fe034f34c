//! Scripts of a run, and the variables they share.

use std::collections::HashMap;
use std::ops::Range;

use crate::script::build::{Builder, BuiltScript};
use crate::script::command::{Action, Command};
use crate::script::distribution::Distribution;
use crate::script::fault::Fault;
use crate::script::statement::{Piece, Statement};

/// Language of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Identical to pgbench.
    Pgbench,
    /// pgbench's with texts and more random functions, for built-in workloads and plans.
    Extended,
}

/// Capabilities of a script beyond sending statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allow {
    /// None.
    #[default]
    Nothing,
    /// `\shell` and `\setshell`.
    Shell,
}

/// All scripts of a run. Statements are numbered over all of them.
#[derive(Clone, Debug, Default)]
pub struct ScriptSet {
    pub(crate) scripts: Vec<Script>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) names: Names,
    pub(crate) distribution: Distribution,
}

/// A script.
#[derive(Clone, Debug)]
pub struct Script {
    pub(crate) name: String,
    pub(crate) statements: Range<u16>,
    pub(crate) has_pipeline: bool,
    pub(crate) commands: Vec<Command>,
}

impl Script {
    /// Name as given to [`ScriptSet::add`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Range of the numbers of its statements.
    pub fn statements(&self) -> Range<u16> {
        self.statements.clone()
    }

    /// True if a script has a `\startpipeline`, which needs a mode that sends values separately.
    pub fn has_pipeline(&self) -> bool {
        self.has_pipeline
    }
}

impl ScriptSet {
    /// Creates a deck without scripts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses a script, and returns its number, counted from 0.
    ///
    /// # Errors
    ///
    /// All distinguishable errors in the order of the text. The deck is then unchanged.
    pub fn add(
        &mut self,
        name: &str,
        text: &[u8],
        language: Language,
        allow: Allow,
    ) -> Result<u16, Vec<Fault>> {
        let numbers = (self.scripts.len() as u16, self.statements.len() as u16);
        let builder = Builder::new(name, text, (language, allow), &mut self.names, numbers);
        let BuiltScript { script, mut statements } = builder.build()?;
        self.statements.append(&mut statements);
        self.scripts.push(script);
        Ok(numbers.0)
    }

    /// Slot of a variable, which is created if it is new. `None` if the name is not valid for a variable.
    pub fn variable(&mut self, name: &str) -> Option<u16> {
        if is_name(name.as_bytes()) { self.names.slot(name) } else { None }
    }

    /// Slot of an existing variable. `None` if it does not exist.
    pub fn find(&self, name: &str) -> Option<u16> {
        self.names.find(name)
    }

    /// All scripts.
    pub fn scripts(&self) -> &[Script] {
        &self.scripts
    }

    /// Statements of all scripts, indexed by number.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// Whether a script may read the variable of a slot. True for every slot if the script has commands that are not statements.
    pub(crate) fn may_read(&self, script: u16, slot: u16) -> bool {
        let Some(script) = self.scripts.get(usize::from(script)) else { return false };
        let computes = |command: &Command| {
            matches!(command.act, Action::Set(..) | Action::Unless(..) | Action::Sleep(_))
        };
        let has_load = |statement: &Statement| statement.load.is_some();
        let is_read = |piece: &Piece| match piece {
            Piece::Text(_) => false,
            Piece::Value { slot: read, .. } | Piece::Insert { slot: read, .. } => *read == slot,
        };
        let mut statements =
            script.statements().filter_map(|number| self.statements.get(usize::from(number)));
        script.commands.iter().any(computes)
            || statements.any(|one| has_load(one) || one.pieces.iter().any(is_read))
    }

    /// Sets the distribution of `random_row`.
    pub fn set_distribution(&mut self, distribution: Distribution) {
        self.distribution = distribution;
    }
}

/// Names of variables, indexed by slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    slots: HashMap<String, u16>,
    names: Vec<String>,
}

impl Names {
    /// Slot of a name, created if it is new. `None` if there are too many.
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

/// Name in scripts of a plan variable: `people.name` becomes `people_name`.
pub fn variable_name(name: &str) -> String {
    name.replace(['.', '-'], "_")
}

/// True for a valid variable name: letters, digits, `_`, and non-ASCII bytes, without a leading digit.
pub(crate) fn is_name(name: &[u8]) -> bool {
    name.first().is_some_and(|byte| !byte.is_ascii_digit()) && name.iter().all(|byte| is_name_byte(*byte))
}

/// True if a variable name may contain this byte after its first.
pub(crate) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
