//! Tests that a failed start reports the stage, the reason, and the remedy, and leaves nothing behind.

use std::cell::Cell;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use crate::support::{Bench, SHORT, SUBJECT, text};
use lab::{Failure, Recipe, Stage, When, ports};

fn start_failure(bench: &Bench, recipe: Recipe) -> Failure {
    let failure = lab::start(recipe, &|| false).expect_err("it cannot start");
    bench.assert_clean();
    assert!(!failure.way_out.is_empty(), "{failure}");
    failure
}

#[test]
fn process_that_never_becomes_ready_times_out() {
    let bench = Bench::new();
    let port = ports::find_free(1).expect("a port")[0];
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let command = bench.sh("echo thinking; exec sleep 60");
    let mut process = bench.process("puma", command, When::Get { address, path: "/a".to_owned() });
    process.ready.within = SHORT;
    let failure = start_failure(&bench, bench.recipe(vec![process]));
    assert_eq!((failure.stage, failure.process.as_deref()), (Stage::Ready, Some("puma")));
    assert_eq!(failure.what, format!("not ready after 300 ms (GET http://{address}/a was refused)"));
    assert!(failure.way_out.contains("give it longer with ready: { within: 60s }"), "{failure}");
    assert_eq!(text(&failure.outputs, "puma"), "thinking\n");
}

#[test]
fn each_readiness_check_reports_its_last_error() {
    let bench = Bench::new();
    let port = ports::find_free(1).expect("a port")[0];
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let serve = bench.command(&[SUBJECT, "http", &port.to_string()]);
    let sleep = bench.sh("exec sleep 60");
    let cases = [
        (serve, When::Get { address, path: "/no".to_owned() }, "was answered with 503"),
        (sleep.clone(), When::Tcp(address), "was refused"),
        (sleep.clone(), When::Unix(bench.path("no.sock")), "no.sock is not there"),
        (sleep.clone(), When::Log("here".to_owned()), "its output does not hold \"here\""),
        (sleep.clone(), When::Command(bench.sh("exit 3")), "the command `sh -c exit 3` exited with code 3"),
        (
            sleep,
            When::Command(bench.sh("exec sleep 60")),
            "the command `sh -c exec sleep 60` did not end within",
        ),
    ];
    for (command, when, said) in cases {
        let mut process = bench.process("p", command, when);
        process.ready.within = Duration::from_millis(500);
        let failure = start_failure(&bench, bench.recipe(vec![process]));
        assert!(failure.what.contains(said), "{failure}: {said}");
    }
}

#[test]
fn early_exit_is_reported_at_once_with_output() {
    let bench = Bench::new();
    let port = ports::find_free(1).expect("a port")[0];
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let cases = [
        ("echo cannot bind >&2; exit 7", "exited with code 7 before it was ready"),
        ("echo cannot bind; kill -SEGV $$", "was ended by SEGV before it was ready"),
        ("echo cannot bind", "exited with code 0 before it was ready"),
    ];
    for (script, said) in cases {
        // The timeout of the process is far beyond that of any test.
        let mut process = bench.process("p", bench.sh(script), When::Tcp(address));
        process.ready.within = Duration::from_secs(3600);
        let failure = start_failure(&bench, bench.recipe(vec![process]));
        assert_eq!((failure.stage, failure.what.as_str()), (Stage::Ready, said));
        assert_eq!(text(&failure.outputs, "p"), "cannot bind\n");
    }
}

#[test]
fn command_that_cannot_be_started_is_named() {
    let bench = Bench::new();
    let mut elsewhere = bench.sh("true");
    elsewhere.dir = bench.path("nowhere");
    let mut strange = bench.sh("true");
    strange.dir = bench.place.path().join(std::ffi::OsStr::from_bytes(b"\xff"));
    let folder = bench.place.path().to_str().expect("a path").to_owned();
    let cases = [
        (bench.command(&["pumma", "-w", "2"]), "`pumma -w 2` could not be started: \"pumma\" was not found"),
        (bench.command(&[&folder]), "may not be executed"),
        (bench.command(&[]), "its command line is empty"),
        (bench.command(&["sh", "a\0b"]), "could not be started"),
        (elsewhere, "nowhere is no folder"),
        (strange, "is not written in UTF-8"),
    ];
    for (command, said) in cases {
        let failure = start_failure(&bench, bench.recipe(vec![bench.process("p", command, When::Now)]));
        assert_eq!((failure.stage, failure.process.as_deref()), (Stage::Start, Some("p")));
        assert!(failure.what.contains(said), "{failure}: {said}");
    }
}

#[test]
fn missing_keeper_or_core_is_named() {
    let bench = Bench::new();
    let mut recipe = bench.recipe(vec![bench.script("p", "exec sleep 60")]);
    recipe.keeper = vec![bench.path("keeper").into()];
    assert!(start_failure(&bench, recipe).what.contains("its keeper could not be started"));
    let mut recipe = bench.recipe(vec![bench.script("p", "exec sleep 60")]);
    recipe.keeper = vec!["true".into()];
    assert!(start_failure(&bench, recipe).what.contains("its keeper true did not answer"));
    let mut recipe = bench.recipe(vec![bench.script("p", "exec sleep 60")]);
    recipe.cores = vec![1_000_000];
    assert!(start_failure(&bench, recipe).what.contains("core 1000000 is not there"));
    let mut recipe = bench.recipe(vec![bench.script("p", "exec sleep 60")]);
    recipe.cores = vec![1000];
    assert!(start_failure(&bench, recipe).what.contains("none of the cores [1000] may be used"));
}

#[test]
fn used_port_names_its_holder_and_nothing_is_started() {
    let bench = Bench::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    let mut recipe = bench.recipe(vec![bench.script("p", "touch started; exec sleep 60")]);
    recipe.before = vec![bench.sh("touch started")];
    recipe.after = vec![bench.sh("touch started")];
    recipe.ports = vec![port];
    let failure = start_failure(&bench, recipe);
    assert_eq!(failure.stage, Stage::Port);
    let said = format!("port {port} on 127.0.0.1 is taken by pid {} (", std::process::id());
    assert!(failure.what.starts_with(&said), "{failure}");
    assert!(!bench.path("started").exists());
}

#[test]
fn rejects_file_outside_the_folder() {
    let bench = Bench::new();
    for path in ["../escaped", "/tmp/escaped-from-the-lab", "a/../../escaped"] {
        let mut recipe = bench.recipe(vec![bench.script("p", "exec sleep 60")]);
        recipe.files = vec![(PathBuf::from(path), b"x".to_vec())];
        let failure = start_failure(&bench, recipe);
        assert_eq!(failure.stage, Stage::Files);
        assert!(failure.what.contains(path) && failure.what.contains("outside"), "{failure}");
    }
    assert!(!bench.path("escaped").exists());
}

#[test]
fn failing_command_before_ends_the_start_and_commands_after_run() {
    let bench = Bench::new();
    let mut recipe = bench.recipe(vec![bench.script("p", "touch started; exec sleep 60")]);
    recipe.before = vec![bench.sh("echo fine"), bench.sh("echo no room; exit 4"), bench.sh("touch started")];
    recipe.after = vec![bench.sh("touch over")];
    let failure = start_failure(&bench, recipe);
    assert_eq!((failure.stage, failure.process.as_deref()), (Stage::Before, None));
    assert_eq!(failure.what, "the command `sh -c echo no room; exit 4` exited with code 4");
    assert_eq!(text(&failure.outputs, "exit 4"), "no room\n");
    assert_eq!(text(&failure.outputs, "fine"), "fine\n");
    assert!(bench.path("over").exists() && !bench.path("started").exists());
}

#[test]
fn command_before_is_ended_after_its_timeout() {
    let bench = Bench::new();
    let mut recipe = bench.recipe(vec![bench.script("p", "exec sleep 60")]);
    let mut hangs = bench.sh("echo waiting; setsid sleep 60 & sleep 61");
    hangs.within = SHORT;
    recipe.before = vec![hangs];
    let failure = start_failure(&bench, recipe);
    assert_eq!(failure.stage, Stage::Before);
    assert!(failure.what.ends_with("did not end within 300 ms"), "{failure}");
    assert_eq!(text(&failure.outputs, "waiting"), "waiting\n");
}

#[test]
fn processes_before_the_failed_one_are_stopped() {
    let bench = Bench::new();
    let first = bench.script("first", "trap 'echo bye; exit' TERM; while :; do sleep 0.02; done");
    let second = bench.process("second", bench.sh("sleep 0.1; exit 1"), When::Log("never".to_owned()));
    let third = bench.script("third", "touch started");
    let failure = start_failure(&bench, bench.recipe(vec![first, second, third]));
    assert_eq!((failure.stage, failure.process.as_deref()), (Stage::Ready, Some("second")));
    assert!(text(&failure.outputs, "first").ends_with("bye\n"));
    assert!(!bench.path("started").exists());
}

#[test]
fn death_during_the_wait_for_another_process_names_the_dead_one() {
    let bench = Bench::new();
    let first = bench.script("first", "sleep 0.1; echo out of luck; exit 5");
    let second = bench.process("second", bench.sh("exec sleep 60"), When::Log("never".to_owned()));
    let failure = start_failure(&bench, bench.recipe(vec![first, second]));
    assert_eq!((failure.stage, failure.process.as_deref()), (Stage::Died, Some("first")));
    assert_eq!(failure.what, "exited with code 5 while it should run");
    assert_eq!(text(&failure.outputs, "first"), "out of luck\n");
}

#[test]
fn start_can_be_canceled_at_any_time() {
    let bench = Bench::new();
    for questions in [0, 1, 3, 6, 12] {
        let process = || bench.process("p", bench.sh("exec sleep 60"), When::Log("never".to_owned()));
        let mut recipe = bench.recipe(vec![process()]);
        recipe.before = vec![bench.sh("sleep 0.1")];
        let asked = Cell::new(0);
        let cancel = || {
            asked.set(asked.get() + 1);
            asked.get() > questions
        };
        let failure = lab::start(recipe, &cancel).expect_err("it was given up");
        assert!(matches!(failure.stage, Stage::Before | Stage::Start | Stage::Ready), "{failure}");
        let is_said = failure.what.contains("given up") || failure.what.contains("canceled");
        assert!(is_said, "{failure}");
        bench.assert_clean();
    }
}
