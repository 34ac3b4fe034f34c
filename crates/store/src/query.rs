//! Queries of one or all rows.

use rusqlite::{Connection, Params, Row, Transaction};

use crate::Result;
use crate::store::Store;

impl Store {
    /// Begins a read transaction, which gives several queries a consistent view while others write.
    pub(crate) fn snapshot(&self) -> Result<Transaction<'_>> {
        self.connection.unchecked_transaction().map_err(|error| self.explain(error))
    }

    /// Returns all rows.
    pub(crate) fn all<T>(
        &self,
        snapshot: &Connection,
        query: &str,
        parameters: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let explain = |error| self.explain(error);
        let mut select = snapshot.prepare_cached(query).map_err(explain)?;
        let mut rows = select.query(parameters).map_err(explain)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next().map_err(explain)? {
            all.push(read(row)?);
        }
        Ok(all)
    }

    /// Returns a row that must exist.
    pub(crate) fn one<T>(
        &self,
        snapshot: &Connection,
        query: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        let last = self.all(snapshot, query, parameters, read)?.pop();
        last.ok_or_else(|| self.explain(rusqlite::Error::QueryReturnedNoRows))
    }
}
