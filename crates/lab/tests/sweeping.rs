//! Tests that the next Tenbin finds everything that a killed Tenbin and a killed keeper left, and nothing else.

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use lab::{When, leftovers};
use rustix::process::{Pid, Signal, kill_process};
use support::{Bench, KEEPER, SUBJECT, wait_until};

#[test]
fn leftover_processes_are_ended_and_others_are_not_touched() {
    let (bench, living) = (Bench::new(), Bench::new());
    let process = living.process("p", living.sh("echo ready; exec sleep 60"), When::Log("ready".to_owned()));
    let system = lab::start(living.recipe(vec![process]), &|| false).expect("started");

    let script = "setsid -f sh -c 'trap \"\" TERM; while :; do sleep 1; done'; echo ready; exec sleep 60";
    let mut owner = Command::new(SUBJECT)
        .args(["owner", KEEPER])
        .arg(bench.path("run"))
        .arg(script)
        .envs(bench.sh("").env)
        .stdout(Stdio::piped())
        .spawn()
        .expect("an owner");
    let mut line = String::new();
    BufReader::new(owner.stdout.take().expect("its output")).read_line(&mut line).expect("its keeper");
    let keeper = Pid::from_raw(line.trim().parse().expect("a pid")).expect("a pid");
    // The keeper is killed first, so that it cannot end the system.
    kill_process(keeper, Signal::KILL).expect("killed");
    owner.kill().expect("killed");
    owner.wait().expect("reaped");
    wait_until("only the system is left", || {
        bench.left().iter().all(|left| left.contains("sleep") || left.contains("trap"))
    });
    let before: Vec<String> = bench.left().iter().map(|left| left.trim().to_owned()).collect();
    assert!(before.len() >= 2, "{before:?}");

    let swept = leftovers::sweep().ended;
    // Another Tenbin on this machine may sweep at the same time, so some processes may be missing here.
    assert!(swept.iter().any(|swept| before.iter().any(|left| left.ends_with(&swept.command))), "{swept:?}");
    assert_eq!(bench.left(), Vec::<String>::new());

    wait_until("the system of a living Tenbin is seen", || living.left().len() == 1);
    assert_eq!(system.stop().failures, []);
    living.assert_clean();
}

#[test]
fn system_of_tenbin_in_another_pid_namespace_is_not_touched() {
    let bench = Bench::new();
    let mut unshare = Command::new("unshare");
    if !rustix::process::getuid().is_root() {
        unshare.arg("--map-root-user");
    }
    // The owner has pid 1 in its namespace. Here, pid 1 is another process.
    let mut owner = unshare
        .args(["--pid", "--fork", "--kill-child", "--mount-proc", SUBJECT, "owner", KEEPER])
        .arg(bench.path("run"))
        .arg("echo ready; exec sleep 60")
        .envs(bench.sh("").env)
        .stdout(Stdio::piped())
        .spawn()
        .expect("unshare, of the package util-linux");
    let mut line = String::new();
    BufReader::new(owner.stdout.take().expect("its output")).read_line(&mut line).expect("its keeper");
    assert!(!line.is_empty(), "this test needs the right to make a PID namespace: unshare said why not");
    let is_system = |left: &String| left.split_whitespace().skip(1).eq(["sleep", "60"]);
    wait_until("the system runs", || bench.left().iter().any(is_system));
    let before = bench.left();

    let found = leftovers::sweep();
    assert_eq!(bench.left(), before);
    let system = before.iter().find(|left| is_system(left)).expect("the system");
    let is_it = |pid: &u32| system.starts_with(&format!("/proc/{pid} "));
    assert!(found.elsewhere.iter().any(is_it), "{found:?} has not {system}");

    owner.kill().expect("killed");
    owner.wait().expect("reaped");
    wait_until("the namespace is gone with its first process", || bench.left().is_empty());
}
