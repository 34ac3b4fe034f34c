//! MySQL and MariaDB.

mod client;
mod tables;

use sql::Engine;

use super::Kind;
use crate::client::{Client, DatabaseLocation};
use crate::error::Error;
use client::MySql;

pub(super) const KIND: Kind = Kind {
    engine: Engine::MySql,
    open,
    open_monitor: |place| open(place, 0),
    writers_max: None,
    freezes_rows: false,
    may_truncate: None,
    has_pgbench_options: false,
    commits_implicitly: true,
    // A single statement, because the tables may refer to each other.
    drop_tables: |names| vec![format!("DROP TABLE IF EXISTS {}", names.join(", "))],
    find_table: |table| {
        format!(
            "SELECT 1 FROM information_schema.tables WHERE table_schema = database() AND table_name = '{table}'"
        )
    },
    analyze: "ANALYZE TABLE",
    tables: &tables::SYNTAX,
};

fn open(place: &DatabaseLocation, number: u32) -> Result<Box<dyn Client>, Error> {
    let (peer, login) = place.server()?;
    Ok(Box::new(MySql::open(peer, login, number)?))
}
