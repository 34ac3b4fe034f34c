//! Tests that a stop ends a system regardless of its behavior, and reports the steps that it took.

use std::net::SocketAddr;

use crate::support::{Bench, LONG, SHORT, SUBJECT, text, wait_until};
use lab::{Process, Recipe, Signal, Stage, Stopped, System, When, ports};

fn started(recipe: Recipe) -> System {
    lab::start(recipe, &|| false).unwrap_or_else(|failure| panic!("{failure}\n{:?}", failure.outputs))
}

fn stopped(bench: &Bench, recipe: Recipe) -> Stopped {
    let stopped = started(recipe).stop();
    bench.assert_clean();
    stopped
}

/// Returns a process that is ready when it writes "ready".
fn script(bench: &Bench, script: &str) -> Process {
    bench.process("p", bench.sh(script), When::Log("ready".to_owned()))
}

/// Failures of the only process, without stage and remedy.
fn failures_of(stopped: &Stopped) -> Vec<&str> {
    stopped.failures.iter().map(|failure| failure.what.as_str()).collect()
}

#[test]
fn process_that_ignores_the_signal_is_killed() {
    let bench = Bench::new();
    let mut process =
        script(&bench, "trap '' TERM; (while :; do sleep 1; done) & echo ready; while :; do sleep 1; done");
    process.stop.within = SHORT;
    let stopped = stopped(&bench, bench.recipe(vec![process]));
    let failure = &stopped.failures[0];
    assert_eq!(
        (stopped.failures.len(), failure.stage, failure.process.as_deref()),
        (1, Stage::Stop, Some("p"))
    );
    assert!(failure.what.starts_with("ignored TERM for 300 ms and was killed ("), "{failure}");
    assert!(failure.way_out.contains("stop: { within: 30s }"), "{failure}");
}

#[test]
fn configured_signal_is_sent_to_the_process_group() {
    let bench = Bench::new();
    // USR2 instead of QUIT, because shells ignore QUIT in background processes.
    let script_of = |name: &str, first: &str| {
        format!("trap 'wait; echo {name}; exit' USR2; {first} while :; do sleep 0.02; done")
    };
    std::fs::write(bench.path("worker.sh"), script_of("worker", "echo ready;")).expect("a script");
    let whole = script_of("master", "sh worker.sh &");
    let mut process = script(&bench, &whole);
    process.stop.signal = Signal::named("USR2").expect("a signal");
    let stopped = stopped(&bench, bench.recipe(vec![process]));
    assert_eq!(stopped.failures, []);
    let text = text(&stopped.outputs, "p");
    assert!(text.contains("worker\n") && text.ends_with("master\n"), "{text}");
}

#[test]
fn listener_in_its_own_session_is_stopped_too() {
    let bench = Bench::new();
    let port = ports::find_free(1).expect("a port")[0];
    // The server is no longer a child of the shell, which does not know it.
    let command = bench.sh(&format!("setsid -f {SUBJECT} http {port}; exec sleep 60"));
    let mut process = bench.process("p", command, When::Tcp(SocketAddr::from(([127, 0, 0, 1], port))));
    process.stop.within = LONG;
    let mut recipe = bench.recipe(vec![process]);
    recipe.ports = vec![port];
    let system = started(recipe.clone());
    wait_until("only the shell's sleep and the server are left", || bench.left().len() == 2);
    let stopped = system.stop();
    assert_eq!(stopped.failures, [], "TERM was enough, though only after the main process had ended");
    bench.assert_clean();
    // The port is free again, so the system can start again at once.
    assert_eq!(started(recipe).stop().failures, []);
    bench.assert_clean();
}

#[test]
fn daemonized_process_that_ignores_signals_is_killed() {
    let bench = Bench::new();
    let mut process = script(
        &bench,
        "setsid -f sh -c 'trap \"\" TERM INT HUP; echo ready; while :; do sleep 1; done'; exec sleep 60",
    );
    process.stop.within = std::time::Duration::from_millis(600);
    let stopped = stopped(&bench, bench.recipe(vec![process]));
    assert_eq!(stopped.failures.len(), 1, "{stopped:?}");
    let what = &stopped.failures[0].what;
    assert!(
        what.starts_with("left ") && what.ends_with("behind that had to be killed after 600 ms"),
        "{what}"
    );
}

#[test]
fn daemon_counts_as_running_and_stops_by_signal() {
    let bench = Bench::new();
    let daemon = "trap 'echo bye; exit' TERM; echo ready; while :; do sleep 0.02; done";
    let process = script(&bench, &format!("setsid -f sh -c \"{daemon}\""));
    let mut system = started(bench.recipe(vec![process]));
    wait_until("only the daemon is left", || bench.left().iter().all(|left| left.contains("trap")));
    assert_eq!(system.died(), None);
    let stopped = system.stop();
    assert_eq!(stopped.failures, []);
    assert!(text(&stopped.outputs, "p").ends_with("bye\n"));
    bench.assert_clean();
}

#[test]
fn stop_command_runs_instead_of_the_signal() {
    let bench = Bench::new();
    let mut process =
        script(&bench, "trap '' TERM; echo ready; until test -f enough; do sleep 0.02; done; echo over");
    process.stop.command = Some(bench.sh("echo stopping; touch enough"));
    let stopped = stopped(&bench, bench.recipe(vec![process]));
    assert_eq!(stopped.failures, []);
    assert_eq!(text(&stopped.outputs, "p"), "ready\nover\n");
    assert_eq!(text(&stopped.outputs, "touch"), "stopping\n");
}

#[test]
fn failing_or_useless_stop_command_is_reported_and_the_system_is_stopped() {
    let bench = Bench::new();
    let mut process = script(&bench, "echo ready; exec sleep 60");
    process.stop.command = Some(bench.sh("exit 2"));
    let by_signal = stopped(&bench, bench.recipe(vec![process.clone()]));
    assert_eq!(
        failures_of(&by_signal),
        ["the command `sh -c exit 2` exited with code 2, so it was stopped by TERM"]
    );
    process.stop.command = Some(bench.sh("true"));
    process.stop.within = SHORT;
    let killed = stopped(&bench, bench.recipe(vec![process]));
    assert_eq!(failures_of(&killed), ["ignored its stop command for 300 ms and was killed (1 process)"]);
}

#[test]
fn failing_command_after_is_reported_and_others_run() {
    let bench = Bench::new();
    let mut recipe = bench.recipe(vec![bench.script("p", "exec sleep 60")]);
    recipe.after = vec![bench.sh("echo oh; exit 1"), bench.sh("touch over")];
    let stopped = stopped(&bench, recipe);
    assert_eq!(failures_of(&stopped), ["the command `sh -c echo oh; exit 1` exited with code 1"]);
    assert_eq!(stopped.failures[0].stage, Stage::After);
    assert_eq!(text(&stopped.outputs, "oh"), "oh\n");
    assert!(bench.path("over").exists());
}

#[test]
fn growing_process_tree_is_killed_completely() {
    let bench = Bench::new();
    // Each generation lives briefly, and starts the next one in a new session.
    let tree = "trap '' TERM; echo ready; setsid -f sh \"$0\"; sleep 0.05";
    std::fs::write(bench.path("tree.sh"), tree).expect("a script");
    let file = bench.path("tree.sh").display().to_string();
    let command = bench.command(&["sh", &file]);
    let mut process = bench.process("p", command, When::Log("ready".to_owned()));
    process.stop.within = SHORT;
    let stopped = stopped(&bench, bench.recipe(vec![process]));
    assert_eq!(stopped.failures.len(), 1, "{stopped:?}");
}

#[test]
fn stop_by_kill_is_not_a_failure() {
    let bench = Bench::new();
    let mut process = script(&bench, "trap '' TERM; echo ready; while :; do sleep 1; done");
    process.stop.signal = Signal::KILL;
    assert_eq!(stopped(&bench, bench.recipe(vec![process])).failures, []);
}
