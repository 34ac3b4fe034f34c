//! Errors of creating and filling tables.

/// Reason why tables are not created and filled as requested, with help. No text contains a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The options are invalid.
    #[error("{0}")]
    Options(String),
    /// The connection failed.
    #[error("{reason}")]
    Connect {
        /// Address and reason.
        reason: String,
    },
    /// The connection broke.
    #[error(
        "the connection broke off ({doing}): {reason}\n  help: the same command without --drop continues where this one stopped"
    )]
    Broken {
        /// Operation in progress.
        doing: String,
        /// Description of the failure.
        reason: String,
    },
    /// The server rejected a statement.
    #[error("the server rejected a statement ({doing}): {said}")]
    Refused {
        /// Operation in progress.
        doing: String,
        /// Error of the server.
        said: String,
    },
    /// A file of SQL has text that no server reads.
    #[error("{what}\n  help: {help}")]
    Statements {
        /// File, line, and description.
        what: String,
        /// Advice.
        help: &'static str,
    },
    /// Tables exist that the statements of a plan create.
    #[error("there are tables of these names already: {}\n  help: to drop and create them again, add `drop: true` to `prepare`", tables.join(", "))]
    OwnExists {
        /// Names of the tables.
        tables: Vec<String>,
    },
    /// A table that the plan fills, and does not create, has rows.
    #[error(
        "{table} has rows already\n  help: create it in `sql` of `prepare`, or empty it there with DELETE FROM {table}"
    )]
    HasRows {
        /// Name of the table.
        table: String,
    },
    /// Tables exist without the mark of this crate.
    #[error("there are tables of these names already: {}\n  help: to drop and create them again, add --drop", tables.join(", "))]
    Exists {
        /// Names of the tables.
        tables: Vec<String>,
    },
    /// A load with other options is incomplete.
    #[error(
        "tables are partially filled for other options ({before})\n  help: run it with the same options to continue, or add --drop to start again with {now}"
    )]
    Different {
        /// Earlier options.
        before: String,
        /// Current options.
        now: String,
    },
    /// Rows are missing after the load.
    #[error(
        "{table} has {found}, and should have {expected}\n  help: start again with --drop, while nothing else changes it"
    )]
    Wrong {
        /// Name of the table.
        table: String,
        /// Rows that were counted.
        found: String,
        /// Rows that are expected.
        expected: String,
    },
    /// The observer requested a stop.
    #[error(
        "stopped after {rows} of {rows_all} rows\n  help: the same command without --drop continues from there"
    )]
    Stopped {
        /// Number of rows that are written.
        rows: u64,
        /// Total number of rows.
        rows_all: u64,
    },
}

impl Error {
    /// Error for a thread that could not be started, so that its connection cannot be served.
    pub fn thread(error: std::io::Error) -> Self {
        Self::Connect {
            reason: format!(
                "no thread can be started for a connection: {error}; raise the limit of processes (ulimit -u)"
            ),
        }
    }
}
