//! Tests that keepers end everything after Tenbin was killed.

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use support::{Bench, KEEPER, SUBJECT, wait_until};

/// Starts a Tenbin with a running system. Returns it and the pid of its keeper.
fn owner(bench: &Bench, script: &str) -> (Child, u32) {
    start_owner_of_kind(bench, "owner", script)
}

fn start_owner_of_kind(bench: &Bench, kind: &str, script: &str) -> (Child, u32) {
    let command = bench.sh("");
    let mut owner = Command::new(SUBJECT)
        .args([kind, KEEPER])
        .arg(bench.path("run"))
        .arg(script)
        .envs(command.env)
        .stdout(Stdio::piped())
        .spawn()
        .expect("an owner");
    let mut line = String::new();
    let out = owner.stdout.take().expect("its output");
    BufReader::new(out).read_line(&mut line).expect("its keeper");
    (owner, line.trim().parse().unwrap_or_else(|_| panic!("it did not start: {line:?}")))
}

#[test]
fn nothing_is_left_after_tenbin_is_killed() {
    let bench = Bench::new();
    let script = "trap '' TERM HUP; setsid -f sh -c 'trap \"\" TERM HUP; sleep 60; sleep 60'; \
                  sh -c 'sleep 60' & echo ready; while :; do sleep 1; done";
    let (mut owner, _) = owner(&bench, script);
    wait_until("all of it runs", || bench.left().len() > 3);
    owner.kill().expect("killed");
    let killed_at = Instant::now();
    owner.wait().expect("reaped");
    wait_until("nothing is left", || bench.left().is_empty());
    assert!(killed_at.elapsed() < Duration::from_secs(10), "no more than the grace and the killing");
}

#[test]
fn system_that_handles_term_can_clean_up() {
    let bench = Bench::new();
    let file = bench.path("tidy").display().to_string();
    let script = format!("trap 'touch {file}; exit' TERM; echo ready; while :; do sleep 0.02; done");
    let (mut owner, _) = owner(&bench, &script);
    owner.kill().expect("killed");
    owner.wait().expect("reaped");
    wait_until("nothing is left", || bench.left().is_empty());
    assert!(bench.path("tidy").exists());
}

/// Control groups of a system whose script wrote its `/proc/self/cgroup` and `/proc/self/mountinfo` to files.
fn groups(bench: &Bench) -> Vec<PathBuf> {
    let (groups, mounts) = (bench.read("groups"), bench.read("mounts"));
    let of_limits = groups.lines().filter(|line| line.contains("/tenbin-"));
    let found = of_limits.map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controller, path) = (fields.next().expect("a controller"), fields.next().expect("a path"));
        let is_it = |mount: &&str| {
            let (_, system) = mount.split_once(" - ").unwrap_or_default();
            let options = system.split(' ').nth(2).unwrap_or_default();
            if controller.is_empty() {
                system.starts_with("cgroup2 ")
            } else {
                system.starts_with("cgroup ") && options.split(',').any(|option| option == controller)
            }
        };
        let mount = mounts.lines().find(is_it).expect("a hierarchy");
        Path::new(mount.split(' ').nth(4).expect("its place")).join(path.trim_start_matches('/'))
    });
    let found: Vec<PathBuf> = found.collect();
    assert!(!found.is_empty(), "this test needs root and control groups: {groups}");
    found
}

const LIMITED: &str =
    "cat /proc/self/cgroup > groups; cat /proc/self/mountinfo > mounts; echo ready; exec sleep 60";

#[test]
fn control_groups_are_removed_after_tenbin_is_killed() {
    let bench = Bench::new();
    let script = format!("cd {}; {LIMITED}", bench.place.path().display());
    let (mut owner, _) = start_owner_of_kind(&bench, "limited-owner", &script);
    let groups = groups(&bench);
    assert!(groups.iter().all(|group| group.is_dir()), "{groups:?}");
    owner.kill().expect("killed");
    owner.wait().expect("reaped");
    wait_until("nothing is left", || bench.left().is_empty());
    wait_until("no group is left", || groups.iter().all(|group| !group.exists()));
}

#[test]
fn control_groups_of_killed_keepers_are_removed_by_the_next_tenbin() {
    let bench = Bench::new();
    // The system hides its environment, so that only its groups identify the owner.
    let script = format!("cd {}; exec env -i sh -c '{LIMITED}'", bench.place.path().display());
    let (mut owner, keeper) = start_owner_of_kind(&bench, "limited-owner", &script);
    let groups = groups(&bench);
    let keeper = rustix::process::Pid::from_raw(keeper.cast_signed()).expect("a pid");
    rustix::process::kill_process(keeper, rustix::process::Signal::KILL).expect("killed");
    owner.kill().expect("killed");
    owner.wait().expect("reaped");
    assert!(groups.iter().all(|group| group.is_dir()), "{groups:?}");
    wait_until("the next one has removed them", || {
        lab::leftovers::sweep();
        groups.iter().all(|group| !group.exists())
    });
    let members: Vec<String> =
        groups.iter().flat_map(|group| fs::read_to_string(group.join("cgroup.procs"))).collect();
    assert_eq!(members, Vec::<String>::new());
}

/// Kills the keeper, if one is given, and then the Tenbin that started it.
fn kill(mut owner: Child, keeper: Option<u32>) {
    if let Some(keeper) = keeper {
        let keeper = rustix::process::Pid::from_raw(keeper.cast_signed()).expect("a pid");
        rustix::process::kill_process(keeper, rustix::process::Signal::KILL).expect("killed");
    }
    owner.kill().expect("killed");
    owner.wait().expect("reaped");
}

#[test]
fn host_is_removed_after_tenbin_is_killed_with_or_without_its_keepers() {
    for is_keeper_killed in [false, true] {
        let bench = Bench::new();
        let (owner, keeper) = start_owner_of_kind(&bench, "hosted-owner", "echo ready; exec sleep 60");
        let own = format!("tnb-{}:", owner.id());
        let hosts = || {
            let entries = fs::read_dir("/run/netns").into_iter().flatten().flatten();
            let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
            names.filter(|name| name.starts_with(&own)).count()
        };
        assert_eq!(hosts(), 1, "this test needs root and iproute2");
        kill(owner, is_keeper_killed.then_some(keeper));
        wait_until("nothing is left", || {
            if is_keeper_killed {
                lab::leftovers::sweep();
            }
            bench.left().is_empty() && hosts() == 0
        });
    }
}

#[test]
fn disk_is_unmounted_after_tenbin_is_killed_with_or_without_its_keepers() {
    for is_keeper_killed in [false, true] {
        let bench = Bench::new();
        let point = bench.path("run/disk");
        // A full disk must unmount as well.
        let script = format!("cat /dev/zero > {}/full; echo ready; exec sleep 60", point.display());
        let (owner, keeper) = start_owner_of_kind(&bench, "disk-owner", &script);
        let mounts = || {
            let table = fs::read_to_string("/proc/self/mountinfo").expect("the mounts");
            table.matches(&format!(" {} ", point.display())).count()
        };
        assert_eq!(mounts(), 1, "this test needs root, e2fsprogs, and loop devices");
        kill(owner, is_keeper_killed.then_some(keeper));
        wait_until("nothing is left", || {
            if is_keeper_killed {
                lab::leftovers::sweep();
            }
            bench.left().is_empty() && mounts() == 0
        });
    }
}
