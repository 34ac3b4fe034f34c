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
    wake_lag: Histogram,
    /// By how much the thread usually wakes up late, on the low side.
    pub(crate) usual_lag_ns: u64,
}

/// Being woken earlier than this is not asked for: it would be waited out in a loop.
const USUAL_LAG_MAX_NS: u64 = 40_000;

impl Watch {
    pub(crate) fn begin() -> Self {
        Self { cpu_from_ns: clock::thread_cpu_ns(), wake_lag: Histogram::new(), usual_lag_ns: 0 }
    }

    /// Notes how late a timer woke the thread, and learns from it: quickly from small lags, slowly from large ones.
    pub(crate) fn woke(&mut self, lag_ns: u64) {
        self.wake_lag.record(lag_ns);
        let usual_ns = self.usual_lag_ns;
        self.usual_lag_ns = if lag_ns < usual_ns {
            usual_ns - (usual_ns - lag_ns) / 4
        } else {
            (usual_ns + (lag_ns - usual_ns) / 32).min(USUAL_LAG_MAX_NS)
        };
    }

    pub(crate) fn end(self, wall_ns: u64) -> Health {
        Health { wake_lag: self.wake_lag, cpu_ns: clock::thread_cpu_ns() - self.cpu_from_ns, wall_ns }
    }
}
