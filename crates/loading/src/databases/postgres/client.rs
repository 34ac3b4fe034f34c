//! PostgreSQL: writes rows by COPY.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::thread;

use engine::Peer;
use wire::postgres::Session;
use wire::sql::{Login, Session as _, SessionEvent};

use crate::client::connection::{Connection, broken, nonce};
use crate::client::{Answer, Batch, Client};
use crate::error::Error;
use crate::marks;
use crate::rows::CopyRows;

/// Number of pieces of rows that are generated ahead.
const PIECES_AHEAD: usize = 2;

/// Settings of a transaction that writes rows. Its commit does not wait for the disk: the last commit of a load does, and then everything
/// before it is on disk. `SET LOCAL`, because other clients of a pooler get the server session with what a plain SET leaves there.
const LOADING: &str = "SET LOCAL synchronous_commit = off; SET LOCAL statement_timeout = 0";

/// A connection.
pub(super) struct Postgres {
    connection: Connection<Session>,
}

impl Postgres {
    /// Opens a connection without a statement timeout, for statements such as building an index.
    pub(super) fn open(peer: &Peer, login: &Arc<Login>, number: u32) -> Result<Self, Error> {
        let mut patient = Login::clone(login);
        patient.settings.push(("statement_timeout".to_owned(), "0".to_owned()));
        match Self::open_without_settings(peer, &Arc::new(patient), number) {
            // A pooler cannot keep the setting for one client. The limit of its user holds, except where a transaction lifts it.
            Err(Error::Connect { reason }) if reason.contains("startup parameter") => {
                Self::open_without_settings(peer, login, number)
            }
            opened => opened,
        }
    }

    /// Opens a connection without any SET statements, which would outlive the session behind a pooler.
    pub(super) fn open_without_settings(peer: &Peer, login: &Arc<Login>, number: u32) -> Result<Self, Error> {
        let connection = Connection::open(peer, Session::new(Arc::clone(login), nonce()?), number)?;
        Ok(Self { connection })
    }
}

impl Client for Postgres {
    fn set_cancel_flag(&mut self, is_canceled: Arc<AtomicBool>) -> Result<(), Error> {
        self.connection.set_cancel_flag(is_canceled)
    }

    fn query(&mut self, sql: &str, doing: &str) -> Result<Answer, Error> {
        self.connection.ask(sql, doing)
    }

    fn load(&mut self, batch: &Batch<'_>, written: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error> {
        match self.copy(batch, written) {
            // The server stops reading at an error, so the connection may break before its reason is read.
            Err(Error::Refused { said, .. }) => {
                let row = line_of_copy(&self.connection.session.last_error().context);
                Err(Error::Refused { doing: batch.doing(row.map(|line| batch.rows.start + line - 1)), said })
            }
            ended => ended,
        }
    }
}

/// Line of a COPY that the server names in an error, counted from 1.
fn line_of_copy(context: &str) -> Option<u64> {
    let (_, rest) = context.split_once(", line ")?;
    let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|line| *line > 0)
}

impl Postgres {
    /// Sends all rows of a COPY. A separate thread generates the next batch while the server reads this one. False if `written` requests a
    /// stop.
    fn send_rows(&mut self, batch: &Batch<'_>, written: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error> {
        let doing = &batch.doing(None);
        thread::scope(|scope| {
            let (made, ready) = mpsc::sync_channel(PIECES_AHEAD);
            let make = move || {
                for rows in batch.pieces(batch.content.rows_at_once()) {
                    let (count, mut copy) = (rows.end - rows.start, CopyRows::default());
                    batch.content.write(rows, &mut copy);
                    // The receiver is dropped after an error.
                    if made.send((copy, count)).is_err() {
                        return;
                    }
                }
            };
            let builder = thread::Builder::new().name("make-rows".to_owned());
            builder.spawn_scoped(scope, make).map_err(Error::thread)?;
            for (copy, count) in ready {
                self.connection.session.copy_data(copy.bytes());
                if let Err(broken) = self.connection.flush(doing) {
                    // An error of the server explains why it closed the connection.
                    return Err(self.connection.finish(&mut (), doing).err().unwrap_or(broken));
                }
                if !written(count) {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    /// Writes rows by COPY.
    fn copy(&mut self, batch: &Batch<'_>, written: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error> {
        let doing = &batch.doing(None);
        let (name, target, is_whole) = (batch.table, batch.target, batch.is_whole);
        // Rows can be written frozen into a table that no other transaction has seen. TRUNCATE gives the empty table a new file.
        let truncate = if is_whole { format!("; TRUNCATE {name}") } else { String::new() };
        let begin = format!("BEGIN; {LOADING}{truncate}");
        self.query(&begin, doing)?;
        self.connection.session.clear();
        let frozen = if is_whole { " (FREEZE)" } else { "" };
        self.connection.session.copy_in(&format!("COPY {target} FROM STDIN{frozen}"));
        self.connection.flush(doing)?;
        match self.connection.next_event(&mut (), doing)? {
            SessionEvent::Send if self.connection.session.is_copy_ready() => {}
            SessionEvent::Rejected => return Err(self.connection.refused(doing)),
            _ => return Err(broken(doing, "the server does not take a copy")),
        }
        if !self.send_rows(batch, written)? {
            return Ok(false);
        }
        self.connection.session.copy_done();
        self.connection.flush(doing)?;
        let (taken, sent) = (self.connection.finish(&mut (), doing)?, batch.count());
        if taken != sent {
            let [found, expected] = [taken, sent].map(|rows| format!("taken {rows} rows of a copy"));
            return Err(Error::Wrong { table: name.to_owned(), found, expected });
        }
        let mark = batch.mark.map_or_else(String::new, |mark| format!("{}; ", marks::mark(mark)));
        self.query(&format!("{mark}COMMIT"), doing)?;
        Ok(true)
    }
}
