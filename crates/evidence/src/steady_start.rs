//! How long the start of a system waited, after its processes were ready, for them to be steady.

use serde::{Deserialize, Serialize};

/// The wait for a system that was ready to become steady: no process comes or goes, and the use of CPU time is low or flat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyStart {
    /// How long it waited, in seconds.
    pub waited_s: f64,
    /// Processes of the system when the load began.
    pub processes: u32,
    /// Processes that came or went meanwhile.
    pub changes: u32,
    /// CPU time that the system used per second at the end of the wait, in cores.
    pub cores_used: f64,
    /// Whether it was steady before the limit was reached.
    pub is_steady: bool,
}

impl SteadyStart {
    /// Whether every figure is finite, and so can be kept.
    pub fn is_finite(&self) -> bool {
        self.waited_s.is_finite() && self.cores_used.is_finite()
    }
}
