//! Runs the built-in target in a separate process.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use harness::child::Child;
use harness::figures;
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::Bench;

/// Time limit for a target to listen, to receive load, and to answer.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A listening target, stopped when dropped.
pub(crate) struct Server {
    child: Child,
    /// Base URL with scheme and port, without a path.
    pub(crate) url: String,
}

impl Server {
    /// Starts a target with these flags.
    pub(crate) fn start(bench: &Bench, flags: &[&str]) -> Result<Self, String> {
        let mut command = Command::new(&bench.target);
        Self::start_as(bench, command.args(["target", "--listen", "127.0.0.1:0"]).args(flags))
    }

    /// Starts a target with these flags, pinned to one core with `taskset`.
    pub(crate) fn start_on(
        bench: &Bench,
        flags: &[&str],
        taskset: &Path,
        core: usize,
    ) -> Result<Self, String> {
        let mut command = Command::new(taskset);
        command.args(["-c", &core.to_string()]).arg(&bench.target);
        Self::start_as(bench, command.args(["target", "--listen", "127.0.0.1:0"]).args(flags))
    }

    /// Starts a target with `command`, and waits until it prints its URL.
    pub(crate) fn start_as(bench: &Bench, command: &mut Command) -> Result<Self, String> {
        let path = bench.file("log");
        let log =
            File::create(&path).map_err(|error| format!("no file for what the target says: {error}"))?;
        let mut child = Child::start(command.stdout(log))?;
        let deadline = Instant::now() + TIMEOUT;
        while Instant::now() < deadline {
            let said = fs::read_to_string(&path).unwrap_or_default();
            if let Some(url) = said.split_whitespace().find(|word| word.starts_with("http://")) {
                return Ok(Self { child, url: url.trim_end_matches('/').to_owned() });
            }
            if let Some(status) = child.ended()? {
                return Err(format!("the target ended at once: {status}"));
            }
            thread::sleep(Duration::from_millis(5));
        }
        Err(format!("the target did not listen within {} s", TIMEOUT.as_secs()))
    }

    /// Waits until a load has begun, that is, until the target counts more requests than readiness checks send.
    pub(crate) fn wait_for_load(&self) {
        let deadline = Instant::now() + TIMEOUT;
        while Instant::now() < deadline && self.requests().is_none_or(|requests| requests < 5) {
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn requests(&self) -> Option<u64> {
        let mut socket = TcpStream::connect(self.url.strip_prefix("http://")?).ok()?;
        socket.set_read_timeout(Some(TIMEOUT)).ok()?;
        socket.write_all(b"GET /counters HTTP/1.0\r\n\r\n").ok()?;
        let mut reply = String::new();
        socket.read_to_string(&mut reply).ok()?;
        figures::json(&reply).ok()?["requests"].as_u64()
    }

    /// Kills the target with SIGKILL, without a graceful close of its connections.
    pub(crate) fn kill(&self) {
        if let Some(pid) = self.child.pid() {
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// Stops the target for a while, as on a machine that swaps. Does nothing if the target has ended.
    pub(crate) fn hold(&self, lasting: Duration) {
        if let Some(pid) = self.child.pid() {
            hold(pid, lasting);
        }
    }
}

/// Stops a process with SIGSTOP, and resumes it after a while.
pub(crate) fn hold(pid: Pid, lasting: Duration) {
    let _ = kill_process(pid, Signal::STOP);
    thread::sleep(lasting);
    let _ = kill_process(pid, Signal::CONT);
}
