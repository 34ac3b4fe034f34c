//! One connection to a database, whatever database it is.

mod connection;
mod mysql;
mod postgres;
mod sqlite;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use connection::LOGIN_TIMEOUT;
use engine::Peer;
use sql::Engine;
use wire::sql::Login;

use crate::error::Error;
use crate::plan::Chunk;
use crate::tables::Table;

/// Where tables are made.
#[derive(Clone, Debug)]
pub enum Database {
    /// A database of a PostgreSQL server.
    PostgreSql {
        /// Where the server is.
        peer: Peer,
        /// Who logs in.
        login: Arc<Login>,
    },
    /// A database of a MySQL or MariaDB server.
    MySql {
        /// Where the server is.
        peer: Peer,
        /// Who logs in.
        login: Arc<Login>,
    },
    /// A file of SQLite.
    Sqlite {
        /// Where the file is.
        path: PathBuf,
    },
}

impl Database {
    /// Of which kind it is.
    pub fn engine(&self) -> Engine {
        match self {
            Self::PostgreSql { .. } => Engine::PostgreSql,
            Self::MySql { .. } => Engine::MySql,
            Self::Sqlite { .. } => Engine::Sqlite,
        }
    }

    /// Opens a connection that only reads what the server says of itself.
    pub(crate) fn open_to_watch(&self) -> Result<Box<dyn Client>, Error> {
        let Self::PostgreSql { peer, login } = self else { return self.open(0) };
        let mut login = Login::clone(login);
        login.settings.extend(WATCHING.map(|(name, value)| (name.to_owned(), value.to_owned())));
        Ok(Box::new(postgres::Postgres::open_as_it_is(peer, &Arc::new(login), 0)?))
    }

    /// Opens connection `number`.
    pub(crate) fn open(&self, number: u32) -> Result<Box<dyn Client>, Error> {
        Ok(match self {
            Self::PostgreSql { peer, login } => Box::new(postgres::Postgres::open(peer, login, number)?),
            Self::MySql { peer, login } => Box::new(mysql::MySql::open(peer, login, number)?),
            Self::Sqlite { path } => Box::new(sqlite::Sqlite::open(path)?),
        })
    }
}

/// Settings of a session that only watches PostgreSQL: it must not hold anything up. They are part of the start-up, so that a
/// pooler either refuses them or forgets them with the session.
const WATCHING: [(&str, &str); 2] = [("application_name", "tenbin watch"), ("statement_timeout", "500")];

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
