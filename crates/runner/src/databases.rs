//! Table of databases: how runs check, monitor, and execute scripts in each kind.

pub(crate) mod monitored;
mod mysql;
mod postgres;
mod redis;
mod sqlite;
mod transactions;

use std::fmt;

use plan::{Engine, OwnData, Plan, Transactions};
use wire::sql::ServerError;

use crate::database_check::{QueryResult, ServerQueries};
use crate::database_cost::ReadCosts;
use crate::database_watch::{DatabaseWatch, Dialect, OpenSession};
use crate::endpoint_kind::{EndpointKind, REQUESTS};
use crate::pooling::Pooling;
use crate::prepare::Refusal;

pub(crate) use transactions::database_addresses;

/// A kind of database.
pub(crate) struct Kind {
    engine: Engine,
    /// Name in the advice to check that the server listens.
    pub(crate) server: &'static str,
    /// Help for a rejected log-in.
    pub(crate) login_help: &'static str,
    /// Name of the protocol in ALPN, for TLS without a request. `None` if TLS always begins with a request.
    pub(crate) direct_tls_alpn: Option<&'static str>,
    /// Query for four columns: version, maximum number of connections, connections of others, and server process. The connection of
    /// the query itself does not count, because it is closed when the load starts.
    pub(crate) about_the_server: &'static str,
    /// Query for the version alone, for servers that lack something of the other query.
    pub(crate) version_question: &'static str,
    /// Formats name and version, from the version that the server reports.
    pub(crate) version_line: fn(&str) -> String,
    /// Queries the name and version of a server that reports the version of another product. `None` if no server of this kind needs it.
    pub(crate) own_version: Option<fn(&ServerQueries<'_>, &str) -> Option<String>>,
    /// Whether a server of this version reports equal process IDs at the log-in and in a query.
    pub(crate) reports_processes: fn(&str) -> bool,
    /// Sends one query.
    pub(crate) ask: fn(&ServerQueries<'_>, &str) -> Result<QueryResult, Refusal>,
    /// Detects how a pooler shares its server connections. `None` if poolers for this kind are not recognized.
    pub(crate) pooling: Option<fn(&ServerQueries<'_>) -> Option<Pooling>>,
    /// Whether an error means that the user lacks a privilege.
    pub(crate) is_forbidden: fn(&ServerError) -> bool,
    /// Creates a monitor of the database under load. `None` if it has no sessions.
    pub(crate) watch: Option<fn() -> Box<dyn Dialect>>,
    /// Reads the counters that give the cost of a load. `None` if there are none.
    pub(crate) costs: Option<ReadCosts>,
    /// Statements that show plans. `None` if there are none.
    pub(crate) explain: Option<Explain>,
    /// Checks whether a database of a running server can be copied within it. `None` if no server of this kind supports copies.
    pub(crate) server_copy: Option<FindServerCopy>,
    /// Starts a monitor of the connections of this process. `None` for a server.
    pub(crate) watch_in_process: Option<fn() -> Box<dyn DatabaseWatch>>,
    /// Kind of the endpoints that run its transactions.
    endpoint: &'static EndpointKind,
}

/// Statements that show the plan of another statement.
pub(crate) struct Explain {
    /// Statements that make the session read only, and set a statement timeout.
    pub(crate) before: &'static [&'static str],
    /// Words before a statement that cannot write, which may be run.
    pub(crate) of_reads: &'static str,
    /// Words before a statement that may write, which is only planned.
    pub(crate) of_writes: &'static str,
}

/// Method of copying a database within its server, or the reason why there is none.
type FindServerCopy = fn(&plan::Database, &OwnData) -> Result<Box<dyn ServerCopy>, String>;

/// Copy of a database within its server. The copy is removed when dropped.
pub(crate) trait ServerCopy: fmt::Debug {
    /// Creates the copy. The error states why it is impossible.
    fn make(&mut self) -> Result<(), String>;

    /// Replaces the database by its copy, and returns a description of the method. Errors are descriptions as well.
    fn restore(&mut self) -> Result<String, String>;
}

/// Finds a method of copying a database before its own data is prepared. `None` if its server has none.
pub(crate) fn server_copy(
    database: &plan::Database,
    own: &OwnData,
) -> Option<Result<Box<dyn ServerCopy>, String>> {
    Some((of(database.engine).server_copy?)(database, own))
}

/// Store with protocol-specific steps, and the way to monitor it under load.
pub struct Store {
    /// Name of the protocol.
    protocol: &'static str,
    /// Creates the monitor of a run, which may be instrumented.
    pub(crate) watch: fn(bool) -> Box<dyn Dialect>,
    /// Creates the function that opens sessions.
    pub(crate) open: fn(&plan::Endpoint, &plan::Secrets) -> Result<Box<OpenSession>, Refusal>,
    /// Queries the servers in the URLs for the servers of the load. `None` if the URLs name them.
    discover: fn(&plan::Endpoint, &plan::Secrets) -> Result<Option<plan::Endpoint>, Refusal>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.protocol)
    }
}

const STORES: [&Store; 1] = [&redis::STORE];

/// Finds the store with this protocol. `None` if it is not monitored.
pub(crate) fn find_store(protocol: &str) -> Option<&'static Store> {
    STORES.into_iter().find(|store| store.protocol == protocol)
}

/// Plan with the servers that the servers in its URLs reported. `None` if its URLs name all servers.
pub(crate) fn discovered(plan: &Plan) -> Result<Option<Box<Plan>>, Refusal> {
    let mut discovered: Option<Box<Plan>> = None;
    for (number, endpoint) in plan.endpoints.iter().enumerate() {
        let store = endpoint.protocol().and_then(|protocol| find_store(protocol.name));
        let found = store.map(|store| (store.discover)(endpoint, &plan.secrets)).transpose()?.flatten();
        if let Some(found) = found {
            discovered.get_or_insert_with(|| Box::new(plan.clone())).endpoints[number] = found;
        }
    }
    Ok(discovered)
}

const KINDS: [&Kind; 3] = [&postgres::KIND, &mysql::KIND, &sqlite::KIND];

/// Finds the kind of an endpoint: the kind of its database, or the kind for requests.
pub(crate) fn kind_at(endpoint: &plan::Endpoint) -> &'static EndpointKind {
    Transactions::at(endpoint).map_or(&REQUESTS, |sql| of(sql.database.engine).endpoint)
}

/// Finds the entry of an engine.
///
/// # Panics
///
/// The table lacks the engine, which a test rules out.
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
