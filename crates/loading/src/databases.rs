//! Supported databases, and their differences when tables are created and filled.

mod mysql;
mod postgres;
mod sqlite;

use sql::Engine;

use crate::client::{Client, DatabaseLocation};
use crate::error::Error;
use crate::options::Options;
use crate::tables::FinalStep;

/// Opens a connection from a location and a connection number.
type OpenClient = fn(&DatabaseLocation, u32) -> Result<Box<dyn Client>, Error>;

/// A kind of database.
#[derive(Debug)]
pub(crate) struct Kind {
    engine: Engine,
    /// Opens a connection by its number.
    pub(crate) open: OpenClient,
    /// Opens a connection that only reads the server's own statistics.
    pub(crate) open_monitor: fn(&DatabaseLocation) -> Result<Box<dyn Client>, Error>,
    /// Maximum number of concurrent writers. `None` for no limit.
    pub(crate) writers_max: Option<u32>,
    /// True if a table can be written frozen in the transaction that truncates it, and if building a key counts rows.
    pub(crate) freezes_rows: bool,
    /// Query that returns a row if a table may be truncated before it is filled. `None` if that has no advantage.
    pub(crate) may_truncate: Option<fn(&str) -> String>,
    /// True if it supports pgbench's fill factors, partitions, foreign keys, and unlogged tables.
    pub(crate) has_pgbench_options: bool,
    /// True if each DDL statement commits implicitly.
    pub(crate) commits_implicitly: bool,
    /// Statements that drop these tables if they exist. The tables may refer to each other.
    pub(crate) drop_tables: fn(&[&str]) -> Vec<String>,
    /// Query that returns a row if a table exists.
    pub(crate) find_table: fn(&str) -> String,
    /// Beginning of the statement that updates the statistics of a table, without its name.
    pub(crate) analyze: &'static str,
    /// Statements that create tables.
    pub(crate) tables: &'static TableSyntax,
}

/// Differences in the statements that create tables.
#[derive(Debug)]
pub(crate) struct TableSyntax {
    /// True if a text in a column of fixed width must be written with its blanks.
    pub(crate) needs_blanks: bool,
    /// Type of a time that may be NULL.
    pub(crate) timestamp: &'static str,
    /// Type of a time in the tables in the shape of TPC-C.
    pub(crate) tpcc_time: &'static str,
    /// End of a statement that creates a table.
    pub(crate) suffix: &'static str,
    /// End of a statement that creates a table with texts of any characters.
    pub(crate) text_suffix: &'static str,
    /// Part of a text column that is indexed, by the name of the column.
    pub(crate) indexed_text: fn(&str) -> String,
    /// Columns of the table of the workload sign-up.
    pub(crate) account_columns: &'static str,
    /// Statements that create a table of pgbench, and those that create its key after the rows.
    pub(crate) pgbench: fn(&PgbenchTable<'_>) -> (Vec<String>, Vec<FinalStep>),
    /// Statement that creates a table of sysbench from its name, its columns after the key, and its number of rows; and the statements
    /// after the rows.
    pub(crate) sysbench: fn(&str, &str, u32) -> (String, Vec<FinalStep>),
}

/// A table of pgbench, as its statements need it.
pub(crate) struct PgbenchTable<'a> {
    pub(crate) name: &'a str,
    /// Name and type of the key.
    pub(crate) key: (&'a str, &'a str),
    /// Columns after the key.
    pub(crate) rest: &'a str,
    pub(crate) rows: u64,
    pub(crate) options: &'a Options,
}

const KINDS: [&Kind; 3] = [&postgres::KIND, &mysql::KIND, &sqlite::KIND];

/// Entry of an engine.
///
/// # Panics
///
/// If the list lacks the engine, which a test rules out.
pub(crate) fn of(engine: Engine) -> &'static Kind {
    let found = KINDS.into_iter().find(|kind| kind.engine == engine);
    found.unwrap_or_else(|| panic!("{} is not in the list of databases", engine.name()))
}

/// Names of the databases with pgbench's table options, for messages.
pub(crate) fn with_pgbench_options() -> String {
    let with = KINDS.into_iter().filter(|kind| kind.has_pgbench_options);
    with.map(|kind| kind.engine.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_has_an_entry() {
        for engine in Engine::ALL {
            assert_eq!(of(*engine).engine, *engine);
        }
        assert_eq!(KINDS.len(), Engine::ALL.len());
    }
}
