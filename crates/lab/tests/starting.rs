//! Tests that a system starts with each kind of readiness check, and that nothing is left after the stop.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::support::{Bench, SUBJECT, text, wait_until};
use lab::{Command, Process, Recipe, System, When, ports};

fn started(recipe: Recipe) -> System {
    lab::start(recipe, &|| false).unwrap_or_else(|failure| panic!("{failure}\n{:?}", failure.outputs))
}

/// Starts and stops a system, and asserts that there was no failure and that nothing is left. Returns the outputs.
fn assert_starts_and_stops(bench: &Bench, recipe: Recipe) -> Vec<lab::Output> {
    let mut system = started(recipe);
    assert_eq!(system.died(), None);
    let stopped = system.stop();
    assert_eq!(stopped.failures, []);
    bench.assert_clean();
    stopped.outputs
}

fn address() -> (SocketAddr, String) {
    let port = ports::find_free(1).expect("a port")[0];
    (SocketAddr::from(([127, 0, 0, 1], port)), port.to_string())
}

#[test]
fn is_ready_when_http_get_succeeds() {
    let bench = Bench::new();
    let (address, port) = address();
    let command = bench.command(&[SUBJECT, "http", &port]);
    let mut recipe =
        bench.recipe(vec![bench.process("http", command, When::Get { address, path: "/ok".to_owned() })]);
    recipe.ports = vec![address.port()];
    assert_starts_and_stops(&bench, recipe);
}

#[test]
fn start_waits_until_no_process_starts_or_ends() {
    let bench = Bench::new();
    // The worker starts after its parent is ready, and works before it waits.
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
fn system_that_is_never_steady_starts_after_the_timeout() {
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
fn is_ready_when_tcp_connection_is_accepted() {
    let bench = Bench::new();
    let (address, port) = address();
    let command = bench.command(&[SUBJECT, "http", &port]);
    assert_starts_and_stops(&bench, bench.recipe(vec![bench.process("tcp", command, When::Tcp(address))]));
}

#[test]
fn is_ready_when_unix_socket_accepts() {
    let bench = Bench::new();
    let path = bench.path("s.sock");
    let command = bench.command(&[SUBJECT, "unix", path.to_str().expect("a path")]);
    assert_starts_and_stops(&bench, bench.recipe(vec![bench.process("unix", command, When::Unix(path))]));
}

#[test]
fn is_ready_when_output_contains_text() {
    let bench = Bench::new();
    let command = bench.sh("echo one; echo two >&2; echo now listening; exec sleep 60");
    let process = bench.process("log", command, When::Log("listening".to_owned()));
    let outputs = assert_starts_and_stops(&bench, bench.recipe(vec![process]));
    assert_eq!(text(&outputs, "log"), "one\ntwo\nnow listening\n");
}

#[test]
fn is_ready_when_command_succeeds() {
    let bench = Bench::new();
    let again = bench.sh("echo . >> tries; test $(wc -l < tries) -ge 3");
    let process = bench.process("command", bench.sh("exec sleep 60"), When::Command(again));
    assert_starts_and_stops(&bench, bench.recipe(vec![process]));
    assert_eq!(bench.read("tries"), ".\n.\n.\n");
}

#[test]
fn is_ready_at_once_without_a_check() {
    let bench = Bench::new();
    assert_starts_and_stops(&bench, bench.recipe(vec![bench.script("now", "exec sleep 60")]));
}

#[test]
fn http_get_is_repeated_until_it_succeeds() {
    let bench = Bench::new();
    let (address, port) = address();
    // The port does not listen at first.
    let command = bench.sh(&format!("sleep 0.2; exec {SUBJECT} http {port}"));
    let process = bench.process("slow", command, When::Get { address, path: "/ok".to_owned() });
    assert_starts_and_stops(&bench, bench.recipe(vec![process]));
}

#[test]
fn processes_start_in_order_and_stop_in_reverse() {
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
fn environment_folder_and_files_match_the_recipe() {
    let bench = Bench::new();
    let mut command =
        bench.sh("cat ../run/conf/a.conf; pwd; echo $COLOUR; readlink /proc/self/fd/0; echo ready; sleep 60");
    command.env.push(("COLOUR".to_owned(), "dark blue".to_owned()));
    let folder = bench.path("elsewhere");
    std::fs::create_dir(&folder).expect("a folder");
    command.dir.clone_from(&folder);
    let mut recipe = bench.recipe(vec![bench.process("env", command, When::Log("ready".to_owned()))]);
    recipe.files = vec![(PathBuf::from("conf/a.conf"), b"workers 8\n".to_vec())];
    let outputs = assert_starts_and_stops(&bench, recipe);
    let folder = folder.display();
    assert_eq!(text(&outputs, "env"), format!("workers 8\n{folder}\ndark blue\n/dev/null\nready\n"));
}

#[test]
fn cores_apply_to_all_descendants() {
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
    let outputs = assert_starts_and_stops(&bench, recipe);
    assert_eq!(list(&text(&outputs, "pinned")), first.to_string());
}

#[test]
fn commands_before_and_after_run_to_completion() {
    let bench = Bench::new();
    let script = "test -f prepared && echo ready; exec sleep 60";
    let mut recipe = bench.recipe(vec![bench.process("p", bench.sh(script), When::Log("ready".to_owned()))]);
    let command = |script: &str| -> Command { bench.sh(script) };
    recipe.before =
        vec![command("sleep 0.1; touch preparing"), command("mv preparing prepared; echo prepared")];
    recipe.after = vec![command("rm prepared"), command("echo over")];
    let outputs = assert_starts_and_stops(&bench, recipe);
    assert_eq!(text(&outputs, "mv"), "prepared\n");
    assert_eq!(text(&outputs, "echo over"), "over\n");
    assert!(!bench.path("prepared").exists());
}

#[test]
fn background_process_of_a_command_lives_as_long_as_the_system() {
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
fn dropped_system_is_stopped() {
    let bench = Bench::new();
    let mut recipe = bench.recipe(vec![bench.script("p", "exec sleep 60")]);
    recipe.after = vec![bench.sh("touch over")];
    let system = started(recipe);
    wait_until("it can be seen", || !bench.left().is_empty());
    drop(system);
    bench.assert_clean();
    assert!(bench.path("over").exists());
}
