//! One connection to a database, whatever database it is.

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

/// Where tables are made.
#[derive(Clone, Debug)]
pub struct Database {
    /// The kind of the database.
    pub engine: Engine,
    /// Where it is.
    pub place: Place,
}

/// Where a database is.
#[derive(Clone, Debug)]
pub enum Place {
    /// At a server.
    Server {
        /// Where the server is.
        peer: Peer,
        /// Who logs in.
        login: Arc<Login>,
    },
    /// In a file.
    File(PathBuf),
}

impl Place {
    /// The server and who logs in.
    pub(crate) fn server(&self) -> Result<(&Peer, &Arc<Login>), Error> {
        match self {
            Self::Server { peer, login } => Ok((peer, login)),
            Self::File(path) => {
                let reason = format!("{} is a file, and the database has a server", path.display());
                Err(Error::Connect { reason })
            }
        }
    }

    /// The path of the file.
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
    /// Opens a connection that only reads what the server says of itself.
    pub(crate) fn open_to_watch(&self) -> Result<Box<dyn Client>, Error> {
        (databases::of(self.engine).open_to_watch)(&self.place)
    }

    /// Opens connection `number`.
    pub(crate) fn open(&self, number: u32) -> Result<Box<dyn Client>, Error> {
        (databases::of(self.engine).open)(&self.place, number)
    }
}

/// Rows of a reply; `None` is NULL.
pub type Answer = Vec<Vec<Option<String>>>;

/// One connection.
pub(crate) trait Client: Send {
    /// From now on a server that is silent is waited for until this is so. Without it, for a very long time.
    fn give_up_when(&mut self, is_given_up: Arc<AtomicBool>) -> Result<(), Error>;

    /// Has one statement run. `doing` says what for, should it fail.
    fn query(&mut self, sql: &str, doing: &str) -> Result<Answer, Error>;

    /// Writes the rows of a chunk and its mark in one transaction. `written` is called with rows as they go out, and says whether to
    /// go on; if not, nothing of the chunk remains, and the answer is `false`. A client that has failed is not used again.
    fn load(
        &mut self,
        table: &Table,
        chunk: &Chunk,
        written: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool, Error>;
}
