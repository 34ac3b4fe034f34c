//! One session that stays open, such as while it holds a lock.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::client::{Client, Database};
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
