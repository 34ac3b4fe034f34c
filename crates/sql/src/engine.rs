//! Kinds of database servers, and what scripts must know of each.

use wire::{ErrorClass, Protocol};

use crate::classes;
use crate::script::Placeholders;

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

const POSTGRESQL: Dialect = Dialect {
    placeholders: Placeholders::Numbered,
    has_pipelines: true,
    prepares_transaction_control: true,
    infers_quoted_types: true,
    backslash: Backslash::Doubled,
    has_escapes_in_quotes: false,
    has_dollar_quotes: true,
    has_hash_comments: false,
    dashes_need_blank: false,
    commits_implicitly: false,
    release_commits: false,
    has_sqlstates: true,
    class_of_number: |_| None,
};

const MYSQL: Dialect = Dialect {
    placeholders: Placeholders::Question,
    has_pipelines: false,
    prepares_transaction_control: false,
    infers_quoted_types: false,
    backslash: Backslash::Hexadecimal,
    has_escapes_in_quotes: true,
    has_dollar_quotes: false,
    has_hash_comments: true,
    dashes_need_blank: true,
    commits_implicitly: true,
    release_commits: false,
    has_sqlstates: true,
    class_of_number: classes::of_mysql,
};

const SQLITE: Dialect = Dialect {
    placeholders: Placeholders::Question,
    has_pipelines: false,
    prepares_transaction_control: true,
    infers_quoted_types: false,
    backslash: Backslash::Plain,
    has_escapes_in_quotes: false,
    has_dollar_quotes: false,
    has_hash_comments: false,
    dashes_need_blank: false,
    commits_implicitly: false,
    release_commits: true,
    has_sqlstates: false,
    class_of_number: |_| None,
};

impl Engine {
    /// Its protocol; SQLite is called in this process.
    pub fn protocol(self) -> Option<&'static Protocol> {
        match self {
            Engine::PostgreSql => Some(&wire::postgres::PROTOCOL),
            Engine::MySql => Some(&wire::mysql::PROTOCOL),
            Engine::Sqlite => None,
        }
    }

    /// What it does differently from the others.
    pub(crate) fn dialect(self) -> &'static Dialect {
        match self {
            Engine::PostgreSql => &POSTGRESQL,
            Engine::MySql => &MYSQL,
            Engine::Sqlite => &SQLITE,
        }
    }

    /// How it marks the place of a value in a statement's text.
    pub fn placeholders(self) -> Placeholders {
        self.dialect().placeholders
    }
}
