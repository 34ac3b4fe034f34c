//! Databases and stores that are monitored from inside.

use std::sync::Arc;

use loading::HeldSession;
use plan::{Database, Endpoint, Plan, Secrets};

use super::Store;
use crate::database_cost::ReadCosts;
use crate::database_watch::{DatabaseWatch, Dialect, OpenSession};
use crate::prepare::Refusal;

/// Database that is monitored from inside.
#[derive(Clone, Debug)]
pub enum MonitoredDatabase {
    /// SQL database.
    Sql(Box<Database>),
    /// Store with protocol-specific steps.
    Store(Box<MonitoredStore>),
}

/// Store that is monitored from inside.
#[derive(Clone, Debug)]
pub struct MonitoredStore {
    store: &'static Store,
    /// System that the store belongs to.
    endpoint: Endpoint,
    /// Secrets of the log-in.
    secrets: Secrets,
    /// Whether the run is instrumented.
    is_instrumented: bool,
}

/// Queries of a monitor, and the function that opens its session.
type MonitoringSession = (Box<dyn Dialect>, Result<Box<OpenSession>, Refusal>);

impl MonitoredDatabase {
    /// Database of a plan: the one that runs transactions, or the one behind the requests; otherwise the first store.
    pub(crate) fn of(plan: &Plan, is_instrumented: bool) -> Option<Self> {
        if let Some(database) = plan.database() {
            return Some(Self::Sql(Box::new(database.clone())));
        }
        let store = |endpoint: &Endpoint| {
            let store = super::find_store(endpoint.protocol()?.name)?;
            let (endpoint, secrets) = (endpoint.clone(), plan.secrets.clone());
            Some(Self::Store(Box::new(MonitoredStore { store, endpoint, secrets, is_instrumented })))
        };
        plan.endpoints.iter().find_map(store)
    }

    /// Starts the monitor of a database in this process. `None` for a server.
    pub(crate) fn in_process_watch(&self) -> Option<fn() -> Box<dyn DatabaseWatch>> {
        match self {
            Self::Sql(database) => super::of(database.engine).watch_in_process,
            Self::Store(..) => None,
        }
    }

    /// Monitoring session. `None` for a database in this process, which has no sessions.
    pub(crate) fn session(&self) -> Option<MonitoringSession> {
        Some(match self {
            Self::Sql(database) => (super::of(database.engine).watch?(), session_of(database)),
            Self::Store(of) => {
                ((of.store.watch)(of.is_instrumented), (of.store.open)(&of.endpoint, &of.secrets))
            }
        })
    }

    /// Servers with cost counters, and the function that reads them. `None` if there are no counters.
    pub(crate) fn costs(&self) -> Option<(Vec<Database>, ReadCosts)> {
        match self {
            Self::Sql(database) => Some((database.servers(), super::of(database.engine).costs?)),
            Self::Store(..) => None,
        }
    }
}

/// Opens sessions of a SQL database.
fn session_of(database: &plan::Database) -> Result<Box<OpenSession>, Refusal> {
    let place = crate::load_data::place(database)?;
    Ok(Box::new(move |is_canceled| {
        let session = HeldSession::open_monitor(&place, Arc::clone(is_canceled))?;
        Ok(Box::new(session))
    }))
}
