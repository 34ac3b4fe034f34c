//! Executes scripts for one client: returns the next action, and the values of statements.

use std::sync::Arc;

use crate::script::expression::Serial;
use crate::script::fault::Broken;
use crate::script::gathering::Gathering;
use crate::script::machine::Machine;
use crate::script::script_set::{Language, ScriptSet};
use crate::script::seeds::Seeds;
use crate::script::statement::{Gather, Piece, Place, Placeholders, Statement, write_insert};
use crate::script::value::Value;
use crate::script::variables::Variables;

/// Action that the caller must perform before the player can continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayerAction {
    /// Send this statement, and wait for its result unless a pipeline is open.
    Statement(u16),
    /// Wait.
    Pause {
        /// Duration of the wait.
        ns: u64,
    },
    /// Begin a pipeline: send statements without waiting.
    StartPipeline,
    /// Send a synchronization point without waiting.
    SyncPipeline,
    /// Send a synchronization point, and wait for all replies.
    EndPipeline,
    /// The script has ended.
    End,
}

/// Maximum number of rows that `\copy` loads at once.
pub(crate) const LOADED_ROWS_MAX: i64 = 1_000_000;

/// A value to be written into the text of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Literal<'a> {
    /// NULL, or a variable without a value.
    Null,
    /// A number or Boolean.
    Plain(&'a [u8]),
    /// Any other value.
    Text(&'a [u8]),
}

/// Kinds of quotes in which the server reads a backslash as an escape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backslashes {
    /// True for `'…'`.
    pub in_single: bool,
    /// True for `"…"`.
    pub in_double: bool,
}

/// A client: variables, random numbers, and position in a script.
#[derive(Clone, Debug)]
pub struct Player {
    all_scripts: Arc<ScriptSet>,
    client: u32,
    machine: Machine,
    gathering: Gathering,
    /// Statement that is receiving rows.
    gathered: u16,
}

impl Player {
    /// Creates client number `client`, from 0. Sets its variables `client_id`, `default_seed`, `random_seed`, and `scale` (1),
    /// which [`Player::set`] can override.
    pub fn new(all_scripts: Arc<ScriptSet>, seeds: &Seeds, client: u32) -> Self {
        let serial = Serial { next: i64::from(client), step: i64::from(seeds.clients().max(1)) };
        let mut variables = Variables::new(all_scripts.names.len());
        let automatic = [
            ("client_id", Some(i64::from(client))),
            ("default_seed", seeds.default_seed()),
            ("random_seed", Some(seeds.random_seed() as i64)),
            ("scale", Some(1)),
        ];
        for (name, value) in automatic {
            if let (Some(slot), Some(value)) = (all_scripts.find(name), value) {
                variables.set_value(slot, Value::Int(value));
            }
        }
        let machine = Machine::new(variables, seeds.functions(client), serial);
        Self { all_scripts, client, machine, gathering: Gathering::default(), gathered: 0 }
    }

    /// Sets a variable to a text, which gets its type when an expression first needs it.
    pub fn set(&mut self, slot: u16, value: &[u8]) {
        self.machine.variables.set_text(slot, value);
    }

    /// Sets a variable to the number that a text represents, or to the text if it is not a number.
    pub(crate) fn set_number(&mut self, slot: u16, value: &[u8]) {
        self.machine.variables.set_text(slot, value);
        let _ = self.machine.variables.typed(slot, &self.all_scripts.names);
    }

    /// Starts a script. Saves the state of the random numbers for [`Player::restart`].
    pub fn begin(&mut self, script: u16) {
        self.machine.begin(script);
    }

    /// Restarts the script with the random numbers of its last start. Variables keep their values, and serial numbers continue.
    pub fn restart(&mut self) {
        self.machine.restart();
    }

    /// Executes meta commands up to the next action of the caller.
    ///
    /// # Errors
    ///
    /// If a meta command failed, so the client cannot continue the script.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<PlayerAction, Broken> {
        self.machine.next(&self.all_scripts).map_err(Broken)
    }

    /// Appends a statement with its values as text, for simple mode. A variable without a value keeps its name.
    pub fn fill_text(&mut self, statement: u16, out: &mut Vec<u8>) {
        let Some(statement) = self.all_scripts.statements.get(usize::from(statement)) else { return };
        for piece in &statement.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Value { slot, name } => {
                    self.machine.variables.write(*slot);
                    match self.machine.variables.text(*slot) {
                        Some(text) => out.extend_from_slice(text),
                        None => {
                            out.push(b':');
                            out.extend_from_slice(name.as_bytes());
                        }
                    }
                }
                Piece::Insert { slot, name, place } => {
                    insert(&mut self.machine.variables, (*slot, name), *place, Backslashes::default(), out);
                }
            }
        }
    }

    /// Appends a statement with its values, each written by `write`, for simple mode with arbitrary texts.
    pub(crate) fn fill_literals(
        &mut self,
        statement: u16,
        write: impl Fn(Literal<'_>, &mut Vec<u8>),
        backslashes: Backslashes,
        out: &mut Vec<u8>,
    ) {
        let Some(statement) = self.all_scripts.statements.get(usize::from(statement)) else { return };
        let variables = &mut self.machine.variables;
        for piece in &statement.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Value { slot, .. } => {
                    variables.write(*slot);
                    write(literal(variables, *slot), out);
                }
                Piece::Insert { slot, name, place } => {
                    insert(variables, (*slot, name), *place, backslashes, out);
                }
            }
        }
    }

    /// Appends a statement with placeholders for its values, and with the text of each `{name}`.
    pub fn fill_extended(
        &mut self,
        statement: u16,
        dialect: Placeholders,
        backslashes: Backslashes,
        out: &mut Vec<u8>,
    ) {
        let Some(statement) = self.all_scripts.statements.get(usize::from(statement)) else { return };
        let variables = &mut self.machine.variables;
        statement.write_extended(dialect, out, |slot, name, place, out| {
            insert(variables, (slot, name), place, backslashes, out);
        });
    }

    /// Values of a statement, one per placeholder, as the literals that its text would have. In pgbench's language all texts are
    /// plain. A variable without a value is NULL.
    pub fn values(&mut self, statement: u16) -> Values<'_> {
        let statement = self.all_scripts.statements.get(usize::from(statement));
        let pieces = statement.map_or(&[][..], |statement| &statement.pieces);
        let is_quoted = statement.is_some_and(|statement| statement.language == Language::Extended);
        for piece in pieces {
            if let Piece::Value { slot, .. } = piece {
                self.machine.variables.write(*slot);
            }
        }
        Values { pieces: pieces.iter(), is_quoted, variables: &self.machine.variables }
    }

    /// Appends the rows of a statement that loads rows, in the text format of COPY. Returns the number of rows.
    ///
    /// # Errors
    ///
    /// If a value cannot be computed, or the rows are too many.
    pub fn fill_rows(&mut self, statement: u16, out: &mut Vec<u8>) -> Result<u64, Broken> {
        let scripts = self.all_scripts.clone();
        let Some(statement) = scripts.statements.get(usize::from(statement)) else { return Ok(0) };
        let Some(rows) = statement.load() else { return Ok(0) };
        self.machine.write_rows(&scripts, rows, out).map_err(|message| {
            let name = scripts.scripts.get(usize::from(statement.script)).map_or("", |script| &script.name);
            Broken(format!("{name}:{}: {message} in command \"copy\"", statement.line))
        })
    }

    /// Value of a variable as text. `None` if it has no value or is NULL.
    pub fn value(&mut self, slot: u16) -> Option<&[u8]> {
        self.machine.variables.write(slot);
        known_text(&self.machine.variables, slot)
    }

    /// Rows of a statement that are stored in variables. `None` if there are none.
    pub fn stored_rows(&self, statement: u16) -> Option<Gather> {
        self.all_scripts.statements.get(usize::from(statement))?.gather
    }

    /// Begins the reply to a statement whose rows are stored.
    pub fn start_rows(&mut self, statement: u16) {
        self.gathered = statement;
        self.gathering.start();
    }

    /// Adds a column name of the following rows. Columns are numbered from 0.
    pub fn take_column(&mut self, number: u16, name: &[u8]) {
        if let Some(statement) = self.all_scripts.statements.get(usize::from(self.gathered)) {
            self.gathering.column(number, name, statement, &self.all_scripts.names);
        }
    }

    /// Adds a value of the current row. `None` for NULL. Columns come in order from 0.
    pub fn take_value(&mut self, column: u16, value: Option<&[u8]>) {
        self.gathering.value(column, value);
    }

    /// Ends the current row.
    pub fn end_row(&mut self) {
        self.gathering.end_row();
    }

    /// Ends a result. There is one per statement in a text, with or without rows.
    ///
    /// # Errors
    ///
    /// `\aset` has a column with a name that is not valid for a variable.
    pub fn end_result(&mut self) -> Result<(), Broken> {
        let Some(gather) = self.stored_rows(self.gathered) else { return Ok(()) };
        let done = self.gathering.end_result(gather, &mut self.machine.variables);
        done.map_err(|message| self.broken(gather, &message))
    }

    /// Ends the reply, and stores its rows in variables.
    ///
    /// # Errors
    ///
    /// If `\gset` does not get exactly one row, or if a column name is not valid for a variable.
    pub fn end_rows(&mut self) -> Result<(), Broken> {
        let Some(gather) = self.stored_rows(self.gathered) else { return Ok(()) };
        let done = self.gathering.end(gather, &mut self.machine.variables);
        done.map_err(|message| self.broken(gather, &message))
    }

    fn broken(&self, gather: Gather, message: &str) -> Broken {
        let statement: Option<&Statement> = self.all_scripts.statements.get(usize::from(self.gathered));
        let script =
            statement.and_then(|statement| self.all_scripts.scripts.get(usize::from(statement.script)));
        let (name, line) =
            (script.map_or("", |script| &script.name), statement.map_or(0, |statement| statement.line));
        let command = if gather == Gather::One { "gset" } else { "aset" };
        Broken(format!("{name}:{line}: {message} in command \"{command}\""))
    }

    /// Takes the output of `debug()` since the last call. Old output is discarded if it is not taken.
    pub fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.machine.notes)
    }

    /// Number of the client.
    pub fn client(&self) -> u32 {
        self.client
    }
}

/// Appends the value of a `{name}`, encoded for its place, or the name if it has no value.
fn insert(
    variables: &mut Variables,
    (slot, name): (u16, &str),
    place: Place,
    backslashes: Backslashes,
    out: &mut Vec<u8>,
) {
    variables.write(slot);
    match variables.text(slot) {
        Some(text) => write_quoted(text, place, backslashes, out),
        None => write_insert(name, out),
    }
}

/// Appends a text, encoded so that it cannot leave the surrounding quotes.
fn write_quoted(text: &[u8], place: Place, backslashes: Backslashes, out: &mut Vec<u8>) {
    let (quote, escapes) = match place {
        Place::Bare => return out.extend_from_slice(text),
        Place::Comment => return out.extend(text.iter().map(|byte| without_comment_end(*byte))),
        Place::Text => (b'\'', backslashes.in_single),
        Place::Escaped => (b'\'', true),
        Place::Double => (b'"', backslashes.in_double),
        Place::Backtick => (b'`', false),
    };
    for byte in text {
        if *byte == quote || escapes && *byte == b'\\' {
            out.push(*byte);
        }
        out.push(*byte);
    }
}

/// Replaces bytes that could end or begin a comment by a space.
fn without_comment_end(byte: u8) -> u8 {
    if matches!(byte, b'*' | b'/' | b'\n' | b'\r') { b' ' } else { byte }
}

fn literal(variables: &Variables, slot: u16) -> Literal<'_> {
    match known_text(variables, slot) {
        None => Literal::Null,
        Some(text) if variables.is_plain(slot) => Literal::Plain(text),
        Some(text) => Literal::Text(text),
    }
}

fn known_text(variables: &Variables, slot: u16) -> Option<&[u8]> {
    if variables.is_null(slot) { None } else { variables.text(slot) }
}

/// Values of a statement: see [`Player::values`].
#[derive(Clone, Debug)]
pub struct Values<'a> {
    pieces: std::slice::Iter<'a, Piece>,
    /// True if the language quotes texts.
    is_quoted: bool,
    variables: &'a Variables,
}

impl<'a> Iterator for Values<'a> {
    type Item = Literal<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let slot = self.pieces.find_map(|piece| match piece {
            Piece::Value { slot, .. } => Some(*slot),
            _ => None,
        })?;
        Some(match literal(self.variables, slot) {
            Literal::Text(text) if !self.is_quoted => Literal::Plain(text),
            literal => literal,
        })
    }
}
