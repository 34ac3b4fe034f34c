//! A system is started and found ready in each of the ways there are, and nothing is left when it has been stopped.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::support::{Bench, SUBJECT, text, wait_until};
use lab::{Command, Process, Recipe, System, When, ports};

fn started(recipe: Recipe) -> System {
    lab::start(recipe, &|| false).unwrap_or_else(|failure| panic!("{failure}\n{:?}", failure.outputs))
}

/// Starts it, looks at the failures of the stop, and at what is left.
fn goes_well(bench: &Bench, recipe: Recipe) -> Vec<lab::Output> {
    let mut system = started(recipe);
    assert_eq!(system.died(), None);
    let stopped = system.stop();
    assert_eq!(stopped.failures, []);
    bench.assert_clean();
    stopped.outputs
}

fn address() -> (SocketAddr, String) {
    let port = ports::free(1).expect("a port")[0];
    (SocketAddr::from(([127, 0, 0, 1], port)), port.to_string())
}

#[test]
fn by_an_answer_to_a_get() {
    let bench = Bench::new();
    let (address, port) = address();
    let command = bench.command(&[SUBJECT, "http", &port]);
    let mut recipe =
        bench.recipe(vec![bench.process("http", command, When::Get { address, path: "/ok".to_owned() })]);
    recipe.ports = vec![address.port()];
    goes_well(&bench, recipe);
}

#[test]
fn start_waits_until_no_process_comes_or_goes() {
    let bench = Bench::new();
    // A worker that comes up after its parent is ready, and works before it waits.
    let worker = "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; exec sleep 60";
    let script = format!("sh -c '{worker}' & sh -c 'sleep 0.2' & sleep 60");
    let recipe = Recipe {
        steady_within: Some(std::time::Duration::from_secs(60)),
        ..bench.recipe(vec![bench.script("master", &script)])
    };
    let system = started(recipe);
    let steady = system.steady().expect("it waited");
    assert!(steady.is_steady && steady.changes >= 1 && steady.processes == 3, "{steady:?}");
    assert!(steady.waited >= std::time::Duration::from_millis(400), "{steady:?}");
    assert_eq!(system.stop().failures, []);
    bench.assert_clean();
}

#[test]
fn system_that_is_never_steady_is_started_after_the_limit() {
    let bench = Bench::new();
    let recipe = Recipe {
        steady_within: Some(std::time::Duration::from_millis(700)),
        ..bench.recipe(vec![bench.script("restless", "while true; do sleep 0.05; done")])
    };
    let system = started(recipe);
    let steady = system.steady().expect("it waited");
    assert!(!steady.is_steady && steady.changes > 0, "{steady:?}");
    assert_eq!(system.stop().failures, []);
    bench.assert_clean();
}

#[test]
fn by_a_connection() {
    let bench = Bench::new();
    let (address, port) = address();
    let command = bench.command(&[SUBJECT, "http", &port]);
    goes_well(&bench, bench.recipe(vec![bench.process("tcp", command, When::Tcp(address))]));
}

#[test]
fn by_a_connection_to_a_unix_socket() {
    let bench = Bench::new();
    let path = bench.path("s.sock");
    let command = bench.command(&[SUBJECT, "unix", path.to_str().expect("a path")]);
    goes_well(&bench, bench.recipe(vec![bench.process("unix", command, When::Unix(path))]));
}

#[test]
fn by_a_line_in_its_output() {
    let bench = Bench::new();
    let command = bench.sh("echo one; echo two >&2; echo now listening; exec sleep 60");
    let process = bench.process("log", command, When::Log("listening".to_owned()));
    let outputs = goes_well(&bench, bench.recipe(vec![process]));
    assert_eq!(text(&outputs, "log"), "one\ntwo\nnow listening\n");
}

#[test]
fn by_a_command_that_succeeds_at_last() {
    let bench = Bench::new();
    let again = bench.sh("echo . >> tries; test $(wc -l < tries) -ge 3");
    let process = bench.process("command", bench.sh("exec sleep 60"), When::Command(again));
    goes_well(&bench, bench.recipe(vec![process]));
    assert_eq!(bench.read("tries"), ".\n.\n.\n");
}

#[test]
fn at_once() {
    let bench = Bench::new();
    goes_well(&bench, bench.recipe(vec![bench.script("now", "exec sleep 60")]));
}

#[test]
fn a_slow_answer_is_asked_for_again() {
    let bench = Bench::new();
    let (address, port) = address();
    // Nobody listens at first.
    let command = bench.sh(&format!("sleep 0.2; exec {SUBJECT} http {port}"));
    let process = bench.process("slow", command, When::Get { address, path: "/ok".to_owned() });
    goes_well(&bench, bench.recipe(vec![process]));
}

#[test]
fn several_are_started_in_order_and_stopped_in_reverse() {
    let bench = Bench::new();
    let script = |name: &str| {
        format!(
            "trap 'echo -{name} >> order; exit' TERM; echo +{name} >> order; echo up; while :; do sleep 0.02; done"
        )
    };
    let process =
        |name: &str| -> Process { bench.process(name, bench.sh(&script(name)), When::Log("up".to_owned())) };
    let system = started(bench.recipe(vec![process("a"), process("b"), process("c")]));
    let roots = system.roots();
    assert_eq!(roots.iter().map(|root| root.name.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert!(roots.iter().all(|root| PathBuf::from(format!("/proc/{}", root.keeper_pid)).exists()));
    let stopped = system.stop();
    assert_eq!(stopped.failures, []);
    let names: Vec<&str> = stopped.outputs.iter().map(|output| output.process.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(bench.read("order"), "+a\n+b\n+c\n-c\n-b\n-a\n");
    bench.assert_clean();
}

#[test]
fn environment_folder_and_files_are_as_the_recipe_says() {
    let bench = Bench::new();
    let mut command =
        bench.sh("cat ../run/conf/a.conf; pwd; echo $COLOUR; readlink /proc/self/fd/0; echo ready; sleep 60");
    command.env.push(("COLOUR".to_owned(), "dark blue".to_owned()));
    let folder = bench.path("elsewhere");
    std::fs::create_dir(&folder).expect("a folder");
    command.dir.clone_from(&folder);
    let mut recipe = bench.recipe(vec![bench.process("env", command, When::Log("ready".to_owned()))]);
    recipe.files = vec![(PathBuf::from("conf/a.conf"), b"workers 8\n".to_vec())];
    let outputs = goes_well(&bench, recipe);
    let folder = folder.display();
    assert_eq!(text(&outputs, "env"), format!("workers 8\n{folder}\ndark blue\n/dev/null\nready\n"));
}

#[test]
fn cores_hold_for_everything_below() {
    let bench = Bench::new();
    let allowed = std::fs::read_to_string("/proc/self/status").expect("status");
    let list = |status: &str| {
        let line = status.lines().find(|line| line.starts_with("Cpus_allowed_list:"));
        line.and_then(|line| line.split_whitespace().nth(1)).unwrap_or_default().to_owned()
    };
    let first: usize =
        list(&allowed).split([',', '-']).next().and_then(|core| core.parse().ok()).expect("a core");
    let script = "grep Cpus_allowed_list /proc/self/status; echo ready; sleep 60";
    let process = bench.process("pinned", bench.sh(script), When::Log("ready".to_owned()));
    let mut recipe = bench.recipe(vec![process]);
    recipe.cores = vec![first];
    let outputs = goes_well(&bench, recipe);
    assert_eq!(list(&text(&outputs, "pinned")), first.to_string());
}

#[test]
fn commands_before_and_after_run_to_their_end() {
    let bench = Bench::new();
    let script = "test -f prepared && echo ready; exec sleep 60";
    let mut recipe = bench.recipe(vec![bench.process("p", bench.sh(script), When::Log("ready".to_owned()))]);
    let command = |script: &str| -> Command { bench.sh(script) };
    recipe.before =
        vec![command("sleep 0.1; touch preparing"), command("mv preparing prepared; echo prepared")];
    recipe.after = vec![command("rm prepared"), command("echo over")];
    let outputs = goes_well(&bench, recipe);
    assert_eq!(text(&outputs, "mv"), "prepared\n");
    assert_eq!(text(&outputs, "echo over"), "over\n");
    assert!(!bench.path("prepared").exists());
}

#[test]
fn what_a_command_before_left_running_lives_as_long_as_the_system() {
    let bench = Bench::new();
    let mut recipe = bench.recipe(vec![bench.script("p", "exec sleep 60")]);
    recipe.before = vec![bench.sh("setsid sh -c 'echo helping; exec sleep 61' & sleep 0.1")];
    let system = started(recipe);
    wait_until("it helps", || bench.left().iter().any(|process| process.contains("sleep 61")));
    let stopped = system.stop();
    assert_eq!(stopped.failures, []);
    assert_eq!(text(&stopped.outputs, "setsid"), "helping\n");
    bench.assert_clean();
}

#[test]
fn a_system_that_is_dropped_is_gone_too() {
    let bench = Bench::new();
    let mut recipe = bench.recipe(vec![bench.script("p", "exec sleep 60")]);
    recipe.after = vec![bench.sh("touch over")];
    let system = started(recipe);
    wait_until("it can be seen", || !bench.left().is_empty());
    drop(system);
    bench.assert_clean();
    assert!(bench.path("over").exists());
}
