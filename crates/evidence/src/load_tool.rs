//! A load generator other than Tenbin's engine, and what it reported that no count of requests holds.

use serde::{Deserialize, Serialize};

/// The tool that made a load. Texts are untrusted: escape them before printing. `None`: the tool did not report it, or rounded it
/// to 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadTool {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// The words of the command that was measured.
    pub command: Vec<String>,
    /// Meaning of its times, as the end of a sentence.
    pub times: String,
    /// The smallest step in which they are printed, in nanoseconds.
    pub resolution_ns: u64,
    /// The shortest time, in nanoseconds.
    pub min_ns: Option<u64>,
    /// The mean.
    pub mean_ns: Option<u64>,
    /// The longest.
    pub max_ns: Option<u64>,
    /// Percentiles: parts per million of the requests, and the time that those took at most.
    pub percentiles_ns: Vec<(u32, u64)>,
    /// Bytes of replies.
    pub received_bytes: Option<u64>,
}
