//! What a system may use at most: CPU, cores, memory, and disks, held by control groups of the kernel.
//!
//! Each system with limits has groups of its own, named for the Tenbin that made them, below Tenbin's own groups. Only the
//! processes of that system are in them, from before their program begins. They are removed when the system has been stopped;
//! by its keepers, if Tenbin is killed; by the next Tenbin, if these were killed as well.

mod controller;
mod groups;
mod left;
mod membership;

use std::fs;

pub(crate) use controller::{Controller, Disks};
pub use groups::Groups;
pub(crate) use left::{processes_of_the_dead, remove_of_the_dead};
pub(crate) use membership::{Membership, inside, remove};

use crate::access::Need;
use crate::marker::Marker;
use crate::{Failure, Stage};

/// What a system may use at most. `None`, or no core, is no limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// CPU time per time: 0.4 is 40 % of one core, 2 is two cores.
    pub cpu_cores: Option<f64>,
    /// The processor cores that it runs on.
    pub cores: Vec<usize>,
    /// Memory with the files that it has read or written; what needs more is killed.
    pub memory_bytes: Option<u64>,
    /// Of each disk of the machine.
    pub disk: DiskLimits,
}

/// What a system may do with each disk. In version 1 of control groups, writes are limited that do not go through the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskLimits {
    /// Bytes read in a second.
    pub read_bytes_per_s: Option<u64>,
    /// Bytes written in a second.
    pub write_bytes_per_s: Option<u64>,
    /// Reads in a second.
    pub reads_per_s: Option<u64>,
    /// Writes in a second.
    pub writes_per_s: Option<u64>,
}

impl Limits {
    /// Whether nothing is limited.
    pub fn is_none(&self) -> bool {
        *self == Limits::default()
    }

    /// What must be there to hold to these.
    fn controllers(&self) -> impl Iterator<Item = Controller> {
        let wanted = [
            (Controller::Cpu, self.cpu_cores.is_some()),
            (Controller::Cores, !self.cores.is_empty()),
            (Controller::Memory, self.memory_bytes.is_some()),
            (Controller::Disk, self.disk != DiskLimits::default()),
        ];
        wanted.into_iter().filter(|(_, is_wanted)| *is_wanted).map(|(controller, _)| controller)
    }
}

/// Whether a system could be held to these limits here, and to those that may be set while it runs: its groups are made, and removed
/// again. Nothing is started.
///
/// # Errors
/// What is missing, and what to do.
pub fn check(limits: &Limits, to_come: &[Limits]) -> Result<(), Failure> {
    if limits.is_none() && to_come.is_empty() {
        return Ok(());
    }
    let groups = Groups::make(limits, to_come, Marker::new(), &Kernel::here())?;
    let set = to_come.iter().try_for_each(|limits| groups.change(limits)).map_err(failure);
    let removed = groups.remove().map_err(failure);
    set.and(removed)
}

/// What the kernel shows of control groups and disks.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    /// `/proc/self/cgroup`
    pub(crate) memberships: String,
    /// `/proc/self/mountinfo`
    pub(crate) mounts: String,
    pub(crate) disks: Disks,
}

impl Kernel {
    pub(crate) fn here() -> Self {
        // What cannot be read has no groups, and that is said then.
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Self {
            memberships: text("/proc/self/cgroup"),
            mounts: text("/proc/self/mountinfo"),
            disks: Disks::of_machine(),
        }
    }
}

pub(crate) fn failure(what: String) -> Failure {
    let way_out = format!("{}, or remove `resources` from the plan", Need::LimitCpu.remedy());
    Failure { stage: Stage::Limits, process: None, what, way_out, outputs: Vec::new() }
}

/// "64 MiB", "1.5 GiB"
pub(crate) fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        bytes if bytes >= 1 << 30 => (1u64 << 30, "GiB"),
        bytes if bytes >= 1 << 20 => (1 << 20, "MiB"),
        _ => (1 << 10, "KiB"),
    };
    let number = format!("{:.2}", bytes as f64 / unit as f64);
    format!("{} {name}", number.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests;
