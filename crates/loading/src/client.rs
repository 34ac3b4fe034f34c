//! Connection to a database of any kind.

pub(crate) mod connection;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use connection::LOGIN_TIMEOUT;
use engine::Peer;
use sql::Engine;
use wire::sql::Login;

use crate::databases;
use crate::error::Error;
use crate::rows::Content;

/// Database in which tables are created.
#[derive(Clone, Debug)]
pub struct Database {
    /// Kind of the database.
    pub engine: Engine,
    /// Location of the database.
    pub place: DatabaseLocation,
}

/// Location of a database.
#[derive(Clone, Debug)]
pub enum DatabaseLocation {
    /// Database on a server.
    Server {
        /// Address of the server.
        peer: Peer,
        /// Credentials.
        login: Arc<Login>,
    },
    /// Database in a file.
    File(PathBuf),
}

impl DatabaseLocation {
    /// Address and credentials of the server. Fails for a file.
    pub(crate) fn server(&self) -> Result<(&Peer, &Arc<Login>), Error> {
        match self {
            Self::Server { peer, login } => Ok((peer, login)),
            Self::File(path) => {
                let reason = format!("{} is a file, and the database has a server", path.display());
                Err(Error::Connect { reason })
            }
        }
    }

    /// Path of the file. Fails for a server.
    pub(crate) fn file(&self) -> Result<&Path, Error> {
        match self {
            Self::File(path) => Ok(path),
            Self::Server { .. } => {
                let reason = "it is a server, and the database is a file".to_owned();
                Err(Error::Connect { reason })
            }
        }
    }
}

impl Database {
    /// Opens a connection that only reads the server's own statistics.
    pub(crate) fn open_monitor(&self) -> Result<Box<dyn Client>, Error> {
        (databases::of(self.engine).open_monitor)(&self.place)
    }

    /// Opens connection `number`.
    pub(crate) fn open(&self, number: u32) -> Result<Box<dyn Client>, Error> {
        (databases::of(self.engine).open)(&self.place, number)
    }
}

/// Rows of a reply. `None` for NULL.
pub type Answer = Vec<Vec<Option<String>>>;

/// A connection.
pub(crate) trait Client: Send {
    /// Sets a flag that ends the wait for a silent server. Without one, the timeout is very long.
    fn set_cancel_flag(&mut self, is_canceled: Arc<AtomicBool>) -> Result<(), Error>;

    /// Runs a statement. `doing` describes its purpose in an error.
    fn query(&mut self, sql: &str, doing: &str) -> Result<Answer, Error>;

    /// Writes the rows of a batch and its mark in one transaction. Calls `written` as rows are sent, which returns false to stop.
    /// Then the batch is rolled back, and the result is false. A client must not be used after an error.
    fn load(&mut self, batch: &Batch<'_>, written: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error>;
}

/// Rows that are written in one transaction.
#[derive(Clone, Debug)]
pub(crate) struct Batch<'a> {
    /// Name of the table.
    pub(crate) table: &'a str,
    /// Table, with the list of columns if only some of them are written.
    pub(crate) target: &'a str,
    /// Number of columns that are written.
    pub(crate) columns: u16,
    /// Kind of its rows.
    pub(crate) content: &'a Content,
    /// Range of the rows, from 0.
    pub(crate) rows: Range<u64>,
    /// True if these are all rows of the table, which is empty and may be truncated first.
    pub(crate) is_whole: bool,
    /// Mark that is stored with the rows. `None` if there is none.
    pub(crate) mark: Option<&'a str>,
}

impl Batch<'_> {
    /// Number of rows.
    pub(crate) fn count(&self) -> u64 {
        self.rows.end - self.rows.start
    }

    /// Ranges of rows that are sent at once.
    pub(crate) fn pieces(&self, rows_at_once: u64) -> impl Iterator<Item = Range<u64>> {
        let end = self.rows.end;
        self.rows
            .clone()
            .step_by(rows_at_once.max(1) as usize)
            .map(move |from| from..end.min(from + rows_at_once))
    }

    /// Operation for errors, with the position of the row in its file, if any.
    pub(crate) fn doing(&self, row: Option<u64>) -> String {
        let place = row.map_or_else(|| self.content.file(), |row| self.content.place(row));
        match place {
            Some(place) => format!("filling {}, {place}", self.table),
            None => format!("filling {}", self.table),
        }
    }
}
