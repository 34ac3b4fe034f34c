//! SQLite.

mod client;
mod tables;

use sql::Engine;

use super::Kind;
use crate::client::{Client, DatabaseLocation};
use crate::error::Error;
use client::Sqlite;

pub(super) const KIND: Kind = Kind {
    engine: Engine::Sqlite,
    open: |place, _| open(place),
    open_monitor: open,
    writers_max: Some(1),
    freezes_rows: false,
    may_truncate: None,
    has_pgbench_options: false,
    commits_implicitly: false,
    drop_tables: |names| names.iter().map(|name| format!("DROP TABLE IF EXISTS {name}")).collect(),
    find_table: |table| format!("SELECT 1 FROM sqlite_schema WHERE name = '{table}'"),
    analyze: "ANALYZE",
    tables: &tables::SYNTAX,
};

fn open(place: &DatabaseLocation) -> Result<Box<dyn Client>, Error> {
    Ok(Box::new(Sqlite::open(place.file()?)?))
}
