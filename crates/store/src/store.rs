//! The open store: list of runs, and access to one.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use evidence::{RunId, RunState, Summary, Validity, Verdict};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior};

use crate::Result;
use crate::error::StoreError;
use crate::owner::Owner;
use crate::redaction::Redaction;
use crate::writer::Writer;

/// An open store. Several processes may open the file at once. One `Store` serves one thread at a time.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    /// Device and inode of the file when it was opened. `None` if they are unknown.
    pub(crate) file: Option<(u64, u64)>,
    pub(crate) redaction: Redaction,
}

/// Durability of a transaction when it ends.
#[derive(Clone, Copy)]
pub(crate) enum Durability {
    /// Passed to the operating system: survives a crash of this program, but not a power failure.
    Normal,
    /// Synced to disk.
    Full,
}

/// Returns device and inode of the file at a path. `None` if there is none.
pub(crate) fn file(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()))
}

impl Store {
    /// Sets the function that redacts all texts written or replied by systems.
    #[must_use]
    pub fn with_redaction(self, redact: impl Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self { redaction: Redaction::new(redact), ..self }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lists the newest runs, newest first by order of insertion, because a clock may be wrong.
    pub fn runs(&self, limit: usize) -> Result<Vec<Summary>> {
        let explain = |error| self.explain(error);
        // Parts of steps are excluded from all sums.
        let measured = "FROM part WHERE part.run = run.number AND phase = 1 AND part.step < \
                        (SELECT count(*) FROM step WHERE step.run = run.number AND part_of IS NULL)";
        let query = format!(
            "SELECT id, started_at_unix_ms, title, load, is_profiled, place, writer, verdict, validity, \
             (SELECT CAST(total(sent) AS INTEGER) {measured}) AS sent, \
             (SELECT CAST(total(ok) AS INTEGER) {measured}) AS ok \
             FROM run LEFT JOIN ending ON ending.run = run.number \
             ORDER BY run.number DESC LIMIT ?1"
        );
        let mut select = self.connection.prepare(&query).map_err(explain)?;
        let mut rows = select.query([i64::try_from(limit).unwrap_or(i64::MAX)]).map_err(explain)?;
        let mut summaries = Vec::new();
        while let Some(row) = rows.next().map_err(explain)? {
            summaries.push(self.summary(row)?);
        }
        Ok(summaries)
    }

    fn summary(&self, row: &Row<'_>) -> Result<Summary> {
        let id = self.id(row)?;
        let validity: Option<Validity> = self.optional_json(&id, "validity", self.get(row, "validity")?)?;
        let (load_words, is_profiled) = self.load_words(row)?;
        Ok(Summary {
            started_at_unix_ms: self.get(row, "started_at_unix_ms")?,
            title: self.get(row, "title")?,
            load_words: evidence::in_words(&load_words, is_profiled),
            place: self.place_of(&self.connection, &id, row)?,
            state: self.state(&id, row)?,
            validity: validity.map(|validity| validity.verdict),
            sent: self.unsigned(&id, "sent", self.get(row, "sent")?)?,
            ok: self.unsigned(&id, "ok", self.get(row, "ok")?)?,
            id,
        })
    }

    /// Deletes a run with all its data.
    pub fn delete(&self, run: &RunId) -> Result<()> {
        let transaction = self.transaction(Durability::Full)?;
        let number = self.number(run)?;
        transaction
            .execute("DELETE FROM run WHERE number = ?1", [number])
            .and_then(|_| transaction.execute("DELETE FROM origin WHERE id = ?1", [run.as_str()]))
            .and_then(|_| transaction.execute("DELETE FROM baseline WHERE id = ?1", [run.as_str()]))
            .map_err(|error| self.explain(error))?;
        transaction.commit().map_err(|error| self.explain(error))
    }

    /// Begins a transaction that takes the write lock immediately, so that it waits for other writers only at its
    /// start.
    pub(crate) fn transaction(&self, durability: Durability) -> Result<Transaction<'_>> {
        let level = match durability {
            Durability::Normal => "normal",
            Durability::Full => "full",
        };
        if let Durability::Full = durability {
            self.check_in_place()?;
        }
        let begun = self
            .connection
            .pragma_update(None, "synchronous", level)
            .and_then(|()| Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate));
        begun.map_err(|error| self.explain(error))
    }

    /// Fails if the file was removed or replaced, because writes to it would be silently lost when this process ends.
    fn check_in_place(&self) -> Result<()> {
        match file(&self.path) {
            found if found == self.file => Ok(()),
            _ => Err(StoreError::Removed { path: self.path.clone() }),
        }
    }

    /// Returns the row number of a run.
    pub(crate) fn number(&self, run: &RunId) -> Result<i64> {
        self.connection
            .prepare_cached("SELECT number FROM run WHERE id = ?1")
            .and_then(|mut select| select.query_row([run.as_str()], |row| row.get(0)).optional())
            .map_err(|error| self.explain(error))?
            .ok_or_else(|| StoreError::UnknownRun { path: self.path.clone(), text: run.to_string() })
    }

    /// Returns the state of a run, from a row with the columns `verdict` and `writer`.
    pub(crate) fn state(&self, id: &RunId, row: &Row<'_>) -> Result<RunState> {
        if let Some(verdict) = self.get::<Option<String>>(row, "verdict")? {
            let verdict =
                Verdict::from_name(&verdict).ok_or_else(|| self.damaged(id, "its verdict is unknown"))?;
            return Ok(RunState::Ended(verdict));
        }
        let writer: Writer = self.json(id, "writer", &self.get::<String>(row, "writer")?)?;
        Ok(if writer.is_alive() { RunState::Running } else { RunState::Partial })
    }

    pub(crate) fn id(&self, row: &Row<'_>) -> Result<RunId> {
        self.get::<String>(row, "id")?.parse().map_err(|_| self.not_found("run"))
    }

    pub(crate) fn get<T: rusqlite::types::FromSql>(
        &self,
        row: &Row<'_>,
        column: impl rusqlite::RowIndex,
    ) -> Result<T> {
        row.get(column).map_err(|error| self.explain(error))
    }

    pub(crate) fn json<T: serde::de::DeserializeOwned>(
        &self,
        id: &impl Owner,
        column: &str,
        text: &str,
    ) -> Result<T> {
        serde_json::from_str(text).map_err(|_| self.damaged(id, &format!("its {column} cannot be read")))
    }

    pub(crate) fn optional_json<T: serde::de::DeserializeOwned>(
        &self,
        id: &impl Owner,
        column: &str,
        text: Option<String>,
    ) -> Result<Option<T>> {
        text.map(|text| self.json(id, column, &text)).transpose()
    }

    pub(crate) fn unsigned(&self, id: &impl Owner, column: &str, value: i64) -> Result<u64> {
        u64::try_from(value).map_err(|_| self.damaged(id, &format!("{column} is below zero")))
    }

    pub(crate) fn damaged<O: Owner>(&self, id: &O, what: &str) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what: format!("{} {id}: {what}", O::WORD) }
    }

    pub(crate) fn explain(&self, error: rusqlite::Error) -> StoreError {
        StoreError::of(&self.path, error)
    }
}

/// Converts a count to the signed integer that SQLite stores.
pub(crate) fn signed(value: u64) -> Result<i64> {
    i64::try_from(value).map_err(|_| StoreError::Unstorable { what: "a number beyond 2^63" })
}
