//! Exports one run or one study into its own store, for example as a CI artifact that another job compares with.

use std::path::Path;

use evidence::{RunId, StudyId};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::Result;
use crate::store::{Durability, Store};

/// Content of a store: a single run or study can be addressed without a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreContent {
    /// One run that belongs to no study.
    Run(RunId),
    /// One study.
    Study(StudyId),
    /// Any other content.
    Other {
        /// Number of runs that belong to no study.
        runs: usize,
        /// Number of studies.
        studies: usize,
    },
}

/// Conditions that select the rows of a study and its runs, by table; referenced tables come first. `{runs}` stands for
/// a query of the run numbers. `{study}` is NULL for a single run.
const EXPORTED: &[(&str, &str)] = &[
    ("study", "number = {study}"),
    ("study_ending", "study = {study}"),
    ("place", "study = {study}"),
    ("run", "number IN {runs}"),
    ("step", "run IN {runs}"),
    ("ending", "run IN {runs}"),
    ("failure", "run IN {runs}"),
    ("part", "run IN {runs}"),
    ("status", "part IN (SELECT number FROM part WHERE run IN {runs})"),
    ("error", "part IN (SELECT number FROM part WHERE run IN {runs})"),
    ("request", "part IN (SELECT number FROM part WHERE run IN {runs})"),
    ("reading_kind", "run IN {runs}"),
    ("readings", "run IN {runs}"),
    ("output", "run IN {runs}"),
    ("moments", "run IN {runs}"),
    ("event_cost", "run IN {runs}"),
    ("cpu_profile", "run IN {runs}"),
    ("gate", "run IN {runs}"),
    ("event", "run IN {runs}"),
    (
        "baseline",
        "id IN (SELECT id FROM run WHERE number IN {runs} UNION SELECT id FROM study WHERE number = {study})",
    ),
    (
        "origin",
        "id IN (SELECT id FROM run WHERE number IN {runs} UNION SELECT id FROM study WHERE number = {study})",
    ),
];

impl Store {
    /// Writes a run that belongs to no study into a new store. The path must not exist.
    pub fn export_run(&self, run: &RunId, path: &Path) -> Result<()> {
        let number = self.number(run)?;
        self.export(path, &format!("({number})"), "NULL")
    }

    /// Writes a study with all its runs into a new store. The path must not exist.
    pub fn export_study(&self, study: &StudyId, path: &Path) -> Result<()> {
        let number = self.study_number(study)?;
        let places = format!("SELECT number FROM place WHERE study = {number}");
        self.export(path, &format!("(SELECT number FROM run WHERE place IN ({places}))"), &number.to_string())
    }

    /// Returns the only run or study of the store, or the numbers of both.
    pub fn only(&self) -> Result<StoreContent> {
        let explain = |error| self.explain(error);
        let names = |query: &str| -> Result<Vec<String>> {
            let mut select = self.connection.prepare(query).map_err(explain)?;
            let names = select.query_map([], |row| row.get(0)).map_err(explain)?;
            names.collect::<rusqlite::Result<_>>().map_err(explain)
        };
        let runs = names("SELECT id FROM run WHERE place IS NULL")?;
        let studies = names("SELECT id FROM study")?;
        Ok(match (&runs[..], &studies[..]) {
            ([run], []) => StoreContent::Run(run.parse().map_err(|_| self.not_found("run"))?),
            ([], [study]) => StoreContent::Study(study.parse().map_err(|_| self.not_found("study"))?),
            _ => StoreContent::Other { runs: runs.len(), studies: studies.len() },
        })
    }

    fn export(&self, path: &Path, runs: &str, study: &str) -> Result<()> {
        let to = Self::open(path)?;
        // Row numbers are copied unchanged, so references stay valid.
        let (from, into) = (self.snapshot()?, to.transaction(Durability::Full)?);
        for (table, rows) in EXPORTED {
            let rows = rows.replace("{runs}", runs).replace("{study}", study);
            self.copy(&from, table, &rows, &to, &into)?;
        }
        into.commit().map_err(|error| to.explain(error))?;
        // A single file without a write-ahead log can be read in a read-only folder.
        let mode = to.connection.query_row("PRAGMA journal_mode = delete", [], |row| row.get::<_, String>(0));
        mode.map(drop).map_err(|error| to.explain(error))
    }

    /// Copies rows of a table. Both stores have the current version, so their columns are equal.
    fn copy(&self, from: &Connection, table: &str, rows: &str, to: &Self, into: &Connection) -> Result<()> {
        let explain = |error| self.explain(error);
        let mut select = from.prepare(&format!("SELECT * FROM {table} WHERE {rows}")).map_err(explain)?;
        let columns = select.column_count();
        let places = vec!["?"; columns].join(", ");
        let mut insert = into
            .prepare(&format!("INSERT INTO {table} VALUES ({places})"))
            .map_err(|error| to.explain(error))?;
        let mut rows = select.query([]).map_err(explain)?;
        while let Some(row) = rows.next().map_err(explain)? {
            let values: Vec<Value> = (0..columns)
                .map(|column| row.get(column))
                .collect::<rusqlite::Result<_>>()
                .map_err(explain)?;
            insert.execute(params_from_iter(values)).map_err(|error| to.explain(error))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_of_runs_is_exported() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("s")).unwrap();
        let mut select =
            store.connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
        let tables = select.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let left: Vec<String> = tables
            .map(Result::unwrap)
            .filter(|table| !EXPORTED.iter().any(|(exported, _)| exported == table))
            .collect();
        // Ceilings belong to a machine.
        assert_eq!(left, ["ceiling"]);
    }
}
