//! Seeds: each load and each study draws its own unless one is given. The seed is reported, and repeats the draws.

use std::fs;
use std::time::Duration;

use crate::support::{self, systems::marked};
use crate::support::{Home, number};
use serde_json::Value;

/// Seed in the message that it repeats the draws of a run.
fn announced_seed(stderr: &str) -> Option<u64> {
    let rest = stderr.split_once("; --seed ")?.1;
    rest.split_once(' ')?.0.parse().ok()
}

#[test]
fn loads_have_different_seeds_and_sign_ups_do_not_collide() {
    let home = Home::new();
    let url = format!("sqlite:{}", home.path().join("bench.db").display());
    let mut command = std::process::Command::new(support::TENBIN);
    home.isolate(command.arg("prepare").arg(&url).args(["--workload", "sign-up"]));
    let prepared = support::Started::spawn(command).finish();
    assert_eq!(prepared.code, Some(0), "{prepared:?}");
    let mut seeds = Vec::new();
    for _ in 0..2 {
        let run = home.run(&[&url, "--workload", "sign-up", "-c", "2", "-n", "200", "--format", "json"]);
        assert_eq!(number(&run.json(), "outcomes.ok"), 200, "{run:?}");
        seeds.push(announced_seed(&run.stderr).unwrap_or_else(|| panic!("{run:?}")));
    }
    assert_ne!(seeds[0], seeds[1]);
    let again = seeds[0].to_string();
    let arguments =
        [&url, "--workload", "sign-up", "-c", "2", "-n", "200", "--seed", &again, "--format", "json"];
    let run = home.run(&arguments);
    assert_eq!(announced_seed(&run.stderr), None, "it was named");
    assert_eq!(number(&run.json(), "outcomes.rejected"), 200, "the same values are drawn: {run:?}");
}

fn seed(study: &Value) -> u64 {
    number(study, "study.seed")
}

#[test]
fn study_without_a_seed_draws_one_and_keeps_it_when_resumed() {
    let home = Home::new();
    let path = home.path().join("plan.yaml");
    let text = "scenario: [ get: / ]\nload: { users: 1, for: 300ms }\nsystems:\n  target:\n    \
                start: '{tenbin} target --listen 127.0.0.1:{port} --threads {threads}'\n    \
                vary: { threads: [1, 2, 3] }\ncompare: { blocks: 3 }\n";
    fs::write(&path, text).expect("written");
    let path = path.to_string_lossy().into_owned();
    let checked = home.run(&["check", &path]);
    assert!(!checked.stdout.contains("seed"), "nobody knows it yet: {checked:?}");
    let running = home.start(&["run", &path, "--format", "json"]);
    support::until("a system runs", || !marked(running.pid()).is_empty());
    std::thread::sleep(Duration::from_millis(1_000));
    running.signal(rustix::process::Signal::INT);
    let first = seed(&running.finish().json());
    let resumed = home.json(&["run", &path, "--resume"]);
    assert_eq!(seed(&resumed), first);
    assert_eq!(resumed["runs"].as_array().map(Vec::len), Some(9), "in the order that was drawn at first");
    assert_ne!(seed(&home.json(&["run", &path])), first, "a new study draws another seed");
}
