//! Content of the replies of a run: sizes, codings, rows, and cache hits by step.

use serde::{Deserialize, Serialize};

/// Content of the replies to one step in the measured time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepContents {
    /// Number of the step.
    pub step: u16,
    /// Number of replies with any outcome.
    pub replies: u64,
    /// Sizes of the content as sent, in bytes, without headers. Empty if the protocol does not report sizes.
    #[serde(default, skip_serializing_if = "SizeClasses::is_empty")]
    pub sizes: SizeClasses,
    /// Sizes of some encoded bodies after decoding, in bytes. Empty if none was sampled.
    #[serde(default, skip_serializing_if = "SizeClasses::is_empty")]
    pub decoded: SizeClasses,
    /// Rows that each transaction returned or changed. Empty for protocols without rows.
    #[serde(default, skip_serializing_if = "SizeClasses::is_empty")]
    pub rows: SizeClasses,
    /// Replies by their content coding, such as `gzip`. Replies without a coding are not listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codings: Vec<(String, u64)>,
    /// Replies that came from a cache.
    #[serde(default)]
    pub cache_hits: u64,
    /// Replies that a cache passed on from the server.
    #[serde(default)]
    pub cache_misses: u64,
}

/// Distribution of sizes or of numbers of rows: count and sum of each class, in ascending order. A class is at most 3.2 % wide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SizeClasses(pub Vec<(u64, u64)>);

impl SizeClasses {
    /// Returns whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
