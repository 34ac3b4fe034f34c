//! How well a worker itself kept time: the first witness when its numbers are doubted.

use record::Histogram;

use crate::clock;

/// A worker's own signals over the measured load.
#[derive(Clone, Debug, Default)]
pub struct Health {
    /// How much later than asked for the worker woke up, whenever a timer and not a socket woke it.
    pub wake_lag: Histogram,
    /// CPU time of its thread, user and system.
    pub cpu_ns: u64,
    /// From the beginning of the load to the worker's end.
    pub wall_ns: u64,
}

impl Health {
    /// The share of one core that the thread used, 0 to 1; `None` before any time has passed.
    pub fn cpu_share(&self) -> Option<f64> {
        (self.wall_ns > 0).then(|| self.cpu_ns as f64 / self.wall_ns as f64)
    }
}

/// Watches the calling thread from now on.
pub(crate) struct Watch {
    cpu_from_ns: u64,
    pub(crate) wake_lag: Histogram,
}

impl Watch {
    pub(crate) fn begin() -> Self {
        Self { cpu_from_ns: clock::thread_cpu_ns(), wake_lag: Histogram::new() }
    }

    pub(crate) fn end(self, wall_ns: u64) -> Health {
        Health { wake_lag: self.wake_lag, cpu_ns: clock::thread_cpu_ns() - self.cpu_from_ns, wall_ns }
    }
}
