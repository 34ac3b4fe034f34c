//! What is wrong with a script, said so that it can be found: file, line, column, and the line with a mark.

use std::fmt;

/// A fault in the text of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The script's name, as it was given to [`crate::script::Deck::add`].
    pub script: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in that line in characters, from 1, where it is known.
    pub column: Option<u32>,
    /// What is wrong.
    pub message: String,
    /// The meta command that is wrong, without its backslash.
    pub command: Option<String>,
    /// The command as it stands in the script, from its backslash; may have several lines; what is too long is cut.
    pub excerpt: Option<String>,
    /// Where the mark belongs: characters from the start of the last line of `excerpt`.
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

/// A meta command failed while a script was played: the client cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken(pub String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Broken {}
