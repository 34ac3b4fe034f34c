//! Tests of limits in a directory that imitates the kernel's.

use std::fs;
use std::path::Path;

use super::*;
use crate::limits::controller::Disks;

fn all() -> Limits {
    let disk =
        DiskLimits { read_bytes_per_s: Some(10_485_760), writes_per_s: Some(50), ..DiskLimits::default() };
    Limits { cpu_cores: Some(0.4), cores: vec![0, 2], memory_bytes: Some(64 << 20), disk }
}

/// Returns a kernel with control groups of one version in a directory. This process is in the group `own`.
fn kernel(place: &Path, version: Version) -> Kernel {
    let disks = Disks(vec!["8:0".to_owned(), "253:0".to_owned()]);
    let mount = |kind: &str, name: &str| {
        fs::create_dir_all(place.join(name).join("own")).expect("made");
        format!("30 25 0:26 / {} rw - {kind} {kind} rw,{name}\n", place.join(name).display())
    };
    let (memberships, mounts) = match version {
        Version::First => {
            let names = ["cpu", "cpuset", "memory", "blkio"];
            let lines = names.iter().zip(1..).map(|(name, at)| format!("{at}:{name}:/own\n"));
            (lines.collect(), names.iter().map(|name| mount("cgroup", name)).collect())
        }
        Version::Second => ("0::/own\n".to_owned(), mount("cgroup2", "unified")),
    };
    Kernel { memberships, mounts, disks }
}

fn read(groups: &Groups, controller: Controller, file: &str) -> String {
    let folder =
        groups.memberships().iter().map(|one| one.group.clone()).find(|group| group.join(file).exists());
    let folder = folder.unwrap_or_else(|| panic!("{controller:?} has no {file}"));
    fs::read_to_string(folder.join(file)).expect("the file")
}

use crate::control_groups::Version;

#[test]
fn writes_changes_and_restores_limits_of_version_1() {
    let place = tempfile::tempdir().expect("a folder");
    let kernel = kernel(place.path(), Version::First);
    fs::write(place.path().join("cpuset/own/cpuset.effective_mems"), "0-1\n").expect("written");
    let groups = Groups::make(&all(), &[], Marker::new(), &kernel).expect("made");
    assert_eq!(groups.memberships().len(), 4);
    let file = |controller, name| read(&groups, controller, name);
    assert_eq!(file(Controller::Cpu, "cpu.cfs_quota_us"), "40000");
    assert_eq!(file(Controller::Cores, "cpuset.cpus"), "0,2");
    assert_eq!(file(Controller::Cores, "cpuset.mems"), "0-1", "those of the group above");
    assert_eq!(file(Controller::Memory, "memory.limit_in_bytes"), "67108864");
    assert_eq!(file(Controller::Disk, "blkio.throttle.read_bps_device"), "253:0 10485760", "the last disk");
    assert_eq!(file(Controller::Disk, "blkio.throttle.write_bps_device"), "253:0 0", "no limit");
    groups.change(&Limits { cpu_cores: Some(1.5), ..Limits::default() }).expect("changed");
    assert_eq!(file(Controller::Cpu, "cpu.cfs_quota_us"), "150000");
    assert_eq!(file(Controller::Memory, "memory.limit_in_bytes"), "67108864", "not named, not changed");
    groups.put_back().expect("put back");
    assert_eq!(file(Controller::Cpu, "cpu.cfs_quota_us"), "40000");
}

#[test]
fn writes_limits_of_version_2_where_delegated() {
    let place = tempfile::tempdir().expect("a folder");
    let kernel = kernel(place.path(), Version::Second);
    let own = place.path().join("unified/own");
    let failure = Groups::make(&all(), &[], Marker::new(), &kernel).expect_err("nothing is delegated");
    assert!(failure.what.contains("has no controller `cpu`"), "{failure}");
    assert!(failure.way_out.contains("Delegate=yes"), "{failure}");

    fs::write(own.join("cgroup.controllers"), "cpuset cpu io memory pids\n").expect("written");
    let groups = Groups::make(&all(), &[], Marker::new(), &kernel).expect("made");
    assert_eq!(fs::read_to_string(own.join("cgroup.subtree_control")).unwrap(), "+cpu +cpuset +memory +io");
    let file = |controller, name| read(&groups, controller, name);
    assert_eq!(groups.memberships().len(), 1, "one folder has all");
    assert_eq!(file(Controller::Cpu, "cpu.max"), "40000 100000");
    assert_eq!(file(Controller::Memory, "memory.max"), "67108864");
    assert_eq!(file(Controller::Disk, "io.max"), "253:0 rbps=10485760 wbps=max riops=max wiops=50");
    let (_, memory) = groups.folders();
    fs::write(memory.expect("a folder").join("memory.events"), "low 0\noom 3\noom_kill 2\n")
        .expect("written");
    assert_eq!(
        (groups.killed_for_memory(), groups.killed_words().as_str()),
        (2, "killed for memory: limit 64 MiB")
    );
}

#[test]
fn limit_to_come_has_a_group_from_the_start_and_other_limits_are_rejected() {
    let place = tempfile::tempdir().expect("a folder");
    let kernel = kernel(place.path(), Version::First);
    let cpu = Limits { cpu_cores: Some(0.5), ..Limits::default() };
    let groups =
        Groups::make(&Limits::default(), std::slice::from_ref(&cpu), Marker::new(), &kernel).expect("made");
    assert_eq!(read(&groups, Controller::Cpu, "cpu.cfs_quota_us"), "-1");
    groups.change(&cpu).expect("changed");
    assert_eq!(read(&groups, Controller::Cpu, "cpu.cfs_quota_us"), "50000");
    assert!(groups.change(&all()).is_err());
}

#[test]
fn missing_controller_is_named() {
    let nothing = Kernel { memberships: String::new(), mounts: String::new(), disks: Disks::default() };
    let failure = Groups::make(&all(), &[], Marker::new(), &nothing).expect_err("there are none");
    assert_eq!(failure.what, "no control group with the controller `cpu` is mounted here");
    assert_eq!(size(64 << 20), "64 MiB");
    assert_eq!(size(1536 << 20), "1.5 GiB");
}
