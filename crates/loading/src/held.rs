//! One session that stays open, such as while it holds a lock.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::client::{Answer, Client, Database};
use crate::error::Error;

/// A session of a database. Dropping it closes it, and the server lets go of what it held.
pub struct HeldSession {
    client: Box<dyn Client>,
}

impl HeldSession {
    /// Connects and logs in. Statements are waited for until `is_given_up`.
    ///
    /// # Errors
    /// There is no connection, or it is refused.
    pub fn open(database: &Database, is_given_up: Arc<AtomicBool>) -> Result<Self, Error> {
        let mut client = database.open(0)?;
        client.give_up_when(is_given_up)?;
        Ok(Self { client })
    }

    /// The same for a session that only reads what the server says of itself. On PostgreSQL, no statement of it takes longer than
    /// half a second.
    ///
    /// # Errors
    /// There is no connection, or it is refused.
    pub fn open_to_watch(database: &Database, is_given_up: Arc<AtomicBool>) -> Result<Self, Error> {
        let mut client = database.open_to_watch()?;
        client.give_up_when(is_given_up)?;
        Ok(Self { client })
    }

    /// The rows that a statement answers; `None` is NULL. They may hold anything. More than 1 MiB ends the session.
    ///
    /// # Errors
    /// The server said no, or the connection broke.
    pub fn ask(&mut self, sql: &str) -> Result<Answer, Error> {
        self.client.query(sql, "asking the server about itself")
    }

    /// Has one statement run. A session that has failed is not used again.
    ///
    /// # Errors
    /// The server said no, or the connection broke.
    pub fn run(&mut self, sql: &str) -> Result<(), Error> {
        self.client.query(sql, "holding a session").map(drop)
    }
}

impl fmt::Debug for HeldSession {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("HeldSession")
    }
}
