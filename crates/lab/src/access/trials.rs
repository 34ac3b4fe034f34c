//! Tests of the permissions. A read test reads the file that the probe reads. A limit test creates and removes the limits that a plan may
//! set.

use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;

use super::Outcome;
use super::others::Others;
use crate::control_groups::{self, Version};
use crate::limits::{self, DiskLimits, Limits};
use crate::probes::SockDiag;
use crate::{disks, hosts, profiler};

/// Action of a test and its outcome.
pub(super) struct Trial {
    pub(super) tried: String,
    pub(super) outcome: Outcome,
}

impl Trial {
    fn of<T, E: fmt::Display>(tried: impl Into<String>, result: Result<T, E>) -> Self {
        let outcome = match result {
            Ok(_) => Outcome::Works,
            Err(error) => Outcome::Fails(error.to_string()),
        };
        Self { tried: tried.into(), outcome }
    }

    fn not_tried(tried: impl Into<String>, because: &str) -> Self {
        Self { tried: tried.into(), outcome: Outcome::NotTried(because.to_owned()) }
    }
}

const NO_OTHER_USER: &str = "no process of another user is seen";

pub(super) fn processes(_: &Others) -> Trial {
    Trial::of("/proc/1/stat", fs::read("/proc/1/stat"))
}

pub(super) fn thread_time(_: &Others) -> Trial {
    Trial::of("/proc/self/schedstat", fs::read("/proc/self/schedstat"))
}

pub(super) fn calls_of_own_systems(others: &Others) -> Trial {
    calls(others.child(), "the program `cat` is missing")
}

pub(super) fn calls_of_same_user(others: &Others) -> Trial {
    calls(others.same_user, "no other process of this user is seen")
}

pub(super) fn calls_of_other_users(others: &Others) -> Trial {
    calls(others.other_user, NO_OTHER_USER)
}

fn calls(pid: Option<u32>, without: &str) -> Trial {
    match pid {
        None => Trial::not_tried("/proc/PID/task/TID/syscall", without),
        Some(pid) => {
            let path = format!("/proc/{pid}/task/{pid}/syscall");
            let read = fs::read(&path);
            Trial::of(path, read)
        }
    }
}

pub(super) fn open_files(others: &Others) -> Trial {
    // Listing descriptors is not enough: sockets are recognized by their links.
    of_other_user(others, "fd", |path| {
        fs::read_dir(path)?.next().map_or(Ok(PathBuf::new()), |file| fs::read_link(file?.path()))
    })
}

pub(super) fn disk_bytes(others: &Others) -> Trial {
    of_other_user(others, "io", fs::read)
}

pub(super) fn shared_memory(others: &Others) -> Trial {
    of_other_user(others, "smaps_rollup", fs::read)
}

pub(super) fn namespaces(others: &Others) -> Trial {
    of_other_user(others, "ns/net", fs::read_link)
}

fn of_other_user<T>(others: &Others, file: &str, read: impl Fn(PathBuf) -> io::Result<T>) -> Trial {
    let Some(pid) = others.other_user else {
        return Trial::not_tried(format!("/proc/PID/{file}"), NO_OTHER_USER);
    };
    let path = format!("/proc/{pid}/{file}");
    Trial::of(path.clone(), read(PathBuf::from(path)))
}

pub(super) fn tcp_sockets(_: &Others) -> Trial {
    Trial::of("list of listening ports", SockDiag::open().and_then(|mut kernel| kernel.tcp()))
}

pub(super) fn unix_sockets(_: &Others) -> Trial {
    Trial::of("list of listening sockets", SockDiag::open().and_then(|mut kernel| kernel.unix()))
}

/// Reads the counters of the control group of this process, for each controller.
pub(super) fn group_counts(_: &Others) -> Trial {
    const FILES: [(&str, &[&str]); 3] =
        [("cpu", &["cpu.stat"]), ("memory", &["memory.stat"]), ("blkio", &["blkio.throttle.io_serviced"])];
    let (mut read, mut missing) = (Vec::new(), Vec::new());
    for (controller, files) in FILES {
        let found = own_groups(controller).find_map(|(version, group)| {
            let second = if controller == "blkio" { "io.stat" } else { "" };
            let files = files.iter().copied().chain([second]).filter(|file| !file.is_empty());
            let mut paths = files.map(|file| group.join(file));
            // The root of a version 2 hierarchy has almost no files.
            paths.find(|path| fs::read(path).is_ok()).map(|path| (version, path))
        });
        match found {
            Some((_, path)) => read.push(path.display().to_string()),
            None => missing.push(controller.replace("blkio", "io")),
        }
    }
    let result = match missing.is_empty() {
        true => Ok(()),
        false => Err(format!("no group with counts of {} is mounted", missing.join(" and "))),
    };
    let tried = if read.is_empty() { "/proc/self/cgroup".to_owned() } else { read.join(" ") };
    Trial::of(tried, result)
}

pub(super) fn group_pressure(_: &Others) -> Trial {
    const FILES: [&str; 2] = ["io.pressure", "cpu.pressure"];
    let groups: Vec<PathBuf> =
        own_groups("io").filter(|(version, _)| *version == Version::Second).map(|(_, group)| group).collect();
    let Some(group) = groups.first() else {
        return Trial::of("/proc/self/cgroup", Err::<(), _>("no hierarchy of version 2 is mounted"));
    };
    // The statistics of the root group are in a file of the machine. Any group below it has a separate file.
    let below = fs::read_dir(group).into_iter().flatten().flatten().map(|entry| entry.path());
    let places = std::iter::once(group.clone()).chain(below.filter(|path| path.is_dir()));
    let files: Vec<PathBuf> = places.flat_map(|group| FILES.map(|file| group.join(file))).collect();
    let tried = files.iter().find(|file| fs::read(file).is_ok()).or(files.first());
    let tried = tried.cloned().unwrap_or_default();
    Trial::of(tried.display().to_string(), fs::read(&tried))
}

fn own_groups(controller: &str) -> impl Iterator<Item = (Version, PathBuf)> + use<> {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let [memberships, mounts] = ["/proc/self/cgroup", "/proc/self/mountinfo"].map(text);
    let found = control_groups::hierarchies(&memberships, &mounts, controller);
    found.into_iter().map(|hierarchy| (hierarchy.version, hierarchy.own))
}

pub(super) fn machine_pressure(_: &Others) -> Trial {
    Trial::of("/proc/pressure/io", fs::read("/proc/pressure/io"))
}

pub(super) fn limit_cpu(_: &Others) -> Trial {
    limit("a quota of one core", Limits { cpu_cores: Some(1.0), ..Limits::default() })
}

pub(super) fn limit_cores(_: &Others) -> Trial {
    let core = rustix::thread::sched_getaffinity(None)
        .ok()
        .and_then(|cores| (0..rustix::thread::CpuSet::MAX_CPU).find(|core| cores.is_set(*core)));
    limit("a group with one core", Limits { cores: vec![core.unwrap_or(0)], ..Limits::default() })
}

pub(super) fn limit_memory(_: &Others) -> Trial {
    limit("a limit of 64 MiB", Limits { memory_bytes: Some(64 << 20), ..Limits::default() })
}

pub(super) fn limit_disks(_: &Others) -> Trial {
    let disk = DiskLimits { writes_per_s: Some(1_000), ..DiskLimits::default() };
    limit("a limit of 1,000 writes/s", Limits { disk, ..Limits::default() })
}

fn limit(tried: &str, limits: Limits) -> Trial {
    Trial::of(tried, limits::check(&limits, &[]).map_err(|failure| failure.what))
}

pub(super) fn perf_program(_: &Others) -> Trial {
    Trial::of("PATH", profiler::perf().ok_or("there is none"))
}

pub(super) fn samples(_: &Others) -> Trial {
    perf("cpu-clock:u", None)
}

pub(super) fn samples_of_kernel(_: &Others) -> Trial {
    perf("cpu-clock", None)
}

pub(super) fn samples_of_other_users(others: &Others) -> Trial {
    match others.other_user {
        None => Trial::not_tried("perf record -p PID", NO_OTHER_USER),
        pid => perf("cpu-clock:u", pid),
    }
}

fn perf(event: &str, pid: Option<u32>) -> Trial {
    let of = pid.map(|pid| format!(" -p {pid}")).unwrap_or_default();
    let tried = format!("perf record -e {event}{of}");
    match profiler::perf() {
        None => Trial::not_tried(tried, "perf is not installed"),
        Some(perf) => Trial::of(tried, profiler::try_sampling(&perf, event, pid)),
    }
}

/// Min size of a file system with a journal.
const DISK_BYTES: u64 = 16 << 20;

pub(super) fn disk(_: &Others) -> Trial {
    Trial::of("a file system of 16 MiB", disks::check(DISK_BYTES).map_err(|failure| failure.what))
}

pub(super) fn host(_: &Others) -> Trial {
    Trial::of("ip netns add", hosts::check().map_err(|failure| failure.what))
}
