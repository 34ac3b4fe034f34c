//! Database session that stays open, for example while it holds a lock.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::client::{Answer, Client, Database};
use crate::error::Error;

/// A database session. Dropping it closes it, and the server releases its locks.
pub struct HeldSession {
    client: Box<dyn Client>,
}

impl HeldSession {
    /// Connects and logs in. Waits for statements until `is_canceled` is set.
    ///
    /// # Errors
    ///
    /// If there is no connection, or the server rejects it.
    pub fn open(database: &Database, is_canceled: Arc<AtomicBool>) -> Result<Self, Error> {
        let mut client = database.open(0)?;
        client.set_cancel_flag(is_canceled)?;
        Ok(Self { client })
    }

    /// Like [`HeldSession::open`], for a session that only reads the server's own statistics. On PostgreSQL, its statements have a
    /// timeout of half a second.
    ///
    /// # Errors
    ///
    /// If there is no connection, or the server rejects it.
    pub fn open_monitor(database: &Database, is_canceled: Arc<AtomicBool>) -> Result<Self, Error> {
        let mut client = database.open_monitor()?;
        client.set_cancel_flag(is_canceled)?;
        Ok(Self { client })
    }

    /// Runs a statement, and returns its rows. `None` for NULL. Values are untrusted. More than 1 MiB ends the session.
    ///
    /// # Errors
    ///
    /// If the server rejects the statement, or the connection breaks.
    pub fn ask(&mut self, sql: &str) -> Result<Answer, Error> {
        self.client.query(sql, "asking the server about itself")
    }

    /// Runs a statement. The session must not be used after an error.
    ///
    /// # Errors
    ///
    /// If the server rejects the statement, or the connection breaks.
    pub fn run(&mut self, sql: &str) -> Result<(), Error> {
        self.client.query(sql, "holding a session").map(drop)
    }
}

impl fmt::Debug for HeldSession {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("HeldSession")
    }
}
