//! Errors in scripts with file, line, column, and an excerpt with a mark.

use std::fmt;

/// An error in the text of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Name of the script, as given to [`crate::script::ScriptSet::add`].
    pub script: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1. `None` if it is unknown.
    pub column: Option<u32>,
    /// Error message.
    pub message: String,
    /// Name of the invalid meta command without its backslash. `None` for errors outside of commands.
    pub command: Option<String>,
    /// Text of the command from its backslash on, shortened if it is long. It may have several lines.
    pub excerpt: Option<String>,
    /// Position of the mark, in characters from the start of the last line of `excerpt`.
    pub mark: Option<u32>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.script, self.line, self.message)?;
        if let Some(column) = self.column {
            write!(f, " at column {column}")?;
        }
        if let Some(command) = &self.command {
            write!(f, " in command \"{command}\"")?;
        }
        let Some(excerpt) = &self.excerpt else { return Ok(()) };
        write!(f, "\n{excerpt}")?;
        match self.mark {
            Some(mark) => write!(f, "\n{:width$}^ error found here", "", width = mark as usize),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}

/// A meta command failed during execution, and the client cannot continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken(pub String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Broken {}
