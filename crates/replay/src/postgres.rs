//! Logs of PostgreSQL: three formats of one list of messages.
//!
//! Each format parses messages ([`message::Message`]), and [`sessions::Sessions`] makes statements of them: it joins a statement
//! with its duration and its error, whichever of `log_statement`, `log_min_duration_statement`, and `log_duration` wrote them.

pub(crate) mod csvlog;
pub(crate) mod jsonlog;
pub(crate) mod message;
mod parameters;
pub(crate) mod prefix;
mod sessions;
pub(crate) mod stderr;

use sql::Engine;

/// Kind of database that writes these logs.
pub(crate) const ENGINE: Engine = Engine::PostgreSql;
