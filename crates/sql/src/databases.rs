//! The list of databases, and what scripts must know of each: its folder says what it does differently.

mod mysql;
mod postgres;
mod sqlite;

use wire::{ErrorClass, Protocol};

use crate::classes::Retry;
use crate::script::Placeholders;
use crate::session_state::SessionState;
use crate::workload::Tables;

/// A kind of database server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// PostgreSQL and what speaks its protocol.
    PostgreSql,
    /// MySQL and MariaDB.
    MySql,
    /// SQLite, in this process.
    Sqlite,
}

/// What one kind of server does differently from the others. Code asks for a property here, not for the name of a server.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// Its name in messages.
    pub(crate) name: &'static str,
    /// Its protocol. `None` if it is called in this process.
    pub(crate) protocol: Option<&'static Protocol>,
    /// How the place of a value is marked in a statement's text.
    pub(crate) placeholders: Placeholders,
    /// Whether statements may go out before those before them are answered.
    pub(crate) has_pipelines: bool,
    /// Whether every server of this kind can prepare BEGIN, COMMIT, and ROLLBACK.
    pub(crate) prepares_transaction_control: bool,
    /// Whether a text in quotes takes the type that is needed: otherwise a number must not be in quotes.
    pub(crate) infers_quoted_types: bool,
    /// How a text with a backslash is written, whatever the settings of the server are.
    pub(crate) backslash: Backslash,
    /// Whether a backslash escapes in all quotes of texts, not only in those marked with an E.
    pub(crate) has_escapes_in_quotes: bool,
    /// Whether `$tag$` quotes a text.
    pub(crate) has_dollar_quotes: bool,
    /// Whether `#` begins a comment.
    pub(crate) has_hash_comments: bool,
    /// Whether two minus signs begin a comment only if a blank follows.
    pub(crate) dashes_need_blank: bool,
    /// Whether statements such as CREATE TABLE and BEGIN commit the transaction that is open.
    pub(crate) commits_implicitly: bool,
    /// Whether RELEASE may commit: that of the outermost savepoint does.
    pub(crate) release_commits: bool,
    /// Whether errors have a SQLSTATE; otherwise they have a number alone.
    pub(crate) has_sqlstates: bool,
    /// The class of an error by the server's own number, where that says more than the SQLSTATE.
    pub(crate) class_of_number: fn(u16) -> Option<ErrorClass>,
    /// Scripts that replace those of built-in workloads, by the workload's name.
    pub(crate) scripts: &'static [(&'static str, &'static str)],
    /// State that a statement keeps in its connection beyond its transaction, as far as it is known.
    pub(crate) session_states: &'static [SessionState],
    /// Errors after which transactions of built-in workloads are tried again, besides deadlocks and serialization failures.
    pub(crate) retries: fn(Tables) -> &'static [Retry],
}

/// How a text with a backslash is written as a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backslash {
    /// As it is.
    Plain,
    /// Doubled, in quotes marked with an E.
    Doubled,
    /// As hexadecimal digits: what a backslash means depends on the server's settings.
    Hexadecimal,
}

impl Engine {
    /// Every kind.
    pub const ALL: &[Self] = &[Self::PostgreSql, Self::MySql, Self::Sqlite];

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        self.dialect().name
    }

    /// Its protocol. `None` if it is called in this process.
    pub fn protocol(self) -> Option<&'static Protocol> {
        self.dialect().protocol
    }

    /// What it does differently from the others.
    pub(crate) fn dialect(self) -> &'static Dialect {
        match self {
            Engine::PostgreSql => &postgres::DIALECT,
            Engine::MySql => &mysql::DIALECT,
            Engine::Sqlite => &sqlite::DIALECT,
        }
    }

    /// How it marks the place of a value in a statement's text.
    pub fn placeholders(self) -> Placeholders {
        self.dialect().placeholders
    }
}

/// Names of the databases on which statements can be pipelined, for messages.
pub(crate) fn with_pipelines() -> String {
    let with = Engine::ALL.iter().map(|engine| engine.dialect()).filter(|dialect| dialect.has_pipelines);
    with.map(|dialect| dialect.name).collect::<Vec<_>>().join(", ")
}
