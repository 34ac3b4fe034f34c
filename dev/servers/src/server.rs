//! Process of a server, from start to exit.

use std::fs::{self, OpenOptions};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::keeper;
use crate::missing::Missing;

/// Interval between checks while waiting.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Maximum number of checks while waiting: 30 s in total.
const POLLS_MAX: u32 = 3000;

/// A running server. Dropping it kills the server.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
}

impl Server {
    /// Starts a server whose output is appended to the file `log`. Waits until `is_ready` returns true for the process ID and for
    /// the log since the start.
    pub(crate) fn start(
        mut command: Command,
        log: &Path,
        is_ready: impl Fn(u32, &str) -> bool,
    ) -> Result<Self, Missing> {
        let what = format!("start {:?}", command.get_program());
        let own_from = fs::metadata(log).map_or(0, |metadata| metadata.len());
        let file = OpenOptions::new().create(true).append(true).open(log);
        let file = file.map_err(|error| Missing::file(log, error))?;
        let copy = file.try_clone().map_err(|error| Missing::file(log, error))?;
        command.stdout(file).stderr(copy).current_dir("/");
        let child = keeper::spawn(command).map_err(|error| Missing::failed(&what, error))?;
        let mut server = Self { child };
        for _ in 0..POLLS_MAX {
            let own = text_from(log, own_from);
            if is_ready(server.child.id(), &own) {
                return Ok(server);
            }
            if let Ok(Some(status)) = server.child.try_wait() {
                return Err(Missing::failed(what, format!("it ended with {status} and said:\n{own}")));
            }
            thread::sleep(POLL_INTERVAL);
        }
        let own = text_from(log, own_from);
        Err(Missing::failed(what, format!("it was not ready in time and said:\n{own}")))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal, and waits until the process exits. Kills the process if it does not exit in time.
    pub(crate) fn end(&mut self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
            && matches!(self.child.try_wait(), Ok(None))
        {
            // The process may already have exited.
            let _ = kill_process(pid, signal);
            for _ in 0..POLLS_MAX {
                if !matches!(self.child.try_wait(), Ok(None)) {
                    return;
                }
                thread::sleep(POLL_INTERVAL);
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a port that is currently free. Another process may take it at any time.
pub(crate) fn free_port() -> Result<u16, Missing> {
    let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    Ok(listener.map_err(|error| Missing::failed("find a free port on 127.0.0.1", error))?.port())
}

/// Calls `start` with a free port. Retries with another port if another process has taken it meanwhile.
pub(crate) fn retry_with_free_port<T>(start: impl Fn(u16) -> Result<T, Missing>) -> Result<T, Missing> {
    let mut tries = 0;
    loop {
        tries += 1;
        match start(free_port()?) {
            Err(Missing::Failed { reason, .. }) if tries < 5 && reason.contains("Address already in use") => {
            }
            ended => return ended,
        }
    }
}

/// Returns the content of a file from an offset on.
fn text_from(path: &Path, from: u64) -> String {
    let bytes = fs::read(path).unwrap_or_default();
    let from = usize::try_from(from).unwrap_or(usize::MAX).min(bytes.len());
    String::from_utf8_lossy(&bytes[from..]).into_owned()
}

/// Returns the complete log of the server in `folder`.
pub(crate) fn log(folder: &Path) -> String {
    text_from(&log_path(folder), 0)
}

/// Returns the path of the log in `folder`.
pub(crate) fn log_path(folder: &Path) -> PathBuf {
    folder.join("log")
}
