//! Stores and loads ceilings: peak rates of the load generator, so that they need not be measured before every run.

use rusqlite::OptionalExtension;

use crate::Result;
use crate::error::StoreError;
use crate::store::{Durability, Store};

/// Maximum length of the text that identifies a shape or a layout.
const NAME_BYTES_MAX: usize = 4_096;

impl Store {
    /// Returns the peak rate that the generator reached against a server without work, in requests per second, for this
    /// shape of the load and this layout of the machine. `None` if it was not measured.
    pub fn ceiling(&self, shape: &str, layout: &str) -> Result<Option<f64>> {
        let found: Option<f64> = self
            .connection
            .prepare_cached("SELECT per_s FROM ceiling WHERE shape = ?1 AND layout = ?2")
            .and_then(|mut select| select.query_row((shape, layout), |row| row.get(0)).optional())
            .map_err(|error| self.explain(error))?;
        match found {
            Some(per_s) if !is_rate(per_s) => {
                let what = "a ceiling of the generator is no rate".to_owned();
                Err(StoreError::Damaged { path: self.path.clone(), what })
            }
            found => Ok(found),
        }
    }

    /// Stores a ceiling. Replaces an older one for this shape and layout.
    pub fn keep_ceiling(
        &self,
        shape: &str,
        layout: &str,
        per_s: f64,
        measured_at_unix_ms: i64,
    ) -> Result<()> {
        if !is_rate(per_s) {
            return Err(StoreError::Unstorable { what: "a ceiling that is no rate" });
        }
        if shape.len() > NAME_BYTES_MAX || layout.len() > NAME_BYTES_MAX {
            return Err(StoreError::Unstorable { what: "a ceiling whose name is over 4,096 bytes long" });
        }
        let transaction = self.transaction(Durability::Normal)?;
        transaction
            .execute(
                "INSERT INTO ceiling (shape, layout, per_s, measured_at_unix_ms) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (shape, layout) DO UPDATE SET per_s = ?3, measured_at_unix_ms = ?4",
                (shape, layout, per_s, measured_at_unix_ms),
            )
            .map_err(|error| self.explain(error))?;
        transaction.commit().map_err(|error| self.explain(error))
    }
}

fn is_rate(per_s: f64) -> bool {
    per_s.is_finite() && per_s > 0.0
}
