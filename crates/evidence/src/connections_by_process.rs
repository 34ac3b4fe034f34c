//! Connections of a load, by the process of the system that holds them.

use serde::{Deserialize, Serialize};

/// Connections of a load by process, from a few readings during a run. Names are untrusted: escape them before printing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionsByProcess {
    /// Processes that held a connection, or waited for one, in any reading; ordered by process ID.
    pub processes: Vec<ServingProcess>,
    /// Readings, in order of time.
    pub readings: Vec<HeldReading>,
}

/// A process that serves the load, or could serve it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServingProcess {
    /// Process ID.
    pub pid: u32,
    /// Name of the program.
    pub name: String,
    /// Whether the process had the listening socket open, and so accepts connections itself.
    pub listens: bool,
}

/// One reading of the connections of every process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldReading {
    /// Time of the reading, in nanoseconds since the load began.
    pub at_ns: u64,
    /// Connections held by each process, in the order of `processes`. `None` for a process that did not run, or did not serve yet.
    pub connections: Vec<Option<u32>>,
}
