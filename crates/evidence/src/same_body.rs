//! Different requests whose replies have one short body.

use serde::{Deserialize, Serialize};

/// Body that the first replies to different requests had in common. Nothing was expected of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SameBody {
    /// The body, without secrets. It is untrusted: escape it before printing.
    pub body: String,
    /// Different requests, by target and body.
    pub requests: u64,
    /// Replies that were compared.
    pub replies: u64,
}
