//! Kinds of database servers.

use wire::Protocol;

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

impl Engine {
    /// What it is spoken to in; SQLite is called in this process.
    pub fn protocol(self) -> Option<&'static Protocol> {
        match self {
            Engine::PostgreSql => Some(&wire::postgres::PROTOCOL),
            Engine::MySql => Some(&wire::mysql::PROTOCOL),
            Engine::Sqlite => None,
        }
    }

    /// How it marks the place of a value in a statement's text.
    pub fn placeholders(self) -> Placeholders {
        match self {
            Engine::PostgreSql => Placeholders::Numbered,
            Engine::MySql | Engine::Sqlite => Placeholders::Question,
        }
    }
}
