//! Stores and loads baselines: the figures that a run or a study is compared with.

use evidence::{Baseline, RunId};
use rusqlite::Connection;

use crate::Result;
use crate::begin::json;
use crate::error::StoreError;
use crate::owner::Owner;
use crate::store::{Durability, Store};

impl Store {
    /// Stores the baseline of a run. Replaces an earlier one.
    pub fn keep_baseline(&self, run: &RunId, baseline: &Baseline) -> Result<()> {
        let transaction = self.transaction(Durability::Full)?;
        self.number(run)?;
        self.insert_baseline(&transaction, run.as_str(), baseline)?;
        transaction.commit().map_err(|error| self.explain(error))
    }

    pub(crate) fn insert_baseline(
        &self,
        transaction: &Connection,
        id: &str,
        baseline: &Baseline,
    ) -> Result<()> {
        if !baseline.is_finite() {
            return Err(StoreError::NOT_FINITE);
        }
        let stored = json(baseline)?;
        transaction
            .execute("INSERT OR REPLACE INTO baseline (id, stored) VALUES (?1, ?2)", (id, stored))
            .map(drop)
            .map_err(|error| self.explain(error))
    }

    /// Loads the baseline of a run or a study. `None` if there is none.
    pub(crate) fn baseline_of(&self, snapshot: &Connection, id: &impl Owner) -> Result<Option<Baseline>> {
        let query = "SELECT stored FROM baseline WHERE id = ?1";
        let stored = self.all(snapshot, query, [id.to_string()], |row| self.get::<String>(row, "stored"))?;
        stored.first().map(|stored| self.json(id, "baseline", stored)).transpose()
    }
}
