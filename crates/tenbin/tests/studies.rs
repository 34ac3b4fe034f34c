//! Studies from outside: the whole plan is carried out, stored, and shown, even if systems misbehave.

use std::fs;

use harness::quiet::assert_measured;

use crate::support::{
    self,
    systems::{assert_nothing_is_left, marked},
};
use crate::support::{Home, assert_identity, number};
use serde_json::Value;

/// Start of a system that is this program itself.
const TARGET: &str = "start: '{tenbin} target --listen 127.0.0.1:{port} --threads {threads}'";

fn plan(home: &Home, text: &str) -> String {
    let path = home.path().join("plan.yaml");
    fs::write(&path, text).expect("written");
    path.to_string_lossy().into_owned()
}

#[test]
fn every_variant_is_run_in_every_block_and_compared() {
    let home = Home::new();
    let path = plan(
        &home,
        &format!(
            "question: Do more threads help?\nseed: 7\nscenario:\n  - get: /hold?mean_us=2000\nload: {{ users: 8, for: 1s }}\nsystems:\n  \
             target:\n    {TARGET}\n    vary: {{ threads: [1, 4] }}\ncompare: {{ by: throughput, blocks: 2 }}\n"
        ),
    );
    let study = home.json(&["run", &path]);
    assert_eq!(study["schema"], "tenbin.study/1");
    let runs = study["runs"].as_array().expect("a list");
    let mut seen: Vec<(String, u64)> = runs
        .iter()
        .map(|run| {
            (run["system"]["variant"].as_str().expect("a name").to_owned(), number(run, "place.block"))
        })
        .collect();
    seen.sort();
    let expected = [("threads=1", 0), ("threads=1", 1), ("threads=4", 0), ("threads=4", 1)];
    assert_eq!(seen, expected.map(|(name, block)| (name.to_owned(), block)));
    for run in runs {
        assert_identity(run);
        assert_eq!(run["verdict"], "complete", "{run}");
        assert!(run["system"]["cpu_s"].as_f64().is_some_and(|cpu_s| cpu_s > 0.0), "{run}");
        assert!(number(run, "system.rss_peak_bytes") > 1 << 20, "{run}");
    }
    let best = &study["comparison"]["ranking"][0];
    assert!(best.to_string().contains("threads=4"), "four threads that sleep beat one: {best}");
    assert_nothing_is_left(&home);
}

#[test]
fn steps_values_and_captures_reach_the_system() {
    let home = Home::new();
    let path = plan(
        &home,
        &format!(
            "scenario:\n  - name: write\n    post: /echo\n    body: 'token={{id}}-{{word}}'\n    save: {{ token: {{ body: 'token=(\\S+)' }} }}\n  \
             - name: read\n    post: /echo\n    body: 'again {{token}}'\n    expect: {{ body-matches: '^again [0-9]+-[a-z]{{{{4}}}}$' }}\n\
             data:\n  id: {{ sequence: 1.. }}\n  word: {{ text: 4, of: letters }}\nload: {{ users: 2, for: 1s }}\nsystems:\n  target:\n    {TARGET}\n    \
             vary: {{ threads: [2] }}\n"
        )
        .replace("{{4}}", "{4}"),
    );
    let study = home.json(&["run", &path]);
    let run = &study["runs"][0];
    let steps = run["steps"].as_array().expect("a list");
    assert_eq!(steps.len(), 2, "{run}");
    let (write, read) = (number(&steps[0], "outcomes.ok"), number(&steps[1], "outcomes.ok"));
    assert!(read > 10 && write.abs_diff(read) <= 2, "{write} writes, {read} reads: {run}");
    assert_eq!(number(run, "outcomes.rejected"), 0, "{run}");
}

#[test]
fn misbehaving_systems_are_results_and_the_study_continues() {
    assert_measured(|| {
        let home = Home::new();
        // Loads of less than two seconds are not invalid if something else takes the cores.
        let path = plan(
            &home,
            "scenario:\n  - get: /status\nload: { users: 2, for: 1700ms, timeout: 1s }\nsystems:\n  \
             good:\n    start: '{tenbin} target --listen 127.0.0.1:{port}'\n  \
             never-ready:\n    start: sh -c 'echo {port}; sleep 60'\n    ready: { get: /, within: 500ms }\n  \
             exits:\n    start: sh -c 'echo {port} is no good; exit 3'\n  \
             dies:\n    start: sh -c '{tenbin} target --listen 127.0.0.1:{port} & sleep 1.2; kill $!'\n  \
             stubborn:\n    start: sh -c 'trap \"\" TERM; {tenbin} target --listen 127.0.0.1:{port} & while :; do sleep 0.1; done'\n    \
             stop: { within: 300ms }\n  \
             noisy:\n    start: sh -c 'yes & exec {tenbin} target --listen 127.0.0.1:{port}'\n",
        );
        let output = home.run(&["run", &path, "--format", "json"]);
        assert_eq!(output.code, Some(1), "some failed in each of their runs: {output:?}");
        let study = output.json();
        let run = |system: &str| -> &Value {
            let runs = study["runs"].as_array().expect("a list");
            runs.iter()
                .find(|run| run["system"]["name"] == system)
                .unwrap_or_else(|| panic!("{system} has no run: {study}"))
        };
        for system in ["good", "stubborn", "noisy"] {
            assert_eq!(run(system)["verdict"], "complete", "{}", run(system));
            assert!(number(run(system), "outcomes.ok") > 0);
        }
        for (system, stage, words) in [
            ("never-ready", "ready", "not ready after"),
            ("exits", "ready", "exited with code 3"),
            ("dies", "died", ""),
        ] {
            let run = run(system);
            assert_eq!(run["verdict"], "aborted", "{run}");
            let failure = &run["failure"];
            assert!(
                failure["stage"] == stage
                    && failure["what"].as_str().is_some_and(|what| what.contains(words)),
                "{failure}"
            );
        }
        assert!(output.stderr.contains("help:"), "{}", output.stderr);
        assert_nothing_is_left(&home);
    });
}

#[test]
fn interrupted_study_is_resumed_where_it_stopped() {
    let home = Home::new();
    let text = format!(
        "scenario:\n  - get: /status\nload: {{ users: 2, for: 1s }}\nsystems:\n  target:\n    {TARGET}\n    vary: {{ threads: [1, 2] }}\n\
         compare: {{ blocks: 2 }}\n"
    );
    let path = plan(&home, &text);
    let program = home.start(&["run", &path]);
    support::until("a system runs", || !marked(program.pid()).is_empty());
    std::thread::sleep(std::time::Duration::from_millis(1_700));
    program.signal(rustix::process::Signal::INT);
    let output = program.finish();
    assert_eq!(output.code, Some(130), "{output:?}");
    assert!(output.stdout.contains("--resume"), "the way to go on is said: {output:?}");
    assert_nothing_is_left(&home);

    fs::write(home.path().join("plan.yaml"), text.replace("users: 2", "users: 3")).expect("written");
    let refused = home.run(&["run", &path, "--resume"]);
    assert_eq!(refused.code, Some(2), "another plan is another study: {refused:?}");
    fs::write(home.path().join("plan.yaml"), &text).expect("written");
    let study = home.json(&["run", &path, "--resume"]);
    assert_eq!(study["runs"].as_array().map(Vec::len), Some(4), "{study}");
    assert_eq!(number(&study, "study.done"), 4, "{study}");
    let again = home.run(&["run", &path, "--resume"]);
    assert_eq!(again.code, Some(2), "nothing is left to resume: {again:?}");
}

#[test]
fn failed_gate_exits_with_3() {
    let home = Home::new();
    let text = format!(
        "scenario:\n  - get: /hold?mean_us=20000\nload: {{ users: 4, for: 1s }}\nsystems:\n  target:\n    {TARGET}\n    vary: {{ threads: [4] }}\n\
         gates: [ 'mean<LIMIT', 'errors<1%' ]\n"
    );
    let held = home.run(&["run", &plan(&home, &text.replace("LIMIT", "10s"))]);
    assert_eq!(held.code, Some(0), "{held:?}");
    let breached = home.run(&["run", &plan(&home, &text.replace("LIMIT", "5ms"))]);
    assert_eq!(breached.code, Some(3), "{breached:?}");
    assert!(breached.stdout.contains("mean<5ms"), "{breached:?}");
}

#[test]
fn gate_of_a_failed_system_fails_and_a_quick_study_may_be_inconclusive() {
    let home = Home::new();
    let text = format!(
        "scenario:\n  - get: /status\nload: {{ users: 2, for: 1s, requests: 500 }}\nsystems:\n  target:\n    {TARGET}\n    \
         vary: {{ threads: [2] }}\nGATES"
    );
    let failing = "  fails:\n    start: sh -c 'echo {port}; exit 3'\n";
    let gates = |gate: &str| text.replace("GATES", &format!("gates: [ '{gate}' ]\nquick: {{ blocks: 1 }}\n"));
    let with_failing = text.replace("GATES", &format!("{failing}gates: [ 'errors<1%' ]\n"));
    assert_eq!(home.run(&["run", &plan(&home, &with_failing)]).code, Some(3));
    let without = text.replace("GATES", failing);
    assert_eq!(home.run(&["run", &plan(&home, &without)]).code, Some(1), "its only run failed");
    let untold = plan(&home, &gates("p(99.9)<10s"));
    let whole = home.run(&["run", &untold]);
    assert!(whole.code == Some(3) && whole.stdout.contains("undecided in 1 of 1 run"), "{whole:?}");
    let quick = home.run(&["run", &untold, "--quick"]);
    assert!(quick.code == Some(0) && quick.stdout.contains("undecided"), "{quick:?}");
}

#[test]
fn check_connects_and_starts_only_with_a_flag() {
    let home = Home::new();
    let check = |arguments: &[&str]| {
        let mut command = std::process::Command::new(support::TENBIN);
        command.arg("check").args(arguments);
        home.isolate(&mut command);
        support::Started::spawn(command).finish()
    };
    let target = support::built_in();
    let text =
        |port: u16| format!("scenario: [ get: / ]\nload: {{ users: 1 }}\nurl: http://127.0.0.1:{port}\n");
    let path = plan(&home, &text(target.address().port()));
    let output = check(&[&path]);
    assert!(output.code == Some(0) && !output.stdout.contains(": answers"), "{output:?}");
    assert_eq!(target.counters().accepted, 0, "nothing is connected to");
    let output = check(&[&path, "--connect"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.stdout.contains(": answers"), "{output:?}");
    assert_eq!(target.counters().requests, 0, "nothing is sent");
    drop(target);
    let path = plan(&home, &text(9));
    assert_eq!(check(&[&path]).code, Some(0), "it is not asked whether it runs");
    let output = check(&[&path, "--connect"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stdout.contains("connection refused"), "{output:?}");

    let started = format!(
        "scenario: [ get: / ]\nload: {{ users: 1 }}\nsystems:\n  target:\n    {TARGET}\n    vary: {{ threads: [1, 2] }}\n"
    );
    let path = plan(&home, &started);
    let output = check(&[&path]);
    assert!(output.code == Some(0) && !output.stdout.contains("ready after"), "{output:?}");
    let output = check(&[&path, "--start"]);
    assert_eq!((output.code, output.stdout.matches("ready after").count()), (Some(0), 2), "{output:?}");
    assert!(check(&["--schema"]).json()["$schema"].is_string());
    assert_nothing_is_left(&home);
}

#[test]
fn plan_that_cannot_work_starts_nothing() {
    let home = Home::new();
    let wrong = plan(&home, "scenario:\n  - gte: /\nload: { users: ten }\nsystems: {}\n");
    let output = home.run(&["run", &wrong]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""), "{output:?}");
    for place in ["plan.yaml:2:5", "plan.yaml:3:16", "plan.yaml:4"] {
        assert!(output.stderr.contains(place), "{place} is not in {}", output.stderr);
    }
    let missing = plan(
        &home,
        "scenario:\n  - get: /\nload: { users: 1, for: 1s }\nsystems:\n  a:\n    start: no-such-server -p {port}\n",
    );
    let output = home.run(&["run", &missing]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains("no-such-server") && output.stderr.contains("install"), "{output:?}");
    assert!(home.history().is_empty());
}

#[test]
fn load_passes_the_proxy_of_a_plan_which_is_no_part_of_the_system() {
    let home = Home::new();
    let path = plan(
        &home,
        "scenario: [ get: /status ]\nload: { rate: 50/s, for: 2s }\nsystems:\n  target:\n    \
         start: '{tenbin} target --listen 127.0.0.1:{port}'\n    url: 'http://127.0.0.1:{port.far}'\n    \
         proxies: { far: { to: '127.0.0.1:{port}', delay: '{delay}' } }\n    vary: { delay: [5ms, 15ms] }\n",
    );
    let study = home.json(&["run", &path]);
    let runs = study["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 2);
    for run in runs {
        assert_identity(run);
        assert_eq!(number(run, "outcomes.ok"), 100, "{run}");
        let delay_us = if run["system"]["variant"] == "delay=5ms" { 5_000.0 } else { 15_000.0 };
        let fastest_us = run["service_time_us"]["min"].as_f64().expect("a time");
        assert!(fastest_us >= 2.0 * delay_us, "{run}");
        let processes = run["system"]["processes"].as_array().expect("a list");
        let cpu_s = |name: &str| {
            let process = processes.iter().find(|process| process["name"] == name);
            process
                .and_then(|process| process["cpu_s"].as_f64())
                .unwrap_or_else(|| panic!("no {name}: {run}"))
        };
        // The work may be too little for a tick of the clock that counts the CPU time of processes.
        assert!(cpu_s("proxy far") >= 0.0, "{run}");
        let of_system = run["system"]["cpu_s"].as_f64().expect("a time");
        assert!((of_system - cpu_s("target")).abs() < 1e-6, "{run}");
    }
    assert_nothing_is_left(&home);
}

#[test]
fn system_beyond_its_memory_limit_is_killed_and_reported() {
    let home = Home::new();
    let path = plan(
        &home,
        "scenario: [ get: /status ]\nload: { rate: 20/s, for: 20s }\nsystems:\n  target:\n    processes:\n      \
         web: { start: '{tenbin} target --listen 127.0.0.1:{port}', ready: { tcp: true } }\n      \
         eater: { start: \"sh -c 'echo ready; sleep 1; exec tail /dev/zero'\", ready: { log: ready } }\n    \
         resources: { memory: '{memory}', cpu: 0.9 }\n    vary: { memory: [64MiB] }\n",
    );
    let output = home.run(&["run", &path, "--format", "json"]);
    let study: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let run = &study["runs"][0];
    assert_eq!(run["verdict"], "aborted", "these limits need root and control groups: {run}");
    let what = run["failure"]["what"].as_str().unwrap_or_default();
    assert!(what.starts_with("killed for memory: limit 64 MiB"), "{run}");
    assert_nothing_is_left(&home);
}

#[test]
fn system_on_its_own_host_is_loaded_over_a_link() {
    let home = Home::new();
    let path = plan(
        &home,
        "scenario: [ get: /status ]\nload: { rate: 50/s, for: 1s }\nhosts: { far: { namespace: true } }\nsystems:\n  target:\n    \
         host: far\n    processes:\n      \
         web: { start: '{tenbin} target --listen 127.0.0.1:{port.web}', ready: { log: listening } }\n      \
         door: { start: '{tenbin} proxy {host}:{port} 127.0.0.1:{port.web}', ready: { tcp: true, port: port }, needs: web }\n",
    );
    let study = home.json(&["run", &path]);
    let run = &study["runs"][0];
    assert_identity(run);
    assert_eq!(number(run, "outcomes.ok"), 50, "this test needs root and iproute2: {run}");
    // Fifty requests may take less than a tick.
    assert!(run["system"]["cpu_s"].is_number(), "{run}");
    assert_nothing_is_left(&home);
}

#[test]
fn events_slow_cut_and_reset_the_link_of_a_proxy_and_limit_the_system_temporarily() {
    let home = Home::new();
    let path = plan(
        &home,
        "scenario: [ get: /status ]\nload: { rate: 50/s, for: 4s }\n\
         events: { slow: { at: 500ms }, cut: { after: slow }, reset: { after: cut }, less: { after: reset } }\nsystems:\n  target:\n    \
         start: '{tenbin} target --listen 127.0.0.1:{port}'\n    url: 'http://127.0.0.1:{port.far}'\n    \
         proxies: { far: { to: '127.0.0.1:{port}', delay: 1ms } }\n    events:\n      \
         slow: { slow: { link: far, delay: '{delay}' }, for: 500ms }\n      cut: { cut: far, for: 400ms }\n      reset: { reset: far }\n      \
         less: { limit: { cpu: 0.5 }, for: 200ms }\n    vary: { delay: [60ms] }\n",
    );
    let output = home.run(&["run", &path, "--format", "json"]);
    let study: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let run = &study["runs"][0];
    assert_identity(run);
    let events = run["events"].as_array().unwrap_or_else(|| panic!("no events: {run}"));
    assert_eq!(events.len(), 4, "{run}");
    assert!(events.iter().all(|event| event["failure"].is_null()), "this test needs root: {events:?}");
    let us = |figure: &str| run["service_time_us"][figure].as_f64().expect("a time");
    assert!((2_000.0..60_000.0).contains(&us("min")), "before and after: {run}");
    assert!(us("max") >= 300_000.0, "what the cut held: {run}");
    let all = number(run, "outcomes.ok") + number(run, "outcomes.failed");
    assert!(all >= 190, "{run}");
    assert_nothing_is_left(&home);
}
