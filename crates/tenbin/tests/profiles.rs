//! CPU profiles of a system: functions with a known share are found, and a missing profile has a reason.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use fixtures::processes_with;
use harness::say::print_progress;
use serde_json::Value;

use crate::support::systems::assert_nothing_is_left;
use crate::support::{Home, Started, built_in, until, url};

const SERVER: &str = include_str!("support/two_counters.c");

/// Compiles the server, and writes a plan that starts it under load for this long. Returns the path of the plan.
fn two_counters(home: &Home, measured: &str) -> PathBuf {
    let found = Command::new("perf").arg("--version").output();
    assert!(found.is_ok(), "perf is missing: apt-get install linux-perf, or scripts/systems.sh");
    let (source, program) = (home.path().join("server.c"), home.path().join("server"));
    fs::write(&source, SERVER).unwrap();
    let compiled = Command::new("cc")
        .args(["-O2", "-fno-omit-frame-pointer", "-pthread", "-o"])
        .args([&program, &source])
        .output()
        .expect("cc is missing: apt-get install gcc");
    assert!(compiled.status.success(), "{compiled:?}");
    let plan = home.path().join("plan.yaml");
    let start = format!("{} {{port}} {}", program.display(), home.path().join("shares").display());
    let text = format!(
        "scenario: [ get: / ]\nload: {{ users: 3, for: {measured}, warm-up: 1s }}\nsystems:\n  counters:\n    start: {start}\n"
    );
    fs::write(&plan, text).unwrap();
    plan
}

fn functions(profile: &Value) -> Vec<(&str, f64)> {
    let list = profile["functions"].as_array().unwrap_or_else(|| panic!("no functions: {profile}"));
    let of =
        |one: &'_ Value| one["self_share"].as_f64().unwrap_or_else(|| panic!("too few samples: {profile}"));
    list.iter().map(|one| (one["name"].as_str().unwrap(), of(one))).collect()
}

/// Profiles the server long enough to judge its functions. On a busy machine it gets little CPU time, and therefore few samples.
fn profiled_study(home: &Home) -> Value {
    for measured in ["4s", "12s", "36s"] {
        let plan = two_counters(home, measured);
        let study = home.run(&["run", &plan.to_string_lossy(), "--profile", "--format", "json"]).json();
        let profile = &study["profiles"][0];
        if !profile["functions"][0]["self_share"].is_null() {
            return study;
        }
        print_progress(&format!("measured again for longer: {} samples in {measured}", profile["samples"]));
    }
    panic!("too few samples for shares of functions in 36 s");
}

#[test]
fn two_functions_with_two_thirds_of_the_cpu_time_are_on_top() {
    let home = Home::new();
    let study = profiled_study(&home);
    let shares = fs::read_to_string(home.path().join("shares")).expect("what the server says of itself");
    let planted: Vec<f64> = shares.split_whitespace().map(|share| share.parse().unwrap()).collect();
    let profile = &study["profiles"][0];
    let found = functions(profile);
    let mut first: Vec<&str> = found.iter().take(2).map(|(name, _)| *name).collect();
    first.sort_unstable();
    assert_eq!(first, ["count_bytes", "count_requests"], "{profile:#}");
    for (name, planted) in [("count_requests", planted[0]), ("count_bytes", planted[1])] {
        let share = found.iter().find(|(known, _)| *known == name).unwrap().1;
        assert!((share - planted).abs() < 0.1, "{name}: {share} of the samples, {planted} of its CPU time");
    }
    assert!(found[0].1 + found[1].1 > 0.5, "{found:?}");
    assert_eq!(profile["spaces"][0]["space"], "user", "{profile:#}");
    let run = &study["runs"][0];
    assert_eq!(run["load"], "3 users, closed, profiled");
    assert!(
        run["not_available"].as_array().unwrap().iter().all(|one| one["probe"] != "CPU profile"),
        "{run}"
    );

    let shown = home.run(&["report", "last"]).stdout;
    assert!(shown.contains("CPU time by function"), "{shown}");
    assert!(shown.contains("count_requests") && shown.contains("in user space of server"), "{shown}");
    let left = fs::read_dir(home.path()).unwrap().flatten().map(|entry| entry.file_name());
    assert!(left.into_iter().all(|name| name != ".debug"), "perf keeps no copies of programs");
    assert_nothing_is_left(&home);
}

#[test]
fn run_without_perf_has_note_and_is_compared_normally() {
    let home = Home::new();
    let server = built_in();
    let url = url(server.address(), "/");
    let arguments = [&*url, "-d", "1s", "-c", "2", "--format", "json", "--profile"];
    let mut command = home.command(&arguments);
    command.env("PATH", home.path());
    let run = Started::spawn(command).finish().json();
    let missing = run["not_available"].as_array().unwrap();
    let why = missing.iter().find(|one| one["probe"] == "CPU profile").expect("why there is none");
    assert!(why["because"].as_str().unwrap().starts_with("perf is not installed; install it"), "{why}");
    assert!(run["profile"].is_null() && run["outcomes"]["ok"].as_u64() > Some(0), "{run}");
    let without = home.run(&arguments[..arguments.len() - 1]).json();
    let [with, without] = [&run, &without].map(|run| run["run"]["id"].as_str().unwrap());
    let compared = home.run(&["compare", with, without]);
    assert_eq!(compared.code, Some(0), "{compared:?}");
    assert!(!compared.stdout.contains("was profiled"), "perf sampled neither: {compared:?}");
}

#[test]
fn perf_ends_with_tenbin() {
    let home = Home::new();
    let plan = two_counters(&home, "60s");
    let arguments = ["run", &*plan.to_string_lossy(), "--profile"];
    let started = home.start(&arguments);
    let mark = format!("HOME={}", home.path().display());
    let is_perf =
        |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "perf\n");
    until("perf samples", || processes_with(&mark).iter().any(is_perf));
    // Dropping it kills the program.
    drop(started);
    assert_nothing_is_left(&home);
}
