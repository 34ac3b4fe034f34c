//! Kinds of database servers.

use script::Placeholders;

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
    /// How it marks the place of a value in a statement's text.
    pub fn placeholders(self) -> Placeholders {
        match self {
            Engine::PostgreSql => Placeholders::Numbered,
            Engine::MySql | Engine::Sqlite => Placeholders::Question,
        }
    }
}
