//! Why there is no server.

use std::io;
use std::path::Path;

/// A server that could not be had.
#[derive(Debug, thiserror::Error)]
pub enum Missing {
    /// A program that is needed is not there.
    #[error("{program} is not on this machine: install it with `apt-get install {package}`")]
    Program {
        /// Its name.
        program: &'static str,
        /// The Debian package that has it.
        package: &'static str,
    },
    /// Something on the way went wrong.
    #[error("{what}: {reason}")]
    Failed {
        /// What was tried.
        what: String,
        /// Why it did not work, with the server's own words where there are some.
        reason: String,
    },
}

impl Missing {
    /// From what was tried and why it did not work.
    pub(crate) fn failed(what: impl Into<String>, reason: impl ToString) -> Self {
        Self::Failed { what: what.into(), reason: reason.to_string() }
    }

    /// From an error about a file or a folder.
    pub(crate) fn file(path: &Path, error: io::Error) -> Self {
        Self::failed(path.display().to_string(), error)
    }
}
