//! CPU affinity: the cores that this process may use, and pinning of threads.

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Returns the cores that this process may use, in ascending order.
pub fn allowed_cores() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect()
}

/// Pins the calling thread to one core.
pub fn pin_to(core: usize) -> Result<(), Errno> {
    if core >= CpuSet::MAX_CPU {
        return Err(Errno::INVAL);
    }
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set)
}
