//! Supported databases, and the dialect of each.

mod mysql;
mod postgres;
mod sqlite;

use wire::sql::ServerError;
use wire::{ErrorClass, Protocol};

use crate::classes::Retry;
use crate::script::{LoadedRows, Placeholders};
use crate::session_state::SessionState;
use crate::workload::Tables;

/// Kind of database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// PostgreSQL, and servers with its protocol.
    PostgreSql,
    /// MySQL and MariaDB.
    MySql,
    /// SQLite, in this process.
    Sqlite,
}

/// Properties in which databases differ. Code tests a property here instead of the name of a database.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// Name in messages.
    pub(crate) name: &'static str,
    /// Protocol. `None` for an in-process database.
    pub(crate) protocol: Option<&'static Protocol>,
    /// Parameter of a URL that turns on the verification of certificates.
    pub(crate) verified_by: &'static str,
    /// Style of placeholders for values.
    pub(crate) placeholders: Placeholders,
    /// True if statements can be sent before earlier ones are answered.
    pub(crate) has_pipelines: bool,
    /// Statement that loads rows from this connection into columns of a table. `None` if there is none.
    pub(crate) load_rows: Option<fn(&LoadedRows) -> String>,
    /// True if every supported server can prepare BEGIN, COMMIT, and ROLLBACK. Otherwise the extended mode sends them as text; the
    /// prepared mode tries once per connection.
    pub(crate) prepares_transaction_control: bool,
    /// True if the type of a quoted literal is inferred. Otherwise numbers must not be quoted.
    pub(crate) infers_quoted_types: bool,
    /// Encoding of a backslash in a literal, independent of server settings.
    pub(crate) backslash: Backslash,
    /// Texts and comments of its statements.
    pub(crate) lexical_rules: LexicalRules,
    /// True if statements such as CREATE TABLE and BEGIN commit an open transaction.
    pub(crate) commits_implicitly: bool,
    /// True if RELEASE of the outermost savepoint commits.
    pub(crate) release_commits: bool,
    /// True if errors have a SQLSTATE. Otherwise they have only a number.
    pub(crate) has_sqlstates: bool,
    /// Error class by the vendor-specific number or the text, if that is more precise than the SQLSTATE.
    pub(crate) vendor_class: fn(&ServerError) -> Option<ErrorClass>,
    /// Scripts that replace scripts of built-in workloads, by name of the workload.
    pub(crate) scripts: &'static [(&'static str, &'static str)],
    /// State that a statement keeps in its connection beyond its transaction, as far as it is known.
    pub(crate) session_states: &'static [SessionState],
    /// Setting of a session that rejects writes, with its value. `None` if the log-in cannot set it.
    pub(crate) read_only: Option<(&'static str, &'static str)>,
    /// Setting of a session that limits its waits for locks, and the unit of its value in milliseconds. `None` if there is none.
    pub(crate) lock_timeout: Option<(&'static str, u64)>,
    /// True if it can have the tables in the shape of TPC-C. Their workloads lock rows with SELECT … FOR UPDATE.
    pub(crate) has_tpcc_tables: bool,
    /// Errors after which built-in workloads retry, in addition to deadlocks and serialization failures.
    pub(crate) retries: fn(Tables) -> &'static [Retry],
}

/// Texts and comments of statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LexicalRules {
    /// True if a backslash is an escape in all quoted texts, not only in those with the prefix E.
    pub has_escapes_in_quotes: bool,
    /// True if double quotes enclose a text, and not a name.
    pub has_texts_in_double_quotes: bool,
    /// True if `$tag$` quotes a text.
    pub has_dollar_quotes: bool,
    /// True if `#` begins a comment.
    pub has_hash_comments: bool,
    /// True if `--` begins a comment only before white space.
    pub dashes_need_blank: bool,
    /// True if the server executes `/*! … */`.
    pub has_executable_comments: bool,
    /// True if a comment `/* … */` may contain another one.
    pub nests_comments: bool,
}

/// Encoding of a backslash in a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backslash {
    /// Unchanged.
    Plain,
    /// Doubled, in a literal with the prefix E.
    Doubled,
    /// Whole text as hexadecimal digits, because the meaning of a backslash depends on server settings.
    Hexadecimal,
}

impl Engine {
    /// All kinds.
    pub const ALL: &[Self] = &[Self::PostgreSql, Self::MySql, Self::Sqlite];

    /// Kind that checks built-in workloads until their database is known: one that runs all of them.
    pub const FOR_WORKLOADS: Self = Self::PostgreSql;
    /// Kind by which scripts are checked until their database is known.
    pub const FOR_SCRIPTS: Self = Self::MySql;

    /// Name in messages.
    pub fn name(self) -> &'static str {
        self.dialect().name
    }

    /// Texts and comments of its statements.
    pub fn lexical_rules(self) -> LexicalRules {
        self.dialect().lexical_rules
    }

    /// Protocol. `None` for an in-process database.
    pub fn protocol(self) -> Option<&'static Protocol> {
        self.dialect().protocol
    }

    /// Parameter of a URL that turns on the verification of certificates.
    pub fn verified_by(self) -> &'static str {
        self.dialect().verified_by
    }

    /// Properties in which this database differs from others.
    pub(crate) fn dialect(self) -> &'static Dialect {
        match self {
            Engine::PostgreSql => &postgres::DIALECT,
            Engine::MySql => &mysql::DIALECT,
            Engine::Sqlite => &sqlite::DIALECT,
        }
    }

    /// Style of placeholders for values.
    pub fn placeholders(self) -> Placeholders {
        self.dialect().placeholders
    }
}

/// Session setting with its value that makes a database reject writes. `None` if its log-in cannot set it.
pub fn read_only_setting(engine: Engine) -> Option<(&'static str, &'static str)> {
    engine.dialect().read_only
}

/// Names of the databases that load rows from a connection, for messages.
pub(crate) fn with_loads() -> String {
    let with =
        Engine::ALL.iter().map(|engine| engine.dialect()).filter(|dialect| dialect.load_rows.is_some());
    with.map(|dialect| dialect.name).collect::<Vec<_>>().join(" and ")
}

/// Setting of a session, with its value, that ends waits for a lock after this time, rounded up to the unit of the database. `None` if
/// its log-in cannot set it.
pub fn lock_timeout_setting(engine: Engine, after_ms: u64) -> Option<(&'static str, String)> {
    let (name, unit_ms) = engine.dialect().lock_timeout?;
    Some((name, after_ms.div_ceil(unit_ms).max(1).to_string()))
}

/// Names of the databases that support pipelines, for messages.
pub(crate) fn with_pipelines() -> String {
    let with = Engine::ALL.iter().map(|engine| engine.dialect()).filter(|dialect| dialect.has_pipelines);
    with.map(|dialect| dialect.name).collect::<Vec<_>>().join(", ")
}
