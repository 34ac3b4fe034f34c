//! Runs the program from outside, with a separate store and a time limit.
#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod moments;
pub(crate) mod own_process;
pub(crate) mod systems;

use std::ffi::OsStr;
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use target::scripted::{self, Script, Scripted, Step};

/// Max time of a program. Longer than any test needs, and short enough to end one that hangs.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// The program under test.
pub(crate) const TENBIN: &str = env!("CARGO_BIN_EXE_tenbin");

/// A temporary folder, and the path of a store in it that does not exist yet.
pub(crate) struct Home {
    folder: tempfile::TempDir,
}

/// Output and exit code of a finished program.
#[derive(Debug)]
pub(crate) struct Output {
    /// Exit code. `None` if a signal ended the program.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

/// A running program. Dropping it kills it.
pub(crate) struct Started {
    child: Child,
    begun: Instant,
    pipes: [Option<JoinHandle<String>>; 2],
}

impl Home {
    pub(crate) fn new() -> Self {
        harness::quiet::raise_priority();
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.path().join("runs.sqlite")
    }

    /// Command with these arguments and the store of this home. It inherits nothing that a user may have set.
    pub(crate) fn command<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Command {
        let mut command = Command::new(TENBIN);
        command.args(arguments).arg("--store").arg(self.store());
        self.isolate(&mut command);
        command
    }

    pub(crate) fn isolate(&self, command: &mut Command) {
        command.current_dir(self.path()).env("HOME", self.path()).stdin(Stdio::null());
        command.env_remove("XDG_DATA_HOME").env_remove("NO_COLOR");
        for name in [
            "PGHOST",
            "PGPORT",
            "PGUSER",
            "PGPASSWORD",
            "PGDATABASE",
            "PGSSLMODE",
            "PGPASSFILE",
            "PGREQUIREAUTH",
            "MYSQL_PWD",
            "GITHUB_STEP_SUMMARY",
            "GITHUB_HEAD_REF",
            "GITHUB_REF_NAME",
            "CI_COMMIT_REF_NAME",
        ] {
            command.env_remove(name);
        }
    }

    pub(crate) fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Output {
        self.start(arguments).finish()
    }

    pub(crate) fn start<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Started {
        Started::spawn(self.command(arguments))
    }

    /// JSON that the program prints with `--format json`, for a load that was not cut off.
    ///
    /// Its verdict is complete, or degraded: a target rejects everything, or has no core for a quarter of a second.
    #[track_caller]
    pub(crate) fn json<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Value {
        let mut arguments: Vec<&OsStr> = arguments.iter().map(AsRef::as_ref).collect();
        arguments.extend(["--format", "json"].map(OsStr::new));
        let output = self.run(&arguments);
        assert!([Some(0), Some(6)].contains(&output.code), "{output:?}");
        output.json()
    }

    /// JSON of the newest run in the store.
    #[track_caller]
    pub(crate) fn last(&self) -> Value {
        self.json(&["report", "last"])
    }

    /// Entries of `tenbin history`, newest first. Empty without a store.
    #[track_caller]
    pub(crate) fn history(&self) -> Vec<Value> {
        if !self.store().exists() {
            return Vec::new();
        }
        let list = self.json(&["history"]);
        list.as_array().expect("a list").clone()
    }
}

impl Started {
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
        let pipes = [child.stdout.take().map(collect), child.stderr.take().map(collect)];
        Self { child, begun: Instant::now(), pipes }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        // The program may have ended already, and then there is nothing to signal.
        let _ = kill_process(pid, signal);
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a state").is_none()
    }

    /// Waits up to [`TIMEOUT`] until the program ends.
    #[track_caller]
    pub(crate) fn finish(self) -> Output {
        self.finish_within(TIMEOUT)
    }

    /// Waits up to `limit` until the program ends.
    #[track_caller]
    pub(crate) fn finish_within(mut self, limit: Duration) -> Output {
        let deadline = Instant::now() + limit;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a state") {
                break status;
            }
            assert!(Instant::now() < deadline, "the program did not end");
            thread::sleep(Duration::from_millis(2));
        };
        let took = self.begun.elapsed();
        let [stdout, stderr] =
            self.pipes.each_mut().map(|pipe| pipe.take().expect("once").join().expect("read"));
        Output { code: status.code(), stdout, stderr, took }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // The program has ended, or the test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Output {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }
}

fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("read to the end");
        String::from_utf8(bytes).expect("UTF-8")
    })
}

/// URL of a path on a server.
pub(crate) fn url(address: SocketAddr, path: &str) -> String {
    format!("http://{address}{path}")
}

/// Starts a server that follows one script on every connection.
pub(crate) fn server(steps: Vec<Step>) -> Scripted {
    let script = Script(steps);
    scripted::start(move |_| script.clone()).expect("a scripted server")
}

/// Starts a server that answers every request with these bytes.
pub(crate) fn answering(bytes: impl AsRef<[u8]>) -> Scripted {
    let bytes = bytes.as_ref().to_vec();
    server(vec![Step::Loop(Box::new(Script(vec![Step::ReadRequest, Step::Send(bytes)])))])
}

/// Starts a built-in target with its defaults.
pub(crate) fn built_in() -> target::Running {
    target::start(target::Settings::default()).expect("a target")
}

/// Waits until a condition is true. Panics after [`TIMEOUT`].
#[track_caller]
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !condition() {
        assert!(Instant::now() < deadline, "never: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Number at a path such as `offered.sent`.
#[track_caller]
pub(crate) fn number(run: &Value, path: &str) -> u64 {
    let found = path.split('.').fold(run, |value, key| &value[key]);
    found.as_u64().unwrap_or_else(|| panic!("{path} is {found}"))
}

/// Asserts the accounting identity: planned = sent + not sent, and sent = sum of the outcomes.
#[track_caller]
pub(crate) fn assert_identity(run: &Value) {
    let at = |path: &str| number(run, path);
    assert_eq!(at("offered.planned"), at("offered.sent") + at("offered.not_sent"), "{run}");
    let ended = ["ok", "rejected", "failed", "timed_out", "unfinished"]
        .map(|outcome| at(&format!("outcomes.{outcome}")));
    assert_eq!(at("offered.sent"), ended.iter().sum::<u64>(), "{run}");
}

/// Codes of the causes that make a run invalid or suspect.
pub(crate) fn causes(run: &Value) -> Vec<&str> {
    let causes = run["validity"]["causes"].as_array().expect("a list");
    causes.iter().map(|cause| cause["code"].as_str().expect("a word")).collect()
}

/// Asserts that the figures of a load count, or that only other programs on the generator's cores make it invalid.
///
/// Loads below 2 s are never called starved.
#[track_caller]
pub(crate) fn assert_counts_or_starved(output: &Output, run: &Value) {
    const STARVED: [&str; 7] = [
        "wake_lag",
        "generator_lag",
        "generator_stalled",
        "throttled",
        "steal",
        "generator_waited",
        "generator_cpu",
    ];
    let causes = causes(run);
    let is_starved = !causes.is_empty() && causes.iter().all(|code| STARVED.contains(code));
    let (code, verdict) =
        if is_starved && run["verdict"] == "invalid" { (4, "invalid") } else { (0, "complete") };
    assert_eq!((output.code, &run["verdict"]), (Some(code), &verdict.into()), "{output:?}");
}

/// Number of errors of a class.
pub(crate) fn errors(run: &Value, class: &str) -> u64 {
    let list = run["errors"].as_array().expect("a list");
    list.iter().filter(|error| error["class"] == class).map(|error| number(error, "count")).sum()
}
