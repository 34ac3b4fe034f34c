//! MySQL and MariaDB: writes rows by LOAD DATA LOCAL if the server allows it, and by multi-row INSERTs otherwise.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{Endpoint, Peer};
use sql::Engine;
use wire::mysql::Session;
use wire::sql::{Login, Session as _};

use crate::client::connection::{Connection, nonce};
use crate::client::{Answer, Batch, Client};
use crate::error::Error;
use crate::marks;
use crate::rows::{CopyRows, InsertRows};

/// Maximum number of tries of a chunk.
const TRIES_MAX: u32 = 20;

/// A connection.
pub(super) struct MySql {
    connection: Connection<Session>,
    /// True if the server accepts LOAD DATA LOCAL, as far as known.
    accepts_load_data: bool,
}

impl MySql {
    pub(super) fn open(peer: &Peer, login: &Arc<Login>, number: u32) -> Result<Self, Error> {
        let session = Session::new(Arc::clone(login), nonce()?).with_local_infile();
        let is_private = matches!(peer.endpoints[number as usize % peer.endpoints.len()], Endpoint::Unix(_));
        let session = if is_private { session.on_private_transport() } else { session };
        let connection = Connection::open(peer, session, number)?;
        let mut mysql = Self { connection, accepts_load_data: false };
        let allowed = mysql.query("SELECT @@local_infile", "setting up a connection");
        mysql.accepts_load_data = allowed
            .is_ok_and(|rows| rows.first().is_some_and(|row| row.first() == Some(&Some("1".to_owned()))));
        Ok(mysql)
    }
}

impl Client for MySql {
    fn set_cancel_flag(&mut self, is_canceled: Arc<AtomicBool>) -> Result<(), Error> {
        self.connection.set_cancel_flag(is_canceled)
    }

    fn query(&mut self, sql: &str, doing: &str) -> Result<Answer, Error> {
        self.connection.ask(sql, doing)
    }

    fn load(&mut self, batch: &Batch<'_>, written: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error> {
        let mut told = 0;
        for _ in 1..TRIES_MAX {
            match self.load_once(batch, &mut told, written) {
                Err(Error::Refused { .. }) if self.is_conflict() => {
                    // A server that rejects a COMMIT may keep its transaction open.
                    self.query("ROLLBACK", &batch.doing(None))?;
                }
                ended => return ended,
            }
        }
        self.load_once(batch, &mut told, written)
    }
}

impl MySql {
    /// Whether the last error is a deadlock or a conflict. Connections that fill the gaps of an interrupted load may deadlock, and those
    /// that write marks may conflict. The server rolls back one of the chunks, which is then written again.
    fn is_conflict(&self) -> bool {
        sql::classes::is_retryable(
            sql::classes::rejection(Engine::MySql, self.connection.session.last_error()).class,
        )
    }

    /// First row that the server rejects on its own, for an error that names no row. `None` if it accepts each, or the connection
    /// breaks. Only rows of a file are tried, because others have no place to name.
    fn rejected_row(&mut self, batch: &Batch<'_>, rows: Range<u64>) -> Option<u64> {
        batch.content.file()?;
        let doing = batch.doing(None);
        self.query("ROLLBACK", &doing).ok()?;
        self.query("BEGIN", &doing).ok()?;
        let mut insert = InsertRows::new(batch.target);
        for row in rows {
            insert.clear();
            batch.content.write(row..row + 1, &mut insert);
            if self.connection.run(insert.bytes(), &mut (), &doing).is_err() {
                return Some(row);
            }
        }
        self.query("ROLLBACK", &doing).ok()?;
        None
    }

    /// Writes rows by LOAD DATA LOCAL. False if the server skipped rows or changed values: only INSERT reports the reason.
    fn load_rows(&mut self, batch: &Batch<'_>, rows: Range<u64>) -> Result<bool, Error> {
        let doing = &batch.doing(None);
        let (name, columns) = batch
            .target
            .split_once('(')
            .map_or((batch.target, String::new()), |(name, columns)| (name.trim(), format!(" ({columns}")));
        let text = format!("LOAD DATA LOCAL INFILE 'rows' INTO TABLE {name} CHARACTER SET utf8mb4{columns}");
        let mut copy = CopyRows::default();
        let count = rows.end - rows.start;
        batch.content.write(rows, &mut copy);
        self.connection.session.clear();
        self.connection.session.load(text.as_bytes(), copy.bytes().to_vec());
        self.connection.flush(doing)?;
        let taken = match self.connection.finish(&mut (), doing) {
            Ok(taken) => taken,
            Err(Error::Refused { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let warnings = self.query("SELECT @@warning_count", doing)?;
        let has_none = warnings.first().is_some_and(|row| row.first() == Some(&Some("0".to_owned())));
        Ok(taken == count && has_none)
    }

    /// Writes a chunk once. Does not report rows again that an earlier try has reported.
    fn load_once(
        &mut self,
        batch: &Batch<'_>,
        told: &mut u64,
        written: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool, Error> {
        let doing = &batch.doing(None);
        self.query("BEGIN", doing)?;
        let mut insert = InsertRows::new(batch.target);
        for rows in batch.pieces(batch.content.rows_at_once()) {
            let (first, done) = (rows.start, rows.end - batch.rows.start);
            if self.accepts_load_data {
                if !self.load_rows(batch, rows.clone())? {
                    self.accepts_load_data = false;
                    self.query("ROLLBACK", doing)?;
                    return self.load_once(batch, told, written);
                }
                let further = done.saturating_sub(*told);
                *told = done.max(*told);
                if !written(further) {
                    return Ok(false);
                }
                continue;
            }
            insert.clear();
            batch.content.write(rows, &mut insert);
            match self.connection.run(insert.bytes(), &mut (), doing) {
                // A conflict is tried again.
                Err(Error::Refused { said, .. }) if !self.is_conflict() => {
                    let named = row_of_insert(&said).map(|row| first + row - 1);
                    let row = named.or_else(|| self.rejected_row(batch, first..batch.rows.start + done));
                    return Err(Error::Refused { doing: batch.doing(row), said });
                }
                ended => ended?,
            }
            let further = done.saturating_sub(*told);
            *told = done.max(*told);
            if !written(further) {
                return Ok(false);
            }
        }
        if let Some(mark) = batch.mark {
            self.query(&marks::mark(mark), doing)?;
        }
        self.query("COMMIT", doing)?;
        Ok(true)
    }
}

/// Row of an INSERT that the server names in an error, counted from 1: `Data too long for column 'a' at row 3`.
fn row_of_insert(said: &str) -> Option<u64> {
    let (_, row) = said.rsplit_once(" at row ")?;
    row.trim().parse().ok().filter(|row| *row > 0)
}
