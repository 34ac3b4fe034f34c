//! The list of databases, and what differs between them when tables are made and filled.

mod mysql;
mod postgres;
mod sqlite;

use sql::Engine;

use crate::client::{Client, Place};
use crate::error::Error;

/// From a place and the number of a connection to the connection.
type OpenClient = fn(&Place, u32) -> Result<Box<dyn Client>, Error>;

/// A kind of database.
#[derive(Debug)]
pub(crate) struct Kind {
    engine: Engine,
    /// Opens a connection by its number.
    pub(crate) open: OpenClient,
    /// Opens a connection that only reads what the server says of itself.
    pub(crate) open_to_watch: fn(&Place) -> Result<Box<dyn Client>, Error>,
    /// The maximum of connections that write at the same time. `None`: no limit.
    pub(crate) writers_max: Option<u32>,
    /// Whether a table can be written frozen in the transaction that empties it, and whether keys count rows as they are built.
    pub(crate) freezes_rows: bool,
    /// Whether it has fill factors, partitions, foreign keys, and unlogged tables as pgbench makes them.
    pub(crate) has_pgbench_options: bool,
    /// Whether each statement that creates something commits by itself.
    pub(crate) commits_implicitly: bool,
    /// Drops these tables, which may refer to each other, where they exist.
    pub(crate) drop_tables: fn(&[&str]) -> Vec<String>,
    /// Answers with a row if a table exists.
    pub(crate) find_table: fn(&str) -> String,
    /// Statement before the last, which waits until everything is on disk.
    pub(crate) settle: Option<&'static str>,
    /// Begins the statement that makes statistics of a table; its name follows.
    pub(crate) analyze: &'static str,
}

const KINDS: [&Kind; 3] = [&postgres::KIND, &mysql::KIND, &sqlite::KIND];

/// The entry of an engine.
///
/// # Panics
///
/// When the list lacks it, which a test rules out.
pub(crate) fn of(engine: Engine) -> &'static Kind {
    let found = KINDS.into_iter().find(|kind| kind.engine == engine);
    found.unwrap_or_else(|| panic!("{} is not in the list of databases", engine.name()))
}

/// Names of the databases that have the options of pgbench's tables, for messages.
pub(crate) fn with_pgbench_options() -> String {
    let with = KINDS.into_iter().filter(|kind| kind.has_pgbench_options);
    with.map(|kind| kind.engine.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_has_its_own_entry() {
        for engine in Engine::ALL {
            assert_eq!(of(*engine).engine, *engine);
        }
        assert_eq!(KINDS.len(), Engine::ALL.len());
    }
}
