//! Which build was measured: a label, and the commit and branch of the working directory.

use serde::{Deserialize, Serialize};

/// What is known of a run or a study beyond what it measured. Texts are untrusted: escape them before printing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// What the person who started it called it.
    pub label: Option<String>,
    /// The commit of the working directory.
    pub commit: Option<String>,
    /// The branch of the working directory.
    pub branch: Option<String>,
}
