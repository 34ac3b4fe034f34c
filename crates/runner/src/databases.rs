//! The list of databases, and what runs need to know of each: how to ask it before a load, to watch it, and to play scripts in it.

mod mysql;
mod postgres;
mod sqlite;

use plan::{Engine, Transactions};
use sql::script::Deck;
use sql::{Settings, TransactionStep};
use wire::Channels;
use wire::sql::ServerError;

use crate::database_check::{Desk, QueryResult};
use crate::database_watch::Dialect;
use crate::pooling::Pooling;
use crate::prepare::Refusal;

/// A kind of database.
pub(crate) struct Kind {
    engine: Engine,
    /// Its name in a request to check that it listens.
    pub(crate) server: &'static str,
    /// Help for a log-in that was rejected.
    pub(crate) login_help: &'static str,
    /// Asks for four columns: version, maximum of connections, connections of others, and the process that answers. Our own
    /// connection does not count: it is gone when the load begins.
    pub(crate) about_the_server: &'static str,
    /// From the version that the server reports to its name and version.
    pub(crate) version_line: fn(&str) -> String,
    /// Asks one question.
    pub(crate) ask: fn(&Desk<'_>, &str) -> Result<QueryResult, Refusal>,
    /// Finds out how a pooler shares its server connections. `None` if poolers of it are not recognized.
    pub(crate) pooling: Option<fn(&Desk<'_>) -> Option<Pooling>>,
    /// Whether an error says that the user lacks a privilege.
    pub(crate) is_forbidden: fn(&ServerError) -> bool,
    /// Watches it under load. `None` if it has no sessions to ask.
    pub(crate) watch: Option<fn() -> Box<dyn Dialect>>,
    /// Plays scripts in this process. `None` for a server.
    pub(crate) in_process: Option<InProcess>,
}

/// From scripts, steps, and settings to the channels of a load in this process. In words, why there are none.
pub(crate) type InProcess =
    fn(Deck, &[TransactionStep], Settings, &Transactions) -> Result<Box<dyn Channels>, String>;

const KINDS: [&Kind; 3] = [&postgres::KIND, &mysql::KIND, &sqlite::KIND];

/// The entry of an engine.
///
/// # Panics
///
/// When the list lacks it, which a test rules out.
pub(crate) fn of(engine: Engine) -> &'static Kind {
    let found = KINDS.into_iter().find(|kind| kind.engine == engine);
    found.unwrap_or_else(|| panic!("{} is not in the list of databases", engine.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_has_its_own_entry() {
        for engine in Engine::ALL {
            assert_eq!(of(*engine).engine, *engine);
        }
        assert_eq!(KINDS.len(), Engine::ALL.len());
    }
}
