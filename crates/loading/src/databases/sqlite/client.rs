//! SQLite: writes rows one by one with a prepared statement, in one transaction per chunk.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Statement};

use crate::client::{Answer, Batch, Client};
use crate::error::Error;
use crate::marks;
use crate::rows::Sink;

/// Timeout for transactions of other processes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of rows between progress reports.
const STEP: u64 = 10_000;

/// A connection.
pub(super) struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let open = || {
            let connection = Connection::open(path)?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            Ok(connection)
        };
        let failed =
            |error: rusqlite::Error| Error::Connect { reason: format!("{}: {error}", path.display()) };
        Ok(Self { connection: open().map_err(failed)? })
    }
}

fn refused(doing: &str) -> impl Fn(rusqlite::Error) -> Error {
    move |error| Error::Refused { doing: doing.to_owned(), said: error.to_string() }
}

impl Client for Sqlite {
    fn set_cancel_flag(&mut self, is_canceled: Arc<AtomicBool>) -> Result<(), Error> {
        // Waits for other processes are limited to some seconds anyway.
        drop(is_canceled);
        Ok(())
    }

    fn query(&mut self, sql: &str, doing: &str) -> Result<Answer, Error> {
        answer(&self.connection, sql).map_err(refused(doing))
    }

    fn load(&mut self, batch: &Batch<'_>, written: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error> {
        let doing = &batch.doing(None);
        let transaction = self.connection.transaction().map_err(refused(doing))?;
        let places = vec!["?"; batch.columns.into()].join(",");
        let insert = transaction.prepare(&format!("INSERT INTO {} VALUES ({places})", batch.target));
        let mut sink = RowInserter {
            statement: insert.map_err(refused(doing))?,
            place: 0,
            row: batch.rows.start,
            error: None,
        };
        for rows in batch.pieces(STEP) {
            let count = rows.end - rows.start;
            batch.content.write(rows, &mut sink);
            if let Some(error) = sink.error.take() {
                return Err(refused(&batch.doing(Some(sink.row)))(error));
            }
            if !written(count) {
                return Ok(false);
            }
        }
        drop(sink);
        if let Some(mark) = batch.mark {
            transaction.execute(&marks::mark(mark), ()).map_err(refused(doing))?;
        }
        transaction.commit().map_err(refused(doing))?;
        Ok(true)
    }
}

fn answer(connection: &Connection, sql: &str) -> rusqlite::Result<Answer> {
    let mut statement = connection.prepare(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query(())?;
    let mut answer = Vec::new();
    while let Some(row) = rows.next()? {
        let values = (0..columns).map(|column| Ok(text(row.get_ref(column)?)));
        answer.push(values.collect::<rusqlite::Result<_>>()?);
    }
    Ok(answer)
}

fn text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    }
}

/// Binds values in order, and inserts a row once it is complete. Does nothing after an error.
struct RowInserter<'a> {
    statement: Statement<'a>,
    place: usize,
    /// Row that is inserted next, or that failed.
    row: u64,
    error: Option<rusqlite::Error>,
}

impl RowInserter<'_> {
    fn bind(&mut self, value: impl rusqlite::ToSql) {
        self.place += 1;
        if self.error.is_none() {
            self.error = self.statement.raw_bind_parameter(self.place, value).err();
        }
    }
}

impl Sink for RowInserter<'_> {
    fn begin_row(&mut self, _columns: u16) {
        self.place = 0;
    }

    fn int(&mut self, value: i32) {
        self.bind(value);
    }

    fn big_int(&mut self, value: i64) {
        self.bind(value);
    }

    fn text(&mut self, value: &[u8]) {
        // All texts are created in this crate, or are checked, and are UTF-8.
        self.bind(std::str::from_utf8(value).unwrap_or_default());
    }

    fn any_text(&mut self, value: &[u8]) {
        self.text(value);
    }

    fn null(&mut self) {
        self.bind(rusqlite::types::Null);
    }

    fn end_row(&mut self) {
        if self.error.is_none() {
            self.error = self.statement.raw_execute().err();
            self.row += u64::from(self.error.is_none());
        }
    }
}
