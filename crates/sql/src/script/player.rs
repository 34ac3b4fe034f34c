//! One client going through scripts: what is to be sent next, and with which values.

use std::sync::Arc;

use crate::script::deck::{Deck, Language};
use crate::script::expression::Serial;
use crate::script::fault::Broken;
use crate::script::gathering::Gathering;
use crate::script::machine::Machine;
use crate::script::seeds::Seeds;
use crate::script::statement::{Gather, Piece, Place, Placeholders, Statement, write_insert};
use crate::script::value::Value;
use crate::script::variables::Variables;

/// What somebody else must do before the player can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Send this statement, and wait for its end unless a pipeline is open.
    Statement(u16),
    /// Wait.
    Pause {
        /// How long.
        ns: u64,
    },
    /// From here on statements are sent without waiting.
    StartPipeline,
    /// Send a synchronisation point without waiting.
    SyncPipeline,
    /// Send a synchronisation point, and wait for everything.
    EndPipeline,
    /// The script is done.
    End,
}

/// A value that is to be written into a statement's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Literal<'a> {
    /// NULL, or a variable without value.
    Null,
    /// A number or a truth.
    Plain(&'a [u8]),
    /// Anything else.
    Text(&'a [u8]),
}

/// Quotes in which the server reads a backslash as an escape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backslashes {
    /// In `'…'`.
    pub in_single: bool,
    /// In `"…"`.
    pub in_double: bool,
}

/// One client: its variables, its random numbers, and its place in a script.
#[derive(Clone, Debug)]
pub struct Player {
    deck: Arc<Deck>,
    client: u32,
    machine: Machine,
    gathering: Gathering,
    /// The statement whose rows come.
    gathered: u16,
}

impl Player {
    /// Client number `client`, from 0, whose variables `client_id`, `default_seed`, `random_seed` and `scale` (1) are set; other
    /// values for them are given by [`Player::set`].
    pub fn new(deck: Arc<Deck>, seeds: &Seeds, client: u32) -> Self {
        let serial = Serial { next: i64::from(client), step: i64::from(seeds.clients().max(1)) };
        let mut variables = Variables::new(deck.names.len());
        let automatic = [
            ("client_id", Some(i64::from(client))),
            ("default_seed", seeds.default_seed()),
            ("random_seed", Some(seeds.random_seed() as i64)),
            ("scale", Some(1)),
        ];
        for (name, value) in automatic {
            if let (Some(slot), Some(value)) = (deck.find(name), value) {
                variables.set_value(slot, Value::Int(value));
            }
        }
        let machine = Machine::new(variables, seeds.functions(client), serial);
        Self { deck, client, machine, gathering: Gathering::default(), gathered: 0 }
    }

    /// Gives a variable a text, which gets its type when an expression first needs it.
    pub fn set(&mut self, slot: u16, value: &[u8]) {
        self.machine.variables.set_text(slot, value);
    }

    /// Gives a variable the number that a text is; a text that is none stays one.
    pub(crate) fn set_number(&mut self, slot: u16, value: &[u8]) {
        self.machine.variables.set_text(slot, value);
        let _ = self.machine.variables.typed(slot, &self.deck.names);
    }

    /// To the first command of a script. The state of the random numbers is kept for [`Player::again`].
    pub fn begin(&mut self, script: u16) {
        self.machine.begin(script);
    }

    /// The same script from its start, with the random numbers it had. Variables keep their values, and serial numbers go on.
    pub fn again(&mut self) {
        self.machine.again();
    }

    /// Runs meta commands up to the next thing that somebody else must do.
    ///
    /// # Errors
    /// A meta command failed: the client cannot go on with this script.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Act, Broken> {
        self.machine.next(&self.deck).map_err(Broken)
    }

    /// Appends a statement with the texts of its values in it: what goes out in simple mode. A name without a value stays.
    pub fn fill_text(&mut self, statement: u16, out: &mut Vec<u8>) {
        let Some(statement) = self.deck.statements.get(usize::from(statement)) else { return };
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

    /// Appends a statement with its values in it, each written by `write`: what goes out in simple mode where a value may be any
    /// text.
    pub(crate) fn fill_literals(
        &mut self,
        statement: u16,
        write: impl Fn(Literal<'_>, &mut Vec<u8>),
        backslashes: Backslashes,
        out: &mut Vec<u8>,
    ) {
        let Some(statement) = self.deck.statements.get(usize::from(statement)) else { return };
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

    /// Appends a statement with placeholders for its values, and the texts of its `{name}`s.
    pub fn fill_extended(
        &mut self,
        statement: u16,
        dialect: Placeholders,
        backslashes: Backslashes,
        out: &mut Vec<u8>,
    ) {
        let Some(statement) = self.deck.statements.get(usize::from(statement)) else { return };
        let variables = &mut self.machine.variables;
        statement.write_extended(dialect, out, |slot, name, place, out| {
            insert(variables, (slot, name), place, backslashes, out);
        });
    }

    /// The values of a statement, one for each placeholder, as the literals that would stand in its text: in pgbench's language
    /// every text is plain. A variable without value is NULL.
    pub fn values(&mut self, statement: u16) -> Values<'_> {
        let statement = self.deck.statements.get(usize::from(statement));
        let pieces = statement.map_or(&[][..], |statement| &statement.pieces);
        let is_quoted = statement.is_some_and(|statement| statement.language == Language::Extended);
        for piece in pieces {
            if let Piece::Value { slot, .. } = piece {
                self.machine.variables.write(*slot);
            }
        }
        Values { pieces: pieces.iter(), is_quoted, variables: &self.machine.variables }
    }

    /// The value of a variable as text; `None` if it has none or is NULL.
    pub fn value(&mut self, slot: u16) -> Option<&[u8]> {
        self.machine.variables.write(slot);
        known_text(&self.machine.variables, slot)
    }

    /// Which rows of a statement become variables, if any.
    pub fn wants_rows(&self, statement: u16) -> Option<Gather> {
        self.deck.statements.get(usize::from(statement))?.gather
    }

    /// The reply to a statement begins whose rows are wanted.
    pub fn start_rows(&mut self, statement: u16) {
        self.gathered = statement;
        self.gathering.start();
    }

    /// The name of a column of the rows to come; columns are numbered from 0.
    pub fn take_column(&mut self, number: u16, name: &[u8]) {
        if let Some(statement) = self.deck.statements.get(usize::from(self.gathered)) {
            self.gathering.column(number, name, statement, &self.deck.names);
        }
    }

    /// A value of the row under way; `None` is NULL. Columns come in order from 0.
    pub fn take_value(&mut self, column: u16, value: Option<&[u8]>) {
        self.gathering.value(column, value);
    }

    /// A row is complete.
    pub fn end_row(&mut self) {
        self.gathering.end_row();
    }

    /// A result is complete: one for each statement of a text, with or without rows.
    ///
    /// # Errors
    /// `\aset` and a column whose name no variable can have.
    pub fn end_result(&mut self) -> Result<(), Broken> {
        let Some(gather) = self.wants_rows(self.gathered) else { return Ok(()) };
        let done = self.gathering.end_result(gather, &mut self.machine.variables);
        done.map_err(|message| self.broken(gather, &message))
    }

    /// The reply is complete; its rows become variables.
    ///
    /// # Errors
    /// `\gset` and not exactly one row, or a column whose name no variable can have.
    pub fn end_rows(&mut self) -> Result<(), Broken> {
        let Some(gather) = self.wants_rows(self.gathered) else { return Ok(()) };
        let done = self.gathering.end(gather, &mut self.machine.variables);
        done.map_err(|message| self.broken(gather, &message))
    }

    fn broken(&self, gather: Gather, message: &str) -> Broken {
        let statement: Option<&Statement> = self.deck.statements.get(usize::from(self.gathered));
        let script = statement.and_then(|statement| self.deck.scripts.get(usize::from(statement.script)));
        let (name, line) =
            (script.map_or("", |script| &script.name), statement.map_or(0, |statement| statement.line));
        let command = if gather == Gather::One { "gset" } else { "aset" };
        Broken(format!("{name}:{line}: {message} in command \"{command}\""))
    }

    /// What `debug()` said since the last call; what nobody fetches is forgotten after a while.
    pub fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.machine.notes)
    }

    /// The client's number.
    pub fn client(&self) -> u32 {
        self.client
    }
}

/// Appends the text of a `{name}` as its place needs it, or the name as it stands.
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

/// Appends a text so that it stays within the quotes around it.
fn write_quoted(text: &[u8], place: Place, backslashes: Backslashes, out: &mut Vec<u8>) {
    let (quote, escapes) = match place {
        Place::Bare => return out.extend_from_slice(text),
        Place::Comment => return out.extend(text.iter().map(|byte| without_edge(*byte))),
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

/// In a comment, a space stands for what could end or begin one.
fn without_edge(byte: u8) -> u8 {
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

/// The values of a statement: see [`Player::values`].
#[derive(Clone, Debug)]
pub struct Values<'a> {
    pieces: std::slice::Iter<'a, Piece>,
    /// Whether the language puts texts in quotes.
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
