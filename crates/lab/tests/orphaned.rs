//! When Tenbin is killed, its keepers end everything.

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use support::{Bench, KEEPER, SUBJECT, wait_until};

/// A Tenbin with a running system, and the pid of its keeper.
fn owner(bench: &Bench, script: &str) -> (Child, u32) {
    let command = bench.sh("");
    let mut owner = Command::new(SUBJECT)
        .args(["owner", KEEPER])
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
fn nothing_is_left_when_tenbin_is_killed() {
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
fn a_system_that_listens_to_term_can_tidy_up() {
    let bench = Bench::new();
    let file = bench.path("tidy").display().to_string();
    let script = format!("trap 'touch {file}; exit' TERM; echo ready; while :; do sleep 0.02; done");
    let (mut owner, _) = owner(&bench, &script);
    owner.kill().expect("killed");
    owner.wait().expect("reaped");
    wait_until("nothing is left", || bench.left().is_empty());
    assert!(bench.path("tidy").exists());
}
