//! One statement of a script: its text in pieces, what it is for, and what becomes of its rows.

use std::io::Write as _;

use crate::script::deck::Language;

/// How a server marks the place of a value in a statement's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholders {
    /// `$1`, `$2`, …: PostgreSQL, and SQLite understands it too.
    Numbered,
    /// `?`: MySQL, MariaDB, SQLite.
    Question,
}

/// What a statement does to its transaction, as far as its first words tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// BEGIN, START TRANSACTION.
    Begin,
    /// COMMIT, END: afterwards it is committed, or not, and a lost reply leaves that open.
    Commit,
    /// ROLLBACK, ABORT: nothing is committed, reply or not.
    Rollback,
    /// SELECT without FOR UPDATE and the like, SHOW, VALUES, TABLE: nothing to commit.
    Read,
    /// Anything else, or several at once: it may write.
    Other,
}

/// Which rows of a statement become variables.
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
    pub(crate) script: u16,
    pub(crate) line: u32,
    pub(crate) language: Language,
}

/// A piece of a statement's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Goes out as it is.
    Text(String),
    /// `:name`: a value, or the text of one.
    Value { slot: u16, name: String },
    /// `{name}`: always text, written for its place.
    Insert { slot: u16, name: String, place: Place },
}

/// Where a `{name}` stands, which says how its value is written so that it stays there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Outside of quotes, or `{name:raw}`: as it is.
    Bare,
    /// In `'…'`.
    Text,
    /// In `E'…'`.
    Escaped,
    /// In `"…"`: a name, or in MySQL a text.
    Double,
    /// In backticks.
    Backtick,
    /// In a comment.
    Comment,
}

impl Statement {
    /// Its first line, shortened, for reports.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What it does to its transaction.
    pub fn kind(&self) -> StatementKind {
        self.kind
    }

    /// Which of its rows become variables.
    pub fn gather(&self) -> Option<Gather> {
        self.gather
    }

    /// The script it belongs to.
    pub fn script(&self) -> u16 {
        self.script
    }

    /// The language that it is written in.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The line of the script where it begins, from 1.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// How many values it takes, one for each place of a `:name`.
    pub fn values(&self) -> usize {
        self.pieces.iter().filter(|piece| matches!(piece, Piece::Value { .. })).count()
    }

    /// Whether its text with placeholders is always the same: it has no `{name}`.
    pub fn is_fixed(&self) -> bool {
        !self.pieces.iter().any(|piece| matches!(piece, Piece::Insert { .. }))
    }

    /// Its text with placeholders for the values. A `{name}` stays as it is: see [`crate::script::Player::fill_extended`].
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

/// A `{name}` without a value.
pub(crate) fn write_insert(name: &str, out: &mut Vec<u8>) {
    out.push(b'{');
    out.extend_from_slice(name.as_bytes());
    out.push(b'}');
}
