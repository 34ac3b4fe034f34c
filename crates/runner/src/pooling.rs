//! Poolers that assign server connections to clients per transaction, and the state of scripts that is lost by that.

use std::fmt;

use plan::Transactions;
use sql::{Mode, StateUse};

use crate::database_check::NotReady;

/// A pooler that shares its server connections between transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pooling {
    /// Whether the pooler prepares a client's statements again in each server connection that executes them.
    pub(crate) tracks_statements: bool,
}

impl Pooling {
    /// Text that follows the version of the server.
    pub(crate) const WORDS: &str = " that shares server connections between transactions";

    /// Checks the load against the state that the pooler keeps. Returns a warning for each kind of lost state.
    ///
    /// # Errors
    ///
    /// The load cannot succeed, or might succeed with wrong results.
    pub(crate) fn check(self, sql: &Transactions) -> Result<Vec<Warning>, NotReady> {
        if sql.settings.mode == Mode::Prepared && !self.tracks_statements {
            return Err(NotReady::Pooler(UNTRACKED.to_owned()));
        }
        let uses = sql::session_state(&sql.all_scripts, sql.database.engine);
        let (wrong, lost): (Vec<_>, Vec<_>) = uses.into_iter().partition(|made| made.state.is_wrong);
        if !wrong.is_empty() {
            let lines: String = wrong.iter().map(|made| format!("\n  {}", line(made))).collect();
            let help = helps(&wrong);
            return Err(NotReady::Pooler(format!("{SHARED}:{lines}\n  help: {help}; or {SESSION_MODE}")));
        }
        Ok(lost.iter().map(Warning::of).collect())
    }
}

const SHARED: &str =
    "the pooler shares server connections between transactions, and the load relies on state of a connection";

const SESSION_MODE: &str = "set the pooler to session mode (PgBouncer: pool_mode = session)";

const UNTRACKED: &str = "the pooler shares server connections between transactions and does not track prepared statements, which the query \
     mode prepared needs\n  help: write `-M extended` (`mode: extended` in a plan), take a pooler that tracks them (PgBouncer 1.21 or newer \
     with max_prepared_statements above 0), or set the pooler to session mode (PgBouncer: pool_mode = session)";

/// Place and state of a use, and the consequence of the pooler.
fn line(made: &StateUse<'_>) -> String {
    let StateUse { state, script, line } = made;
    format!("{script}:{line}: {}: {}", state.name, state.consequence)
}

/// Helps of the uses, without repetitions.
fn helps(uses: &[StateUse<'_>]) -> String {
    let mut helps: Vec<&str> = uses.iter().map(|made| made.state.help).collect();
    helps.dedup();
    helps.join("; ")
}

/// A use of state that the load cannot rely on, with advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    what: String,
    help: String,
}

impl Warning {
    fn of(made: &StateUse<'_>) -> Self {
        let what = format!("{SHARED}: {}", line(made));
        Self { what, help: format!("{}, or {SESSION_MODE}", made.state.help) }
    }

    /// Formats a one-line note of a run.
    pub(crate) fn note(&self) -> String {
        format!("{}; {}", self.what, self.help)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  help: {}", self.what, self.help)
    }
}
