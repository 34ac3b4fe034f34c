//! Origin of the measured build: a label, and the commit and branch of the working directory.

use serde::{Deserialize, Serialize};

/// Facts about a run or a study beyond its measurements. Texts are untrusted: escape them before printing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Label that its user gave it.
    pub label: Option<String>,
    /// The commit of the working directory.
    pub commit: Option<String>,
    /// The branch of the working directory.
    pub branch: Option<String>,
}
