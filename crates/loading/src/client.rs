//! Connection to a database of any kind.

pub(crate) mod connection;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use connection::LOGIN_TIMEOUT;
use engine::Peer;
use sql::Engine;
use wire::sql::Login;

use crate::databases;
use crate::error::Error;
use crate::plan::Chunk;
use crate::tables::Table;

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
    /// On a server.
    Server {
        /// Address of the server.
        peer: Peer,
        /// Credentials.
        login: Arc<Login>,
    },
    /// In a file.
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
    pub(crate) fn open_to_watch(&self) -> Result<Box<dyn Client>, Error> {
        (databases::of(self.engine).open_to_watch)(&self.place)
    }

    /// Opens connection `number`.
    pub(crate) fn open(&self, number: u32) -> Result<Box<dyn Client>, Error> {
        (databases::of(self.engine).open)(&self.place, number)
    }
}

/// Rows of a reply; `None` for NULL.
pub type Answer = Vec<Vec<Option<String>>>;

/// A connection.
pub(crate) trait Client: Send {
    /// Sets a flag that ends the wait for a silent server. Without one, the timeout is very long.
    fn give_up_when(&mut self, is_given_up: Arc<AtomicBool>) -> Result<(), Error>;

    /// Runs a statement. `doing` describes its purpose in an error.
    fn query(&mut self, sql: &str, doing: &str) -> Result<Answer, Error>;

    /// Writes the rows of a chunk and its mark in one transaction. Calls `written` as rows are sent, which returns false to stop.
    /// Then the chunk is rolled back, and the result is false. A client must not be used after an error.
    fn load(
        &mut self,
        table: &Table,
        chunk: &Chunk,
        written: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool, Error>;
}
