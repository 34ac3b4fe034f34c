//! Stores and loads the CPU profile of a run.

use evidence::{CpuProfile, RunId};
use rusqlite::{Connection, params};

use crate::Result;
use crate::checksum;
use crate::error::StoreError;
use crate::store::{Durability, Store};

impl Store {
    /// Stores the CPU profile of a run. Replaces an earlier one.
    pub fn keep_cpu_profile(&self, run: &RunId, profile: &CpuProfile) -> Result<()> {
        if !profile.is_possible() {
            return Err(StoreError::Unstorable { what: "a profile that does not add up, or is too large" });
        }
        let text = serde_json::to_string(profile)
            .map_err(|_| StoreError::Unstorable { what: "a profile that is no JSON" })?;
        let checksum = checksum::of_cpu_profile(run, text.as_bytes());
        let transaction = self.transaction(Durability::Normal)?;
        let number = self.number(run)?;
        transaction
            .execute(
                "INSERT OR REPLACE INTO cpu_profile (run, profile, checksum) VALUES (?, ?, ?)",
                params![number, text, checksum],
            )
            .map_err(|error| self.explain(error))?;
        transaction.commit().map_err(|error| self.explain(error))
    }

    pub(crate) fn cpu_profile(
        &self,
        snapshot: &Connection,
        id: &RunId,
        run: i64,
    ) -> Result<Option<CpuProfile>> {
        let query = "SELECT profile, checksum FROM cpu_profile WHERE run = ?1";
        let kept = self.all(snapshot, query, [run], |row| {
            let text = self.get::<String>(row, "profile")?;
            if self.get::<u32>(row, "checksum")? != checksum::of_cpu_profile(id, text.as_bytes()) {
                return Err(self.damaged(id, "its CPU profile is not as it was kept: its checksum differs"));
            }
            let profile: CpuProfile = self.json(id, "its CPU profile", &text)?;
            match profile.is_possible() {
                true => Ok(profile),
                false => Err(self.damaged(id, "its CPU profile does not add up")),
            }
        })?;
        Ok(kept.into_iter().next())
    }
}
