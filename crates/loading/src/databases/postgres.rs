//! PostgreSQL, and servers with its protocol.

mod client;
mod tables;

use std::sync::Arc;

use sql::Engine;
use wire::sql::Login;

use super::Kind;
use crate::client::{Client, DatabaseLocation};
use crate::error::Error;
use client::Postgres;

pub(super) const KIND: Kind = Kind {
    engine: Engine::PostgreSql,
    open: |place, number| {
        let (peer, login) = place.server()?;
        Ok(Box::new(Postgres::open(peer, login, number)?))
    },
    open_monitor,
    writers_max: None,
    freezes_rows: true,
    // Foreign keys and triggers forbid it, or would notice.
    may_truncate: Some(|table| {
        format!(
            "SELECT 1 FROM pg_class c WHERE c.oid = '{table}'::regclass AND relkind = 'r' AND NOT relhastriggers AND NOT EXISTS \
             (SELECT 1 FROM pg_constraint WHERE contype = 'f' AND confrelid = c.oid) AND NOT EXISTS (SELECT 1 FROM {table})"
        )
    }),
    has_pgbench_options: true,
    commits_implicitly: false,
    // A single statement, because the tables may refer to each other.
    drop_tables: |names| vec![format!("DROP TABLE IF EXISTS {}", names.join(", "))],
    find_table: |table| format!("SELECT 1 WHERE to_regclass('{table}') IS NOT NULL"),
    analyze: "VACUUM ANALYZE",
    tables: &tables::SYNTAX,
};

/// Settings of a monitoring session, which must not block anything. They are startup parameters, so that a pooler either rejects
/// them or discards them with the session.
const MONITOR_SETTINGS: [(&str, &str); 2] =
    [("application_name", "tenbin watch"), ("statement_timeout", "500")];

fn open_monitor(place: &DatabaseLocation) -> Result<Box<dyn Client>, Error> {
    let (peer, login) = place.server()?;
    let mut login = Login::clone(login);
    login.settings.extend(MONITOR_SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned())));
    Ok(Box::new(Postgres::open_without_settings(peer, &Arc::new(login), 0)?))
}
