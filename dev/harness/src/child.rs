//! Child process with a timeout, which does not outlive this program.

use std::io::{Read as _, Seek as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::interrupt::Interrupt;

/// Interval at which a child is checked: long enough not to disturb measurements.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum size of output to read from a child, in bytes. No tool writes more.
const OUTPUT_BYTES_MAX: u64 = 1024 * 1024;

/// Output and exit status of a child.
#[derive(Debug)]
pub struct Output {
    /// Exit status.
    pub status: ExitStatus,
    /// Standard output, up to 1 MiB.
    pub stdout: String,
    /// Standard error, up to 1 MiB.
    pub stderr: String,
}

/// Runs a command to its end.
///
/// # Errors
///
/// Returns a message if the command cannot be started, takes longer than `time_limit`, or is interrupted by Ctrl-C. In the latter
/// cases, the child is killed.
pub fn run(command: &mut Command, time_limit: Duration, interrupt: &Interrupt) -> Result<Output, String> {
    run_while(command, time_limit, interrupt, |_| Ok(()))
}

/// Runs a command to its end, like [`run`], and calls `disturb` with the child while it runs.
///
/// # Errors
///
/// Returns the errors of [`run`], and the error of `disturb`.
pub fn run_while(
    command: &mut Command,
    time_limit: Duration,
    interrupt: &Interrupt,
    disturb: impl FnOnce(&mut Child) -> Result<(), String>,
) -> Result<Output, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let no_file = |error| format!("no temporary file for what {name} writes: {error}");
    // Files, because a pipe without a reader would block the child.
    let (mut stdout, mut stderr) =
        (tempfile::tempfile().map_err(no_file)?, tempfile::tempfile().map_err(no_file)?);
    command.stdout(stdout.try_clone().map_err(no_file)?).stderr(stderr.try_clone().map_err(no_file)?);
    let mut child = Child::start(command)?;
    disturb(&mut child)?;
    let status = child.wait(time_limit, interrupt)?;
    let read = |file: &mut std::fs::File| -> std::io::Result<String> {
        let mut bytes = Vec::new();
        file.rewind()?;
        file.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok(Output {
        status,
        stdout: read(&mut stdout).map_err(no_file)?,
        stderr: read(&mut stderr).map_err(no_file)?,
    })
}

/// Running child that leads its own process group. Ctrl-C in a terminal therefore reaches only this program, which then ends the
/// child.
#[derive(Debug)]
pub struct Child {
    name: String,
    process: std::process::Child,
    is_over: bool,
}

impl Child {
    /// Starts a command without standard input, in the locale that the parsers expect.
    pub fn start(command: &mut Command) -> Result<Self, String> {
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).env("LC_ALL", "C").process_group(0);
        let process = command.spawn().map_err(|error| format!("cannot start {name}: {error}"))?;
        Ok(Self { name, process, is_over: false })
    }

    /// Returns the exit status, or `None` while the child runs.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>, String> {
        let status =
            self.process.try_wait().map_err(|error| format!("cannot wait for {}: {error}", self.name))?;
        self.is_over |= status.is_some();
        Ok(status)
    }

    /// Waits for the child to exit.
    pub fn wait(&mut self, time_limit: Duration, interrupt: &Interrupt) -> Result<ExitStatus, String> {
        let deadline = Instant::now() + time_limit;
        loop {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            if interrupt.is_asked() {
                self.kill();
                return Err("interrupted".to_owned());
            }
            if Instant::now() >= deadline {
                self.kill();
                return Err(format!(
                    "{} was not done after {} s and was killed",
                    self.name,
                    time_limit.as_secs()
                ));
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Sends SIGTERM, and kills the child if it does not exit in time.
    pub fn stop(&mut self, time_limit: Duration) {
        if let Some(pid) = self.pid() {
            let _ = kill_process(pid, Signal::TERM);
            let _ = self.wait(time_limit, &Interrupt::default());
        }
    }

    fn kill(&mut self) {
        if let Some(pid) = self.pid() {
            let _ = kill_process_group(pid, Signal::KILL);
            let _ = self.process.wait();
            self.is_over = true;
        }
    }

    /// Returns the process ID, or `None` after the child has exited.
    pub fn pid(&self) -> Option<Pid> {
        if self.is_over { None } else { Pid::from_raw(i32::try_from(self.process.id()).ok()?) }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, time_limit: Duration) -> Result<Output, String> {
        run(Command::new("sh").args(["-c", script]), time_limit, &Interrupt::default())
    }

    #[test]
    fn both_outputs_and_the_exit_code_are_captured() {
        let output = sh("echo out; echo err >&2; exit 3", Duration::from_secs(20)).unwrap();
        assert_eq!(
            (output.stdout.as_str(), output.stderr.as_str(), output.status.code()),
            ("out\n", "err\n", Some(3))
        );
    }

    #[test]
    fn hanging_child_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let pid_file = folder.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; wait", pid_file.display());
        let error = sh(&script, Duration::from_secs(1)).unwrap_err();
        assert!(error.contains("killed"), "{error}");
        let pid: i32 = std::fs::read_to_string(pid_file).unwrap().trim().parse().unwrap();
        // The process may briefly remain as a zombie, until its new parent reaps it.
        let stat = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let is_gone = || stat().is_empty() || stat().contains(") Z ");
        let is_gone_soon = (0..500).any(|_| {
            is_gone() || {
                thread::sleep(Duration::from_millis(10));
                false
            }
        });
        assert!(is_gone_soon, "{}", stat());
    }

    #[test]
    fn start_failure_has_a_message() {
        let error = run(&mut Command::new("no-such-program"), Duration::from_secs(1), &Interrupt::default())
            .unwrap_err();
        assert!(error.starts_with("cannot start no-such-program"), "{error}");
    }
}
