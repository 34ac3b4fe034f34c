//! Recipes for small systems, and checks that nothing is left of them.
#![allow(dead_code, reason = "no test file needs all of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lab::limits::Limits;
use lab::{Command, Process, Ready, Recipe, Signal, StopHow, When};

pub(crate) const KEEPER: &str = env!("CARGO_BIN_EXE_lab-keeper");
pub(crate) const SUBJECT: &str = env!("CARGO_BIN_EXE_lab-subject");
/// Long enough for a busy machine. Successful tests do not wait for it.
pub(crate) const LONG: Duration = Duration::from_secs(20);
pub(crate) const SHORT: Duration = Duration::from_millis(300);

/// Folder for the systems of one test, and a mark of their processes that is independent of the lab's own.
pub(crate) struct Bench {
    pub(crate) place: tempfile::TempDir,
    mark: String,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let place = tempfile::tempdir().expect("a folder");
        Bench { place, mark: format!("{}-{number}", std::process::id()) }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    pub(crate) fn command(&self, argv: &[&str]) -> Command {
        let argv = argv.iter().map(|word| (*word).to_owned()).collect();
        let env = vec![("LAB_TEST".to_owned(), self.mark.clone())];
        Command { argv, env, dir: self.place.path().to_owned(), within: LONG }
    }

    pub(crate) fn sh(&self, script: &str) -> Command {
        self.command(&["sh", "-c", script])
    }

    pub(crate) fn process(&self, name: &str, command: Command, when: When) -> Process {
        let ready = Ready { when, within: LONG };
        let stop = StopHow { signal: Signal::TERM, command: None, within: LONG };
        Process { name: name.to_owned(), command, ready, stop, is_aside: false, is_started_by_event: false }
    }

    /// Returns a process that runs a shell script, and is ready at once.
    pub(crate) fn script(&self, name: &str, script: &str) -> Process {
        self.process(name, self.sh(script), When::Now)
    }

    pub(crate) fn recipe(&self, processes: Vec<Process>) -> Recipe {
        Recipe {
            name: "sample".to_owned(),
            dir: self.path("run"),
            files: Vec::new(),
            contents: None,
            copy_to: None,
            before: Vec::new(),
            after: Vec::new(),
            processes,
            ports: Vec::new(),
            cores: Vec::new(),
            limits: Limits::default(),
            limits_to_come: Vec::new(),
            network: None,
            disk_bytes: None,
            steady_within: None,
            keeper: vec![KEEPER.into()],
        }
    }

    /// Processes of this test that exist now.
    pub(crate) fn left(&self) -> Vec<String> {
        marked(&self.mark)
    }

    /// Asserts that no process runs and that the folder is removed.
    pub(crate) fn assert_clean(&self) {
        assert_eq!(self.left(), Vec::<String>::new(), "processes are left");
        assert!(!self.path("run").exists(), "the folder is left");
    }

    /// Content of a file that a script wrote in this folder.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }
}

/// `/proc` path and command line of all processes with this mark in their environment.
pub(crate) fn marked(mark: &str) -> Vec<String> {
    let wanted = format!("LAB_TEST={mark}");
    let entries = fs::read_dir("/proc").expect("/proc");
    let pids = entries.flatten().map(|entry| entry.path());
    let has_mark = |path: &Path| {
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    let shown = |path: PathBuf| {
        let words = fs::read(path.join("cmdline")).unwrap_or_default();
        format!("{} {}", path.display(), String::from_utf8_lossy(&words).replace('\0', " "))
    };
    pids.filter(|path| has_mark(path)).map(shown).collect()
}

/// Waits until `is_so` returns true. Fails the test after a timeout.
pub(crate) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < until, "it never came: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Output of a process.
pub(crate) fn text<'a>(outputs: &'a [lab::Output], process: &str) -> std::borrow::Cow<'a, str> {
    let output = outputs.iter().find(|output| output.process.contains(process));
    String::from_utf8_lossy(&output.unwrap_or_else(|| panic!("no output of {process}: {outputs:?}")).text)
}
