//! Experiments: they are stored, and an interrupted or killed Tenbin leaves no remains of them.

use std::fs;
use std::path::{Path, PathBuf};

use harness::quiet::assert_measured;
use rustix::process::Signal;
use serde_json::Value;

use crate::support::systems::{assert_nothing_is_left, marked};
use crate::support::{Home, number, until};

/// A pool of threads that each hold a request for 10 ms. Its CPU time is limited, so that every run has control groups to remove.
const POOL: &str = "scenario: [ get: '/hold?dist=constant&mean_us=10000' ]\nload: { users: 8, for: 200ms, threads: 1 }\n\
                    systems:\n  pool:\n    start: '{tenbin} target --listen 127.0.0.1:{port} --threads {threads}'\n    \
                    vary: { threads: [ 2 ] }\n    limits: [ threads ]\n    resources: { cpu: 0.5 }\n";

fn write(home: &Home, plan: &str) -> String {
    let path = home.path().join("plan.yaml");
    fs::write(&path, plan).expect("written");
    path.to_string_lossy().into_owned()
}

/// Control groups that the Tenbin with this PID created.
fn groups_of(pid: u32) -> Vec<PathBuf> {
    let prefix = format!("tenbin-{pid}:");
    let mut found = Vec::new();
    let mut folders = vec![(PathBuf::from("/sys/fs/cgroup"), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let is_of = |path: &Path| {
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix))
            };
            if is_of(&path) {
                found.push(path);
            } else if depth < 4 && path.is_dir() && !path.is_symlink() {
                folders.push((path, depth + 1));
            }
        }
    }
    found
}

/// Whether a control group of a Tenbin has one of these words in a limit file. Covers both versions of control groups.
fn is_limited(pid: u32, files: &[&str], words: &[&str]) -> bool {
    let has = |path: PathBuf| {
        let text = fs::read_to_string(path).unwrap_or_default();
        text.split(char::is_whitespace).any(|word| words.contains(&word))
    };
    groups_of(pid).iter().any(|group| files.iter().any(|file| has(group.join(file))))
}

/// Ends a Tenbin during its experiment, and waits until all remains are removed. Returns the exit code.
fn end_during_the_experiment(home: &Home, arguments: &[&str], signal: Signal) -> Option<i32> {
    end_when(home, arguments, signal, "another has control groups", |pid| {
        !marked(pid).is_empty() && !groups_of(pid).is_empty()
    })
}

/// Like `end_during_the_experiment`, but sends the signal when a condition on the PID becomes true.
fn end_when(
    home: &Home,
    arguments: &[&str],
    signal: Signal,
    what: &str,
    is_now: impl Fn(u32) -> bool,
) -> Option<i32> {
    let program = home.start(arguments);
    let pid = program.pid();
    until("a run of the experiment is over", || home.history().iter().any(|study| number(study, "done") > 1));
    until(what, || is_now(pid));
    program.signal(signal);
    let code = program.finish().code;
    assert_nothing_is_left(home);
    until("its control groups are gone", || groups_of(pid).is_empty());
    code
}

#[test]
fn interrupted_experiment_leaves_nothing_and_is_resumed() {
    assert_measured(|| {
        let home = Home::new();
        let plan = write(&home, POOL);
        // Too short for a change that needs a restart.
        let arguments = ["run", &plan, "--why", "--why-within", "45s"];
        assert_eq!(end_during_the_experiment(&home, &arguments, Signal::INT), Some(130));
        let output = home.run(&[&arguments[..], &["--resume", "--format", "json"]].concat());
        assert_eq!(output.code, Some(0), "{output:?}");
        let study = output.json();
        let tried = study["diagnosis"]["interventions"].as_array().expect("a list");
        let is_predicted = |tried: &Value| {
            tried["prediction"].as_str().is_some_and(|words| words.contains("if it is the limit"))
        };
        assert!(!tried.is_empty() && tried.iter().all(is_predicted), "{study}");
        let not_tested = study["diagnosis"]["not_tested"].as_array().expect("a list");
        assert!(
            not_tested
                .iter()
                .any(|why| why.as_str().is_some_and(|why| why.contains("threads 2 → 4 (doubled)"))),
            "{study}"
        );
        let runs = study["runs"].as_array().expect("runs");
        let of_experiment = runs.iter().filter(|run| !run["place"]["intervention"].is_null()).count();
        // 8 blocks of two controls and the changes, and five other numbers of users twice each. On a busy machine, the time that the
        // experiment may take ends before it has made all of these last ones.
        let of_users = of_experiment.checked_sub(8 * (2 + tried.len()));
        assert!(of_users.is_some_and(|runs| (1..=10).contains(&runs)), "{of_experiment} runs: {study}");
        let by_users = study["diagnosis"]["scaling"]["users"].as_array().expect("a list");
        let users: Vec<u64> = by_users.iter().filter_map(|rung| rung["users"].as_u64()).collect();
        assert!(of_users != Some(10) || users == [2, 4, 8, 12, 16, 24, 32], "{study}");
        assert_eq!(study["comparison"]["ranking"][0]["runs"], 1, "they count in no figure of the study");
        let text = home.run(&["report", "last"]).stdout;
        assert!(text.contains("Experiment on pool threads=2: one change at a time"), "{text}");
    });
}

#[test]
fn killed_experiment_leaves_no_limit() {
    let home = Home::new();
    let plan = write(&home, POOL);
    assert_eq!(end_during_the_experiment(&home, &["run", &plan, "--why"], Signal::KILL), None);
}

#[test]
fn kill_while_a_limit_changes_leaves_neither_limit_nor_system() {
    let plan = POOL.replace("{ cpu: 0.5 }", "{ cpu: 0.5, io: { write-iops: 1000/s } }");
    // 0.4 of a core in periods of 0.1 s, and 1,250 or 800 writes per second.
    let less_cpu = (["cpu.max", "cpu.cfs_quota_us"], ["40000", "40000"]);
    let other_io = (["io.max", "blkio.throttle.write_iops_device"], ["wiops=800", "800"]);
    for (files, words) in [less_cpu, other_io] {
        let home = Home::new();
        let plan = write(&home, &plan);
        let is_now = |pid| is_limited(pid, &files, &words);
        assert_eq!(end_when(&home, &["run", &plan, "--why"], Signal::KILL, words[0], is_now), None);
    }
}

#[test]
fn experiment_needs_a_system_that_tenbin_starts() {
    let home = Home::new();
    let plan = write(&home, "scenario: [ get: / ]\nload: { users: 1 }\nurl: http://127.0.0.1:1\n");
    let output = home.run(&["run", &plan, "--why"]);
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(
        output.stderr.contains("--why: an experiment changes the system, and Tenbin starts none"),
        "{output:?}"
    );
    assert!(output.stderr.contains("help: write a plan with a system that has `start`"), "{output:?}");
    let output = home.run(&["http://127.0.0.1:1", "--why"]);
    assert!(output.code == Some(2) && output.stderr.contains("for tenbin run PLAN --why"), "{output:?}");
    let output = home.run(&["run", &plan, "--why-within", "1min"]);
    assert!(output.code == Some(2) && output.stderr.contains("help: add --why"), "{output:?}");
}
