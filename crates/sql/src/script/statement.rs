//! Statement of a script: its text in pieces, its kind, and the use of its rows.

use std::io::Write as _;

use crate::script::command::Amount;
use crate::script::expression::Code;
use crate::script::script_set::Language;

/// Style of placeholders in the text of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholders {
    /// `$1`, `$2`, …: PostgreSQL, also understood by SQLite.
    Numbered,
    /// `?`: MySQL, MariaDB, SQLite.
    Question,
}

/// Effect of a statement on its transaction, judged by its first words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// BEGIN, START TRANSACTION.
    Begin,
    /// COMMIT, END. A lost reply leaves it unknown if the transaction was committed.
    Commit,
    /// ROLLBACK, ABORT. Nothing is committed, even if the reply is lost.
    Rollback,
    /// SELECT without FOR UPDATE and similar, SHOW, VALUES, TABLE: nothing to commit.
    Read,
    /// Any other statement, or several at once, which may write.
    Other,
}

/// Rows of a statement that are stored in variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gather {
    /// `\gset`: the only row of the last result.
    One,
    /// `\aset`: the last row of each result.
    Last,
}

/// A statement of a script.
#[derive(Clone, Debug)]
pub struct Statement {
    pub(crate) title: String,
    pub(crate) kind: StatementKind,
    pub(crate) gather: Option<Gather>,
    pub(crate) prefix: String,
    pub(crate) pieces: Vec<Piece>,
    /// Rows that the statement loads. `None` for any other statement.
    pub(crate) load: Option<Box<LoadedRows>>,
    pub(crate) script: u16,
    pub(crate) line: u32,
    pub(crate) language: Language,
}

/// Rows that `\copy` loads into a table.
#[derive(Clone, Debug)]
pub struct LoadedRows {
    /// Name of the table, as written.
    pub table: String,
    /// Names of the columns, as written, with commas between them.
    pub columns: String,
    /// Number of rows.
    pub(crate) count: Amount,
    /// Value of each column, which is evaluated for each row.
    pub(crate) values: Vec<Code>,
    /// Number of its command, as pgbench counts.
    pub(crate) command: u32,
}

/// A piece of a statement's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Constant text.
    Text(String),
    /// `:name`: a separate value, or its text.
    Value { slot: u16, name: String },
    /// `{name}`: always text, encoded for its place.
    Insert { slot: u16, name: String, place: Place },
}

/// Place of a `{name}`, which determines how its value is encoded so that it stays there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Outside of quotes, or `{name:raw}`: unchanged.
    Bare,
    /// Text in `'…'`.
    Text,
    /// Text in `E'…'`.
    Escaped,
    /// Name in `"…"`, or a text in MySQL.
    Double,
    /// Name in backticks.
    Backtick,
    /// Comment.
    Comment,
}

impl Statement {
    /// First line, shortened for reports.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Effect on its transaction.
    pub fn kind(&self) -> StatementKind {
        self.kind
    }

    /// Rows that are stored in variables. `None` if there are none.
    pub fn gather(&self) -> Option<Gather> {
        self.gather
    }

    /// Rows that it loads. `None` for any other statement.
    pub fn load(&self) -> Option<&LoadedRows> {
        self.load.as_deref()
    }

    /// Number of its script.
    pub fn script(&self) -> u16 {
        self.script
    }

    /// Language of its script.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Line of the script where it begins, from 1.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// Number of values, one per `:name`.
    pub fn values(&self) -> usize {
        self.pieces.iter().filter(|piece| matches!(piece, Piece::Value { .. })).count()
    }

    /// Names of its values, one per `:name`.
    pub fn value_names(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Value { name, .. } => Some(name.as_str()),
            _ => None,
        })
    }

    /// Text as written, with the names of its values.
    pub fn written(&self) -> String {
        let written = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Value { name, .. } => format!(":{name}"),
            Piece::Insert { name, .. } => format!("{{{name}}}"),
        };
        self.pieces.iter().map(written).collect()
    }

    /// True if its text with placeholders is constant, because it has no `{name}`.
    pub fn is_fixed(&self) -> bool {
        !self.pieces.iter().any(|piece| matches!(piece, Piece::Insert { .. }))
    }

    /// Text with placeholders for values. A `{name}` is left unchanged: see [`crate::script::Player::fill_extended`].
    pub fn extended(&self, dialect: Placeholders) -> String {
        let mut out = Vec::new();
        self.write_extended(dialect, &mut out, |_, name, _, out| write_insert(name, out));
        String::from_utf8_lossy(&out).into_owned()
    }

    pub(crate) fn write_extended(
        &self,
        dialect: Placeholders,
        out: &mut Vec<u8>,
        mut insert: impl FnMut(u16, &str, Place, &mut Vec<u8>),
    ) {
        let mut number = 0;
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Value { .. } => {
                    number += 1;
                    match dialect {
                        Placeholders::Numbered => {
                            let _ = write!(out, "${number}");
                        }
                        Placeholders::Question => out.push(b'?'),
                    }
                }
                Piece::Insert { slot, name, place } => insert(*slot, name, *place, out),
            }
        }
    }
}

/// Writes a `{name}` that has no value.
pub(crate) fn write_insert(name: &str, out: &mut Vec<u8>) {
    out.push(b'{');
    out.extend_from_slice(name.as_bytes());
    out.push(b'}');
}
