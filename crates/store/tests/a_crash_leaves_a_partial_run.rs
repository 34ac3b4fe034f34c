//! A process that dies during a run loses no stored data.

use crate::sample;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use evidence::{RunId, RunState};
use record::Phase;
use store::Store;

const STORE: &str = "TENBIN_TEST_STORE";
const ENDING: &str = "TENBIN_TEST_ENDING";

/// Runs as the child process of other tests here. Does nothing if it runs as a normal test.
#[test]
fn child() {
    let Some(path) = std::env::var_os(STORE) else { return };
    let store = Store::open(Path::new(&path)).unwrap();
    let id = store.begin(&sample::new_run()).unwrap();
    for second in 0..5 {
        let mut part = sample::interval(second, Phase::Measured, second);
        part.tally.note_sent(second);
        store.keep_second(&id, 0, &[part]).unwrap();
    }
    writeln!(std::io::stderr(), "\nrun {id}").unwrap();
    match std::env::var(ENDING).as_deref() {
        Ok("abort") => std::process::abort(),
        // Waits until the parent kills it, or dies and thereby closes the pipe.
        _ => drop(std::io::stdin().read_line(&mut String::new())),
    }
}

fn start_child(store: &Path, ending: &str) -> (Child, RunId) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_crash_leaves_a_partial_run::child", "--nocapture"])
        .env(STORE, store)
        .env(ENDING, ending)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let id = lines.find_map(|line| line.unwrap().strip_prefix("run ")?.parse().ok());
    (child, id.expect("the child names its run"))
}

fn assert_partial(store: &Store, id: &RunId) {
    let run = store.load(id).unwrap();
    assert_eq!((run.state, run.ending.as_ref()), (RunState::Partial, None));
    assert_eq!(run.seconds().count(), 5);
    let counts = run.total(0, Phase::Measured).unwrap().counts;
    assert_eq!((counts.sent, counts.unfinished), (5 * 51, 5 * 10 + 5));
    assert_eq!(store.runs(1).unwrap()[0].state, RunState::Partial);
}

#[test]
fn every_stored_second_survives_an_abort() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let (mut child, id) = start_child(&path, "abort");
    assert!(!child.wait().unwrap().success());
    assert_partial(&Store::open_existing(&path).unwrap(), &id);
}

#[test]
fn run_is_running_until_its_process_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let (mut child, id) = start_child(&path, "wait");
    let store = Store::open_existing(&path).unwrap();
    let state = store.load(&id).unwrap().state;
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(state, RunState::Running);
    assert_partial(&store, &id);
}
