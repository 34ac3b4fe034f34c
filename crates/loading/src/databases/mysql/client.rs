//! MySQL and MariaDB: writes rows by multi-row INSERTs.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{Endpoint, Peer};
use wire::mysql::Session;
use wire::sql::{Login, Session as _};

use crate::client::connection::{Connection, nonce};
use crate::client::{Answer, Batch, Client};
use crate::error::Error;
use crate::marks;
use crate::rows::InsertRows;

/// SQLSTATE of a deadlock. Connections that fill the gaps of an interrupted load may deadlock. The server rolls back one of the
/// chunks, which is then written again.
const DEADLOCK: &str = "40001";
/// Maximum number of tries of a chunk.
const TRIES_MAX: u32 = 20;

/// A connection.
pub(super) struct MySql {
    connection: Connection<Session>,
}

impl MySql {
    pub(super) fn open(peer: &Peer, login: &Arc<Login>, number: u32) -> Result<Self, Error> {
        let session = Session::new(Arc::clone(login), nonce()?);
        let is_private = matches!(peer.endpoints[number as usize % peer.endpoints.len()], Endpoint::Unix(_));
        let session = if is_private { session.on_private_transport() } else { session };
        Ok(Self { connection: Connection::open(peer, session, number)? })
    }
}

impl Client for MySql {
    fn give_up_when(&mut self, is_given_up: Arc<AtomicBool>) -> Result<(), Error> {
        self.connection.give_up_when(is_given_up)
    }

    fn query(&mut self, sql: &str, doing: &str) -> Result<Answer, Error> {
        self.connection.ask(sql, doing)
    }

    fn load(&mut self, batch: &Batch<'_>, written: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error> {
        let mut told = 0;
        for _ in 1..TRIES_MAX {
            match self.load_once(batch, &mut told, written) {
                Err(Error::Refused { .. })
                    if self.connection.session.last_error().sqlstate.as_str() == DEADLOCK => {}
                ended => return ended,
            }
        }
        self.load_once(batch, &mut told, written)
    }
}

impl MySql {
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
            insert.clear();
            batch.content.write(rows, &mut insert);
            match self.connection.run(insert.bytes(), &mut (), doing) {
                // A deadlock is tried again.
                Err(Error::Refused { said, .. })
                    if self.connection.session.last_error().sqlstate.as_str() != DEADLOCK =>
                {
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
