//! Resource limits of a system: CPU time, cores, memory, and disks, enforced by control groups of the kernel.
//!
//! Each system with limits has separate groups below the groups of Tenbin, named after the Tenbin process that created them. They contain
//! only the processes of that system, from their first instruction.
//!
//! The groups are removed when the system has stopped. If Tenbin is killed, its keepers remove them. If they are killed too, the
//! next Tenbin removes them.

mod controller;
mod groups;
mod left;
mod membership;

use std::fs;

pub(crate) use controller::{Controller, Disks};
pub use groups::Groups;
pub(crate) use left::{orphaned_processes, remove_orphaned};
pub(crate) use membership::{Membership, inside, remove};

use crate::access::Need;
use crate::marker::Marker;
use crate::{Failure, Stage};

/// Limits of a system. `None`, or an empty list of cores, means no limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// CPU time per second in cores: 0.4 is 40 % of one core, 2 is two cores.
    pub cpu_cores: Option<f64>,
    /// Cores on which the system may run.
    pub cores: Vec<usize>,
    /// Max memory in bytes, including the page cache of its files. A process that exceeds it is killed.
    pub memory_bytes: Option<u64>,
    /// Limits for each disk of the machine.
    pub disk: DiskLimits,
}

/// Limits for each disk. Version 1 of control groups limits only writes that bypass the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskLimits {
    /// Max bytes read per second.
    pub read_bytes_per_s: Option<u64>,
    /// Max bytes written per second.
    pub write_bytes_per_s: Option<u64>,
    /// Max reads per second.
    pub reads_per_s: Option<u64>,
    /// Max writes per second.
    pub writes_per_s: Option<u64>,
}

impl Limits {
    /// Whether no resource is limited.
    pub fn is_none(&self) -> bool {
        *self == Limits::default()
    }

    /// Controllers that these limits need.
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

/// Checks that a system could be limited here to `limits`, and later to each of `to_come`, by creating and removing its groups. Starts no
/// process of a system.
///
/// # Errors
///
/// Names the missing part, and the remedy.
pub fn check(limits: &Limits, to_come: &[Limits]) -> Result<(), Failure> {
    if limits.is_none() && to_come.is_empty() {
        return Ok(());
    }
    let groups = Groups::make(limits, to_come, Marker::new(), &Kernel::here())?;
    let set = to_come.iter().try_for_each(|limits| groups.change(limits)).map_err(failure);
    let removed = groups.remove().map_err(failure);
    set.and(removed)
}

/// Control groups and disks as the kernel reports them.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    /// Content of `/proc/self/cgroup`.
    pub(crate) memberships: String,
    /// Content of `/proc/self/mountinfo`.
    pub(crate) mounts: String,
    pub(crate) disks: Disks,
}

impl Kernel {
    pub(crate) fn here() -> Self {
        // An unreadable file counts as empty, which leads to an error about missing groups.
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

/// Formats as "64 MiB" or "1.5 GiB".
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
