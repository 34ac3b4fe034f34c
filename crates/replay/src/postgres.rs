//! Logs of PostgreSQL: three formats for one kind of message.
//!
//! Each format parses messages ([`message::Message`]), and [`sessions::Sessions`] assembles statements: it joins a statement with its
//! duration and its error, regardless of which of `log_statement`, `log_min_duration_statement`, and `log_duration` wrote them.

pub(crate) mod csvlog;
pub(crate) mod jsonlog;
pub(crate) mod message;
mod parameters;
pub(crate) mod prefix;
mod sessions;
pub(crate) mod stderr;

use sql::Engine;

use crate::databases::STATEMENTS;
use crate::traffic::Traffic;

/// Kind of database that writes these logs.
const ENGINE: Engine = Engine::PostgreSql;

/// Statements of PostgreSQL and compatible servers.
pub(crate) static TRAFFIC: Traffic = Traffic {
    entries_of_server: "statements of PostgreSQL",
    fits: |protocol| protocol.name == wire::postgres::PROTOCOL.name,
    other_server: [
        "the log has statements of PostgreSQL, and the system is another database",
        "name a server of that kind",
    ],
    may_write: |text| sql::text_may_write(text, ENGINE),
    ..STATEMENTS
};
