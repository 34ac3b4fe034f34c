//! Transactions on SQLite as conversations with an in-process system.

use std::sync::Arc;

use sql::script::ScriptSet;
use sql::{Engine, Settings, Sql, TransactionStep};

use crate::database::Database;
use crate::session::Session;

/// Creates transactions on a database file.
///
/// # Errors
///
/// Like [`Sql::new`].
pub fn sqlite(
    all_scripts: ScriptSet,
    steps: &[TransactionStep],
    settings: Settings,
    database: Database,
) -> Result<Sql, String> {
    let database = Arc::new(database);
    Sql::new(all_scripts, steps, settings, Engine::Sqlite, move |_| Box::new(Session::new(database.clone())))
}
