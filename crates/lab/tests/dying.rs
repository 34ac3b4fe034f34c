//! Tests that a process that ends during a run is reported with its exit status and output.

use std::cell::RefCell;

use crate::support::{self, Bench, text, wait_until};
use lab::{Failure, Recipe, Stage, System, When};
use rustix::process::{Pid, Signal, kill_process};

fn started(recipe: Recipe) -> System {
    lab::start(recipe, &|| false).unwrap_or_else(|failure| panic!("{failure}\n{:?}", failure.outputs))
}

fn death(system: &mut System) -> Failure {
    let (system, found) = (RefCell::new(system), RefCell::new(None));
    wait_until("a death", || {
        *found.borrow_mut() = system.borrow_mut().died();
        found.borrow().is_some()
    });
    found.into_inner().expect("a death")
}

#[test]
fn dead_process_is_reported_once_with_its_output() {
    let bench = Bench::new();
    for (script, said) in [
        ("exit 3", "exited with code 3"),
        ("kill -ABRT $$", "was ended by ABRT"),
        ("exit 0", "exited with code 0"),
    ] {
        let lives = bench.script("lives", "exec sleep 60");
        let script = format!("echo ready; until test -f now; do sleep 0.02; done; echo panic; {script}");
        let dies = bench.process("dies", bench.sh(&script), When::Log("ready".to_owned()));
        let mut system = started(bench.recipe(vec![lives, dies]));
        assert_eq!(system.died(), None);
        std::fs::write(bench.path("now"), "").expect("a file");
        let failure = death(&mut system);
        assert_eq!((failure.stage, failure.process.as_deref()), (Stage::Died, Some("dies")));
        assert_eq!(failure.what, format!("{said} while it should run"));
        assert_eq!(text(&failure.outputs, "dies"), "ready\npanic\n");
        assert_eq!(system.died(), None, "it was told already");
        assert_eq!(system.stop().failures, []);
        bench.assert_clean();
        std::fs::remove_file(bench.path("now")).expect("removed");
    }
}

#[test]
fn unreported_death_is_reported_by_the_stop() {
    let bench = Bench::new();
    let script = "until test -f now; do sleep 0.02; done; exit 3";
    let system = started(bench.recipe(vec![bench.script("dies", script)]));
    std::fs::write(bench.path("now"), "").expect("a file");
    wait_until("it is gone", || bench.left().is_empty());
    // The keeper must notice the end too.
    std::thread::sleep(support::SHORT);
    let stopped = system.stop();
    assert_eq!(stopped.failures.len(), 1, "{stopped:?}");
    assert_eq!(
        (stopped.failures[0].stage, stopped.failures[0].what.as_str()),
        (Stage::Died, "exited with code 3 while it should run")
    );
    bench.assert_clean();
}

#[test]
fn dead_main_process_is_reported_although_its_workers_live() {
    let bench = Bench::new();
    let process = bench.process(
        "master",
        bench.sh("sleep 60 & echo ready; kill -KILL $$"),
        When::Log("ready".to_owned()),
    );
    // The process may die before its readiness is noticed.
    match lab::start(bench.recipe(vec![process]), &|| false) {
        Ok(mut system) => {
            assert!(death(&mut system).what.starts_with("was ended by KILL"));
            assert_eq!(system.stop().failures, []);
        }
        Err(failure) => assert!(failure.what.starts_with("was ended by KILL"), "{failure}"),
    }
    bench.assert_clean();
}

#[test]
fn killed_keeper_is_reported_and_its_processes_are_ended() {
    let bench = Bench::new();
    // The second process hides its environment, as servers that change their title do. It is found by its process group.
    let script = "setsid -f sleep 60; env -i sleep 61 & echo ready; exec sleep 62";
    let process = bench.process("p", bench.sh(script), When::Log("ready".to_owned()));
    let mut system = started(bench.recipe(vec![process]));
    let keeper = system.roots()[0].keeper_pid;
    let pid = Pid::from_raw(keeper.cast_signed()).expect("a pid");
    kill_process(pid, Signal::KILL).expect("killed");
    let failure = death(&mut system);
    assert_eq!(
        (failure.stage, failure.what.as_str()),
        (Stage::Died, "its keeper was killed while it should run")
    );
    wait_until("they can be seen", || !bench.left().is_empty());
    let stopped = system.stop();
    assert_eq!(stopped.failures.len(), 1, "{stopped:?}");
    assert!(stopped.failures[0].what.contains("lost their keeper and were ended"), "{stopped:?}");
    assert!(stopped.failures[0].what.contains("sleep 61"), "{stopped:?}");
    bench.assert_clean();
}

#[test]
fn keeper_ignores_signals_of_a_terminal() {
    let bench = Bench::new();
    let mut system = started(bench.recipe(vec![bench.script("p", "exec sleep 60")]));
    let pid = Pid::from_raw(system.roots()[0].keeper_pid.cast_signed()).expect("a pid");
    for signal in [Signal::INT, Signal::HUP, Signal::TERM] {
        kill_process(pid, signal).expect("sent");
    }
    std::thread::sleep(support::SHORT);
    assert_eq!(system.died(), None);
    assert_eq!(system.stop().failures, []);
    bench.assert_clean();
}
