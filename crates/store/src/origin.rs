//! Stores and loads origins: the build that was measured.

use std::collections::BTreeMap;

use evidence::Origin;
use rusqlite::OptionalExtension;

use crate::Result;
use crate::store::{Durability, Store};

impl Store {
    /// Stores the origin of a run or a study by its name. Replaces an older one.
    pub fn keep_origin(&self, id: &str, origin: &Origin) -> Result<()> {
        let transaction = self.transaction(Durability::Normal)?;
        transaction
            .execute(
                "INSERT INTO origin (id, label, commit_id, branch) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (id) DO UPDATE SET label = ?2, commit_id = ?3, branch = ?4",
                (id, &origin.label, &origin.commit, &origin.branch),
            )
            .map_err(|error| self.explain(error))?;
        transaction.commit().map_err(|error| self.explain(error))
    }

    /// Returns all origins by the name of their run or study.
    pub fn origins(&self) -> Result<BTreeMap<String, Origin>> {
        let explain = |error| self.explain(error);
        let mut select =
            self.connection.prepare("SELECT id, label, commit_id, branch FROM origin").map_err(explain)?;
        let origins = select.query_map([], |row| {
            let origin = Origin { label: row.get(1)?, commit: row.get(2)?, branch: row.get(3)? };
            Ok((row.get(0)?, origin))
        });
        origins.and_then(Iterator::collect).map_err(explain)
    }

    /// Returns the name of the newest run or study with this label. `None` if there is none.
    pub fn labeled(&self, label: &str) -> Result<Option<String>> {
        self.connection
            .prepare(
                "SELECT origin.id FROM origin LEFT JOIN run ON run.id = origin.id LEFT JOIN study ON study.id = origin.id \
                 WHERE label = ?1 ORDER BY coalesce(run.started_at_unix_ms, study.started_at_unix_ms) DESC LIMIT 1",
            )
            .and_then(|mut select| select.query_row([label], |row| row.get(0)).optional())
            .map_err(|error| self.explain(error))
    }
}
