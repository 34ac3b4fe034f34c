//! PostgreSQL: writes rows by COPY.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::Peer;
use wire::postgres::Session;
use wire::sql::{Login, Session as _, SessionEvent};

use crate::client::connection::{Connection, broken, nonce};
use crate::client::{Answer, Client};
use crate::error::Error;
use crate::marks;
use crate::plan::Chunk;
use crate::rows::CopyRows;
use crate::tables::Table;

/// A connection.
pub(super) struct Postgres {
    connection: Connection<Session>,
    rows: CopyRows,
}

impl Postgres {
    pub(super) fn open(peer: &Peer, login: &Arc<Login>, number: u32) -> Result<Self, Error> {
        let mut postgres = Self::open_as_it_is(peer, login, number)?;
        // Building an index may take any time. The commit that removes the marks is waited for, and then everything before it is on
        // disk.
        let settings = "SET statement_timeout = 0; SET synchronous_commit = off";
        postgres.query(settings, "setting up a connection")?;
        Ok(postgres)
    }

    /// Opens a connection without any SET statements, which would outlive the session behind a pooler.
    pub(super) fn open_as_it_is(peer: &Peer, login: &Arc<Login>, number: u32) -> Result<Self, Error> {
        let connection = Connection::open(peer, Session::new(Arc::clone(login), nonce()?), number)?;
        Ok(Self { connection, rows: CopyRows::default() })
    }
}

impl Client for Postgres {
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
        let doing = &format!("filling {}", table.name);
        let (name, is_whole) = (&table.name, chunk.is_whole);
        // Rows can be written frozen into a table that no other transaction has seen. TRUNCATE gives the empty table a new file.
        let begin = if is_whole { format!("BEGIN; TRUNCATE {name}") } else { "BEGIN".to_owned() };
        self.query(&begin, doing)?;
        self.connection.session.clear();
        let frozen = if is_whole { " (FREEZE)" } else { "" };
        self.connection.session.copy_in(&format!("COPY {name} FROM STDIN{frozen}"));
        self.connection.flush(doing)?;
        match self.connection.next_event(&mut (), doing)? {
            SessionEvent::Send if self.connection.session.is_copy_ready() => {}
            SessionEvent::Rejected => return Err(self.connection.refused(doing)),
            _ => return Err(broken(doing, "the server does not take a copy")),
        }
        let step = table.content.rows_at_once();
        for from in chunk.rows.clone().step_by(step as usize) {
            let rows = from..chunk.rows.end.min(from + step);
            let count = rows.end - rows.start;
            self.rows.clear();
            table.content.write(rows, &mut self.rows);
            self.connection.session.copy_bytes(self.rows.bytes());
            self.connection.flush(doing)?;
            if !written(count) {
                return Ok(false);
            }
        }
        self.connection.session.copy_end();
        self.connection.flush(doing)?;
        let (taken, sent) = (self.connection.finish(&mut (), doing)?, chunk.rows.end - chunk.rows.start);
        if taken != sent {
            let [found, expected] = [taken, sent].map(|rows| format!("taken {rows} rows of a copy"));
            return Err(Error::Wrong { table: name.clone(), found, expected });
        }
        self.query(&format!("{}; COMMIT", marks::mark(&chunk.mark)), doing)?;
        Ok(true)
    }
}
