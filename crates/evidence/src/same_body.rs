//! Detection of different requests whose replies have the same short body.

use serde::{Deserialize, Serialize};

/// Body that the first replies to different requests had in common, where the plan checks no body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SameBody {
    /// The body, without secrets. It is untrusted: escape it before printing.
    pub body: String,
    /// Number of different requests, by target and body.
    pub requests: u64,
    /// Number of replies that were compared.
    pub replies: u64,
}
