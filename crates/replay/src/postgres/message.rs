//! Message of the server, as parsed from any log format.

/// A message with what the server wrote about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Message {
    /// Time in nanoseconds since 1970. `None` if the line has none.
    pub(crate) at_ns: Option<u64>,
    /// Identity of the session; empty if the line has none.
    pub(crate) session: String,
    /// Whether process IDs are the identity. Servers reuse them.
    pub(crate) is_by_pid: bool,
    pub(crate) user: String,
    pub(crate) database: String,
    pub(crate) severity: String,
    /// SQLSTATE; empty if the line has none.
    pub(crate) code: String,
    pub(crate) text: String,
    pub(crate) detail: String,
    pub(crate) context: String,
    /// Statement that caused an error; empty if the server wrote none.
    pub(crate) statement: String,
}

impl Message {
    /// Whether a statement or a connection failed with this message.
    pub(crate) fn is_error(&self) -> bool {
        matches!(self.severity.as_str(), "ERROR" | "FATAL" | "PANIC")
    }
}

/// Severities that begin a message. English, because the words of statements are recognized in English only.
pub(crate) const SEVERITIES: [&str; 13] = [
    "LOG", "ERROR", "FATAL", "PANIC", "WARNING", "NOTICE", "INFO", "DEBUG", "DEBUG1", "DEBUG2", "DEBUG3",
    "DEBUG4", "DEBUG5",
];

/// Words that continue a message in the stderr format.
pub(crate) const PARTS: [&str; 7] =
    ["DETAIL", "HINT", "QUERY", "CONTEXT", "LOCATION", "BACKTRACE", "STATEMENT"];
