//! Load generators other than Tenbin's engine, and the figures that they report next to request counts.

use serde::{Deserialize, Serialize};

/// The tool that generated a load. Texts are untrusted: escape them before printing. `None` if the tool did not report a figure, or
/// rounded it to 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadTool {
    /// Name of the tool.
    pub name: String,
    /// Version of the tool.
    pub version: Option<String>,
    /// Words of its command.
    pub command: Vec<String>,
    /// Description of what its times measure, as the end of a sentence.
    pub times: String,
    /// Resolution of its printed times, in nanoseconds.
    pub resolution_ns: u64,
    /// Shortest time, in nanoseconds.
    pub min_ns: Option<u64>,
    /// Mean time, in nanoseconds.
    pub mean_ns: Option<u64>,
    /// Longest time, in nanoseconds.
    pub max_ns: Option<u64>,
    /// Percentiles: parts per million, and the time in nanoseconds.
    pub percentiles_ns: Vec<(u32, u64)>,
    /// Bytes of replies.
    pub received_bytes: Option<u64>,
}
