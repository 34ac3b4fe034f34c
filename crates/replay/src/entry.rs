//! Statement or request of a log.

use std::sync::Arc;

/// A recorded statement or request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Number of the session, in order of first appearance. `None` if the log does not name sessions.
    pub session: Option<u32>,
    /// Start, in nanoseconds since 1970.
    pub at_ns: u64,
    /// User that the log names; empty if it names none.
    pub user: Arc<str>,
    /// Database that the log names; empty if it names none.
    pub database: Arc<str>,
    /// Statement or request.
    pub action: Action,
    /// Text of the action with its values masked.
    pub fingerprint: String,
    /// Duration in nanoseconds. `None` if the log has none.
    pub duration_ns: Option<u64>,
    /// Result in the log.
    pub result: LoggedResult,
    /// Number of rows that were returned. `None` if the log has none.
    pub rows: Option<u64>,
}

/// Statement or request to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Text of one or more SQL statements.
    Query(String),
    /// SQL statement with separate values.
    Execute {
        /// Text with placeholders.
        text: String,
        /// Values in text form; `None` is NULL.
        values: Vec<Option<String>>,
        /// Whether the client prepared the statement under a name.
        is_named: bool,
    },
    /// Command of a store, with its words in quotes as redis-cli writes them.
    Command(String),
    /// HTTP request.
    Request {
        /// Method, such as GET.
        method: String,
        /// Path and query.
        target: String,
        /// Headers that the log has. Empty for an access log.
        headers: Vec<(String, String)>,
        /// Body. `None` for a request without one.
        body: Option<String>,
    },
}

impl Action {
    /// Text without values: the statement, or the path of a request.
    pub fn text(&self) -> &str {
        match self {
            Self::Query(text) | Self::Command(text) | Self::Execute { text, .. } => text,
            Self::Request { target, .. } => target,
        }
    }
}

/// Result of a statement or request, as far as a log has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LoggedResult {
    /// Unknown, because the log does not contain the outcome.
    #[default]
    Unknown,
    /// Success.
    Ok,
    /// Error with this SQLSTATE. `None` if the log has no code.
    Error(Option<[u8; 5]>),
    /// Reply with this HTTP status.
    Status(u16),
}

impl LoggedResult {
    /// Failure with a SQLSTATE, or without a code if `code` is not one.
    pub fn error(code: &[u8]) -> Self {
        Self::Error(code.try_into().ok().filter(|code: &[u8; 5]| code.iter().all(u8::is_ascii_alphanumeric)))
    }
}
