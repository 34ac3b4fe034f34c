//! Why tables are not there, or not as they were asked for.

/// What went wrong, where, and what to do about it. No text has a password in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// What is asked for makes no sense.
    #[error("{0}")]
    Options(String),
    /// No connection.
    #[error("{reason}")]
    Connect {
        /// Where to, and why not.
        reason: String,
    },
    /// The connection broke.
    #[error(
        "the connection broke off ({doing}): {reason}\n  help: the same command without --drop continues where this one stopped"
    )]
    Broken {
        /// What was under way.
        doing: String,
        /// How.
        reason: String,
    },
    /// The server said no.
    #[error("the server rejected a statement ({doing}): {said}")]
    Refused {
        /// What was under way.
        doing: String,
        /// Its words.
        said: String,
    },
    /// There are tables already, and without this crate's mark.
    #[error("there are tables of these names already: {}\n  help: to drop and create them again, add --drop", tables.join(", "))]
    Exists {
        /// Their names.
        tables: Vec<String>,
    },
    /// An earlier call with other options is unfinished.
    #[error(
        "tables are partially filled for other options ({before})\n  help: run it with the same options to continue, or add --drop to start again with {now}"
    )]
    Different {
        /// What was asked for before.
        before: String,
        /// What is asked for now.
        now: String,
    },
    /// Rows are not all there at the end.
    #[error(
        "{table} has {found}, and should have {expected}\n  help: start again with --drop, while nothing else changes it"
    )]
    Wrong {
        /// Which table.
        table: String,
        /// What was counted.
        found: String,
        /// What should be there.
        expected: String,
    },
    /// The observer wanted it to stop.
    #[error(
        "stopped after {rows} of {rows_all} rows\n  help: the same command without --drop continues from there"
    )]
    Stopped {
        /// Rows that are there.
        rows: u64,
        /// Rows in all.
        rows_all: u64,
    },
}

impl Error {
    /// A thread that could not be started: nothing can be done over a connection that nobody serves.
    pub fn thread(error: std::io::Error) -> Self {
        Self::Connect {
            reason: format!(
                "no thread can be started for a connection: {error}; raise the limit of processes (ulimit -u)"
            ),
        }
    }
}
