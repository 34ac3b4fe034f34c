//! Memory that processes of this machine can still allocate, and swap activity.

use std::fs;
use std::path::Path;

use crate::control_groups::{self, Version};
use crate::probes::{bytes_of_kib, number};

/// `statfs` magic numbers of file systems in memory: tmpfs and ramfs.
const IN_MEMORY: [i128; 2] = [0x0102_1994, 0x8584_58f6];

/// Memory of the machine, or of the control groups of this process if they allow less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLeft {
    /// Total memory in bytes.
    pub total_bytes: u64,
    /// Memory in bytes that new processes can get without swapping: free memory and reclaimable caches.
    pub available_bytes: u64,
    /// Pages that the machine has swapped out since boot; 0 without swap.
    pub swapped_out_pages: u64,
}

/// Returns the available memory. `None` if the kernel does not report it.
pub fn memory_left() -> Option<MemoryLeft> {
    let text = |path: &str| fs::read_to_string(path).ok();
    let meminfo = text("/proc/meminfo")?;
    let swapped_out_pages = text("/proc/vmstat").and_then(|text| number(&text, "pswpout")).unwrap_or(0);
    let machine = MemoryLeft {
        total_bytes: bytes_of_kib(&meminfo, "MemTotal")?,
        available_bytes: bytes_of_kib(&meminfo, "MemAvailable")?,
        swapped_out_pages,
    };
    let [memberships, mounts] =
        ["/proc/self/cgroup", "/proc/self/mountinfo"].map(|path| text(path).unwrap_or_default());
    let hierarchies = control_groups::hierarchies(&memberships, &mounts, "memory");
    let groups = hierarchies.iter().flat_map(|found| found.groups().map(|group| (found.version, group)));
    Some(groups.filter_map(|(version, group)| of_group(version, group)).fold(machine, MemoryLeft::within))
}

/// Whether files in a folder are stored in memory, so that no disk has to write them.
pub fn is_in_memory(folder: &Path) -> bool {
    rustix::fs::statfs(folder).is_ok_and(|about| IN_MEMORY.contains(&i128::from(about.f_type)))
}

impl MemoryLeft {
    /// Applies the limit and the available memory of a group if they are lower.
    fn within(self, [limit, available]: [u64; 2]) -> Self {
        Self {
            total_bytes: self.total_bytes.min(limit),
            available_bytes: self.available_bytes.min(available),
            ..self
        }
    }
}

/// Limit of a control group, and available bytes below it. Inactive file pages count as available. `None` without a limit.
fn of_group(version: Version, group: &Path) -> Option<[u64; 2]> {
    let (limit, used, inactive) = match version {
        Version::First => ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        Version::Second => ("memory.max", "memory.current", "inactive_file"),
    };
    let text = |name: &str| fs::read_to_string(group.join(name)).ok();
    // Version 2 writes "no limit" as a word, and version 1 as a number larger than any memory.
    let limit: u64 = text(limit)?.trim().parse().ok()?;
    let used: u64 = text(used)?.trim().parse().ok()?;
    let inactive = text("memory.stat").and_then(|text| number(&text, inactive)).unwrap_or(0);
    Some([limit, limit.saturating_sub(used.saturating_sub(inactive))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_group_with_limit_reduces_available_memory() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("memory.max", "max\n");
        write("memory.current", "700\n");
        write("memory.stat", "anon 300\ninactive_file 400\n");
        assert_eq!(of_group(Version::Second, folder.path()), None, "no limit");
        write("memory.max", "1000\n");
        assert_eq!(of_group(Version::Second, folder.path()), Some([1000, 700]));
        write("memory.limit_in_bytes", "500\n");
        write("memory.usage_in_bytes", "900\n");
        write("memory.stat", "total_inactive_file 100\n");
        assert_eq!(of_group(Version::First, folder.path()), Some([500, 0]));
        let machine = MemoryLeft { total_bytes: 2000, available_bytes: 600, swapped_out_pages: 3 };
        let narrow = MemoryLeft { total_bytes: 1000, ..machine };
        assert_eq!(machine.within([1000, 700]), narrow);
    }

    #[test]
    fn this_machine_has_memory() {
        let left = memory_left().unwrap();
        assert!(left.available_bytes <= left.total_bytes && left.total_bytes > 0, "{left:?}");
        assert!(!is_in_memory(Path::new("/proc")), "a file system, but none of memory");
    }
}
