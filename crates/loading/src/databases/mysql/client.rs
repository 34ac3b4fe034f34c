//! MySQL and MariaDB: writes rows by multi-row INSERTs.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{Endpoint, Peer};
use wire::mysql::Session;
use wire::sql::{Login, Session as _};

use crate::client::connection::{Connection, nonce};
use crate::client::{Answer, Client};
use crate::error::Error;
use crate::marks;
use crate::plan::Chunk;
use crate::rows::InsertRows;
use crate::tables::Table;

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

    fn load(
        &mut self,
        table: &Table,
        chunk: &Chunk,
        written: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool, Error> {
        let mut told = 0;
        for _ in 1..TRIES_MAX {
            match self.load_once(table, chunk, &mut told, written) {
                Err(Error::Refused { .. })
                    if self.connection.session.last_error().sqlstate.as_str() == DEADLOCK => {}
                ended => return ended,
            }
        }
        self.load_once(table, chunk, &mut told, written)
    }
}

impl MySql {
    /// Writes a chunk once. Does not report rows again that an earlier try has reported.
    fn load_once(
        &mut self,
        table: &Table,
        chunk: &Chunk,
        told: &mut u64,
        written: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool, Error> {
        let doing = &format!("filling {}", table.name);
        self.query("BEGIN", doing)?;
        let mut insert = InsertRows::new(&table.name);
        let step = table.content.rows_at_once();
        for from in chunk.rows.clone().step_by(step as usize) {
            let rows = from..chunk.rows.end.min(from + step);
            let done = rows.end - chunk.rows.start;
            insert.clear();
            table.content.write(rows, &mut insert);
            self.connection.run(insert.bytes(), &mut (), doing)?;
            let further = done.saturating_sub(*told);
            *told = done.max(*told);
            if !written(further) {
                return Ok(false);
            }
        }
        self.query(&marks::mark(&chunk.mark), doing)?;
        self.query("COMMIT", doing)?;
        Ok(true)
    }
}
