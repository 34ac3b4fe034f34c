//! Tests of systems with limits, in real control groups. They need root and a kernel with control groups.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::support::{Bench, wait_until};
use harness::quiet::assert_measured;
use lab::limits::Limits;
use lab::probes::{Subject, Watch};
use lab::{Stage, System, When};

fn started(bench: &Bench, script: &str, limits: Limits) -> System {
    let process = bench.process("limited", bench.sh(script), When::Log("ready".to_owned()));
    let mut recipe = bench.recipe(vec![process]);
    recipe.limits = limits;
    lab::start(recipe, &|| false).unwrap_or_else(|failure| {
        panic!("these tests need root and control groups (cpu, memory): {failure}\n{:?}", failure.outputs)
    })
}

fn cpu(cores: f64) -> Limits {
    Limits { cpu_cores: Some(cores), ..Limits::default() }
}

/// CPU time per second of a system in a group with a quota.
#[derive(Debug)]
struct Used {
    cores: f64,
    /// Share of time in which it was throttled.
    held_back: f64,
    /// Share of time in periods in which it used up its quota. On a busy machine it may get less than the quota.
    used_up: f64,
}

fn used(system: &System, seconds: u64) -> Used {
    const PERIOD_S: f64 = 0.1;
    let roots = system.roots().into_iter().map(|root| (root.name, root.keeper_pid)).collect();
    let watch = Watch::begin(Subject { roots, limits: system.limits().folders(), ..Subject::default() });
    std::thread::sleep(Duration::from_secs(seconds));
    let (looks, _) = watch.end();
    let over: f64 = looks.iter().map(|look| look.over.as_secs_f64()).sum();
    let sum = |names: &[&str]| {
        let all = looks.iter().flat_map(|look| &look.readings);
        let ours = all.filter(|one| one.subject == "system" && names.contains(&one.metric));
        ours.map(|one| one.value).sum::<f64>() / over
    };
    Used {
        cores: sum(&["cpu_user_s", "cpu_sys_s"]),
        held_back: sum(&["throttled_s"]),
        used_up: sum(&["cpu_quota_periods_throttled"]) * PERIOD_S,
    }
}

/// Asserts that a busy system gets its quota if the machine has the cores free, and never more.
fn assert_quota(system: &System, cores: f64, seconds: u64) {
    assert_measured(|| {
        let used = used(system, seconds);
        // The kernel hands out a quota in slices of 5 ms, and one slice may be left over on another core.
        assert!(used.cores < cores + 0.04, "{used:?}");
        assert!(used.cores > (cores - 0.05) * used.used_up, "{used:?}");
        assert!(used.used_up > 0.1 && used.held_back > 0.0, "{used:?}");
    });
}

#[test]
fn system_gets_its_cpu_quota_and_no_more_even_after_a_change() {
    let bench = Bench::new();
    let system = started(&bench, "echo ready; while :; do :; done", cpu(0.4));
    let folder = system.limits().folders().0.expect("a group");
    assert_quota(&system, 0.4, 4);
    system.limits().change(&cpu(0.1)).expect("changed");
    assert_quota(&system, 0.1, 3);
    system.limits().put_back().expect("put back");
    assert!(folder.exists());
    assert_eq!(system.stop().failures, []);
    assert!(!folder.exists(), "the group is left");
    bench.assert_clean();
}

#[test]
fn processes_are_in_the_groups_from_the_start_and_keepers_are_not() {
    let bench = Bench::new();
    let file = bench.path("groups").display().to_string();
    let limits = Limits { cores: vec![0], memory_bytes: Some(64 << 20), ..cpu(0.5) };
    let mut system =
        started(&bench, &format!("cat /proc/self/cgroup > {file}; echo ready; exec sleep 60"), limits);
    let groups = bench.read("groups");
    for controller in ["cpu", "cpuset", "memory"] {
        let is_in = |line: &str| {
            let mut fields = line.splitn(3, ':').skip(1);
            let controllers = fields.next().unwrap_or_default();
            let is_here = controllers.is_empty() || controllers.split(',').any(|one| one == controller);
            is_here && fields.next().unwrap_or_default().contains("/tenbin-")
        };
        assert!(groups.lines().any(is_in), "{controller}: {groups}");
    }
    let keeper = system.roots()[0].keeper_pid;
    let of_keeper = fs::read_to_string(format!("/proc/{keeper}/cgroup")).expect("the keeper's");
    assert!(!of_keeper.contains("tenbin-"), "{of_keeper}");
    assert_eq!(system.died(), None);
    assert_eq!(system.stop().failures, []);
    bench.assert_clean();
}

#[test]
fn kill_for_memory_is_reported() {
    let bench = Bench::new();
    let limits = Limits { memory_bytes: Some(64 << 20), ..Limits::default() };
    let system = started(&bench, "echo ready; sleep 0.2; exec tail /dev/zero", limits.clone());
    let (system, died) = (RefCell::new(system), RefCell::new(None));
    wait_until("its death", || {
        *died.borrow_mut() = system.borrow_mut().died();
        died.borrow().is_some()
    });
    let died = died.into_inner().expect("a death");
    assert_eq!(died.stage, Stage::Died);
    assert!(died.what.starts_with("killed for memory: limit 64 MiB (was ended by KILL"), "{died}");
    assert!(died.way_out.contains("raise `memory`"), "{died}");
    assert_eq!(system.into_inner().stop().failures, [], "it was told");

    // Only a part of the system is killed, and the rest continues.
    let system = started(&bench, "echo ready; tail /dev/zero; touch over; exec sleep 60", limits.clone());
    wait_until("the part is killed", || bench.path("over").exists());
    let failures = system.stop().failures;
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert_eq!(failures[0].what, "1 process of it killed for memory: limit 64 MiB");

    // The system is killed before it is ready.
    let process = bench.process("limited", bench.sh("exec tail /dev/zero"), When::Log("never".to_owned()));
    let recipe = lab::Recipe { limits, ..bench.recipe(vec![process]) };
    let failure = lab::start(recipe, &|| false).expect_err("it is killed");
    assert!(failure.what.starts_with("killed for memory: limit 64 MiB"), "{failure}");
    bench.assert_clean();
}

#[test]
fn impossible_limit_is_an_error_before_the_start() {
    let bench = Bench::new();
    let limits = Limits { cores: vec![4000], ..Limits::default() };
    let failure = lab::limits::check(&limits, &[]).expect_err("no machine has it");
    assert!(failure.what.starts_with("the system cannot be held to the cores 4000"), "{failure}");
    assert!(failure.way_out.starts_with("choose other cores"), "{failure}");
    let process = bench.script("p", "touch started; exec sleep 60");
    let failure =
        lab::start(lab::Recipe { limits, ..bench.recipe(vec![process]) }, &|| false).expect_err("refused");
    assert_eq!(failure.stage, Stage::Limits);
    assert!(!bench.path("started").exists());
    bench.assert_clean();
    lab::limits::check(&cpu(0.5), &[cpu(0.2)]).expect("root may");
    let left: Vec<PathBuf> = groups_of_this_process();
    assert_eq!(left, Vec::<PathBuf>::new());
}

/// Groups that the check above left behind, which had no cores.
fn groups_of_this_process() -> Vec<PathBuf> {
    let own = format!("tenbin-{}:", std::process::id());
    let entries = fs::read_dir("/sys/fs/cgroup/cpuset").into_iter().flatten().flatten();
    let of_cores = entries.map(|entry| entry.path()).filter(|path| {
        fs::read_to_string(path.join("cpuset.cpus")).is_ok_and(|cores| cores.trim().is_empty())
            && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&own))
    });
    of_cores.collect()
}
