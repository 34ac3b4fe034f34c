//! Connections of a load by the process of the system that holds them.

use serde::{Deserialize, Serialize};

/// Connections of a load by process, as read a few times during a run. Names are untrusted: escape them before printing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionsByProcess {
    /// Processes that held a connection, or waited for one, in any reading; in the order of their numbers.
    pub processes: Vec<ServingProcess>,
    /// The readings, in order of time.
    pub readings: Vec<HeldReading>,
}

/// A process that serves the load, or could.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServingProcess {
    /// Its number.
    pub pid: u32,
    /// Name of its program.
    pub name: String,
    /// Whether it had the listening socket open, and so accepts connections itself.
    pub listens: bool,
}

/// One reading.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldReading {
    /// When, in nanoseconds since the load began.
    pub at_ns: u64,
    /// Connections that each of the processes held, in their order; `None` for a process that did not run, or did not serve yet.
    pub connections: Vec<Option<u32>>,
}
