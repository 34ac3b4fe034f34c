//! Reasons why a server is not available.

use std::io;
use std::path::Path;

/// Reason why a server could not be started.
#[derive(Debug, thiserror::Error)]
pub enum Missing {
    /// A required program is not installed.
    #[error("{program} is not on this machine: install it with `apt-get install {package}`")]
    Program {
        /// Name of the program.
        program: &'static str,
        /// Debian package that contains it.
        package: &'static str,
    },
    /// An operation failed.
    #[error("{what}: {reason}")]
    Failed {
        /// Description of the operation.
        what: String,
        /// Reason, with the server's own message if there is one.
        reason: String,
    },
}

impl Missing {
    /// Creates the error of a failed operation.
    pub(crate) fn failed(what: impl Into<String>, reason: impl ToString) -> Self {
        Self::Failed { what: what.into(), reason: reason.to_string() }
    }

    /// Creates the error of a failed operation on a file or folder.
    pub(crate) fn file(path: &Path, error: io::Error) -> Self {
        Self::failed(path.display().to_string(), error)
    }
}
