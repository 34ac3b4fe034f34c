//! Controllers of the kernel, and the files to which each limit is written.

use std::fs;
use std::path::Path;

use super::{DiskLimits, Limits};
use crate::control_groups::Version;

/// Period of the CPU quota: the default of the kernel, which containers use too.
const PERIOD_US: u64 = 100_000;
/// Smallest quota that the kernel accepts.
const QUOTA_MIN_US: u64 = 1_000;

/// A controller, which limits one kind of resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Controller {
    Cpu,
    Cores,
    Memory,
    Disk,
}

impl Controller {
    pub(crate) const ALL: [Self; 4] = [Self::Cpu, Self::Cores, Self::Memory, Self::Disk];

    /// Name that the kernel uses.
    pub(crate) fn name(self, version: Version) -> &'static str {
        match (self, version) {
            (Self::Cpu, _) => "cpu",
            (Self::Cores, _) => "cpuset",
            (Self::Memory, _) => "memory",
            (Self::Disk, Version::First) => "blkio",
            (Self::Disk, Version::Second) => "io",
        }
    }

    /// Writes the limits of this controller to the group `dir` below `parent`. Removes a limit that is not set.
    pub(crate) fn set(
        self,
        version: Version,
        [parent, dir]: [&Path; 2],
        limits: &Limits,
        disks: &Disks,
    ) -> Result<(), String> {
        match (self, version) {
            (Self::Cpu, _) => set_cpu(version, dir, limits.cpu_cores),
            (Self::Cores, _) => set_cores(version, parent, dir, &limits.cores),
            (Self::Memory, _) => set_memory(version, dir, limits.memory_bytes),
            (Self::Disk, Version::First) => set_disks_v1(dir, limits.disk, disks),
            (Self::Disk, Version::Second) => set_disks_v2(dir, limits.disk, disks),
        }
    }
}

/// Device numbers of whole disks, such as `8:0`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disks(pub(crate) Vec<String>);

impl Disks {
    pub(crate) fn of_machine() -> Self {
        let text = |path: &Path| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
        let entries = fs::read_dir("/sys/block").into_iter().flatten().flatten();
        let mut numbers: Vec<String> = entries
            .map(|entry| entry.path())
            // A loop device without a file has size 0.
            .filter(|disk| text(&disk.join("size")).is_some_and(|size| size != "0"))
            .filter_map(|disk| text(&disk.join("dev")))
            .collect();
        numbers.sort_unstable();
        Self(numbers)
    }
}

pub(super) fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("{} cannot be set to {text:?}: {error}", file.display()))
}

fn set_cpu(version: Version, dir: &Path, cores: Option<f64>) -> Result<(), String> {
    let quota_us = cores.map(|cores| ((cores * PERIOD_US as f64).round() as u64).max(QUOTA_MIN_US));
    match version {
        Version::First => {
            write(&dir.join("cpu.cfs_period_us"), &PERIOD_US.to_string())?;
            let quota_us = quota_us.map_or("-1".to_owned(), |quota_us| quota_us.to_string());
            write(&dir.join("cpu.cfs_quota_us"), &quota_us)
        }
        Version::Second => {
            let quota_us = quota_us.map_or("max".to_owned(), |quota_us| quota_us.to_string());
            write(&dir.join("cpu.max"), &format!("{quota_us} {PERIOD_US}"))
        }
    }
}

fn set_cores(version: Version, parent: &Path, dir: &Path, cores: &[usize]) -> Result<(), String> {
    let of_parent = |name: &str| {
        let read = |name: String| fs::read_to_string(parent.join(name)).ok();
        let text = read(format!("cpuset.effective_{name}")).or_else(|| read(format!("cpuset.{name}")));
        text.map(|text| text.trim().to_owned()).unwrap_or_default()
    };
    if version == Version::First {
        // A group without memory nodes accepts no process.
        write(&dir.join("cpuset.mems"), &of_parent("mems"))?;
    }
    let list = cores.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let list = match (cores.is_empty(), version) {
        (false, _) => list,
        (true, Version::First) => of_parent("cpus"),
        // An empty list inherits the cores of the parent.
        (true, Version::Second) => "\n".to_owned(),
    };
    write(&dir.join("cpuset.cpus"), &list).map_err(|_| {
        format!("the system cannot be held to the cores {list}: Tenbin has the cores {}", of_parent("cpus"))
    })
}

fn set_memory(version: Version, dir: &Path, bytes: Option<u64>) -> Result<(), String> {
    let text = |none: &str| bytes.map_or(none.to_owned(), |bytes| bytes.to_string());
    match version {
        Version::First => {
            // Limit of memory plus swap, which must not be below the memory limit. Not all kernels have this file.
            let with_swap = dir.join("memory.memsw.limit_in_bytes");
            let has_swap = with_swap.exists();
            if has_swap {
                write(&with_swap, "-1")?;
            }
            write(&dir.join("memory.limit_in_bytes"), &text("-1"))?;
            if has_swap { write(&with_swap, &text("-1")) } else { Ok(()) }
        }
        Version::Second => {
            write(&dir.join("memory.max"), &text("max"))?;
            let swap = dir.join("memory.swap.max");
            let most = if bytes.is_some() { "0" } else { "max" };
            if swap.exists() { write(&swap, most) } else { Ok(()) }
        }
    }
}

fn set_disks_v1(dir: &Path, limits: DiskLimits, disks: &Disks) -> Result<(), String> {
    let files = [
        ("read_bps_device", limits.read_bytes_per_s),
        ("write_bps_device", limits.write_bytes_per_s),
        ("read_iops_device", limits.reads_per_s),
        ("write_iops_device", limits.writes_per_s),
    ];
    for (name, limit) in files {
        for disk in &disks.0 {
            // 0 means no limit.
            let text = format!("{disk} {}", limit.unwrap_or(0));
            write(&dir.join(format!("blkio.throttle.{name}")), &text)?;
        }
    }
    Ok(())
}

fn set_disks_v2(dir: &Path, limits: DiskLimits, disks: &Disks) -> Result<(), String> {
    let of = |limit: Option<u64>| limit.map_or("max".to_owned(), |limit| limit.to_string());
    for disk in &disks.0 {
        let [read, write_] = [of(limits.read_bytes_per_s), of(limits.write_bytes_per_s)];
        let [reads, writes] = [of(limits.reads_per_s), of(limits.writes_per_s)];
        let text = format!("{disk} rbps={read} wbps={write_} riops={reads} wiops={writes}");
        write(&dir.join("io.max"), &text)?;
    }
    Ok(())
}
