//! Origin of the measured build: a label, and the commit and branch of the working directory.

use serde::{Deserialize, Serialize};

/// Origin of a run or a study. Texts are untrusted: escape them before printing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Label given by the user.
    pub label: Option<String>,
    /// Commit of the working directory; `None` if it is unknown.
    pub commit: Option<String>,
    /// Branch of the working directory; `None` if it is unknown.
    pub branch: Option<String>,
}
