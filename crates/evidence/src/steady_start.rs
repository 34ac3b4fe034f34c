//! Wait of a started system between readiness and steadiness.

use serde::{Deserialize, Serialize};

/// Wait of a ready system until it is steady: no process starts or ends, and CPU use is low or flat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyStart {
    /// Length of the wait, in seconds.
    pub waited_s: f64,
    /// Number of processes of the system when the load began.
    pub processes: u32,
    /// Number of processes that started or ended during the wait.
    pub changes: u32,
    /// CPU use of the system at the end of the wait, in cores.
    pub cores_used: f64,
    /// Whether the system was steady before the time limit.
    pub is_steady: bool,
}

impl SteadyStart {
    /// Returns whether every figure is finite. NaN and infinity cannot be stored.
    pub fn is_finite(&self) -> bool {
        self.waited_s.is_finite() && self.cores_used.is_finite()
    }
}
