//! Tenbin's end of a keeper: its state as reported so far, and the orders to it.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::capture::Capture;
use crate::deadline::Deadline;
use crate::exit::Exit;
use crate::keeper::messages::{EndedProcesses, Order, Report};
use crate::limits::Membership;
use crate::marker::{self, Marker};
use crate::processes::{self, Seen};
use crate::{Command, Output, Signal};

/// Timeout for a start. A keeper answers at once unless the machine is busy.
const START_TIMEOUT: Duration = Duration::from_secs(15);
/// Additional time that a keeper gets to kill the processes and to report.
const KEEPER_EXTRA: Duration = Duration::from_secs(10);
const LINE_BYTES_MAX: u64 = 1 << 20;
const OUTPUT_BYTES_MAX: usize = 4 << 20;

/// Options with which all keepers of one system are started.
#[derive(Clone, Debug)]
pub(crate) struct KeeperOptions {
    pub(crate) keeper: Vec<OsString>,
    pub(crate) cores: Vec<usize>,
    pub(crate) marker: Marker,
    /// Control groups that apply the limits of the system.
    pub(crate) groups: Vec<Membership>,
    /// Network namespace of the host of the system.
    pub(crate) namespace: Option<String>,
    /// Mount point of the disk of the system.
    pub(crate) disk: Option<PathBuf>,
}

impl KeeperOptions {
    /// Setting for a process that is not measured: without limits, host, and disk.
    pub(crate) fn unrestricted(&self) -> Self {
        Self { groups: Vec::new(), namespace: None, disk: None, ..self.clone() }
    }
}

/// State of a keeper as reported so far.
#[derive(Debug, Default)]
pub(crate) struct KeeperState {
    /// Main process.
    pub(crate) main: Option<Seen>,
    pub(crate) refused: Option<String>,
    pub(crate) exit: Option<Exit>,
    /// Whether no process runs below the keeper.
    pub(crate) is_empty: bool,
    pub(crate) stop_result: Option<EndedProcesses>,
    /// Whether the keeper has died.
    pub(crate) is_lost: bool,
    pub(crate) capture: Capture,
    /// Whether the keeper is expected to have no process: an event has ended it, or has not started it yet.
    pub(crate) is_at_rest: bool,
    /// Result of an end by an event. `None` while processes are left.
    pub(crate) rested: Option<EndedProcesses>,
    /// Number of processes that the last pause has stopped. `None` until the keeper has reported it. `is_continued` is true if they have
    /// resumed.
    pub(crate) paused: Option<usize>,
    pub(crate) is_continued: bool,
    /// Bytes of output before the current process was started.
    pub(crate) life_from_bytes: u64,
}

impl KeeperState {
    /// Resets the reports of an earlier process.
    fn reset(&mut self) {
        (self.main, self.refused, self.exit, self.is_empty) = (None, None, None, false);
        self.life_from_bytes = self.capture.seen_bytes();
    }

    /// Reason why the process has ended unexpectedly. `None` if it runs or its end was expected.
    pub(crate) fn died(&self) -> Option<Ended> {
        let is_expected = self.is_at_rest && !self.is_lost;
        self.ended().filter(|_| !is_expected)
    }

    /// Reason why the process has ended. `None` if it runs; a daemonized process counts as running.
    pub(crate) fn ended(&self) -> Option<Ended> {
        match self.exit {
            Some(exit) if self.is_empty || !exit.is_success() => Some(Ended::Exit(exit)),
            _ if self.is_lost => Some(Ended::KeeperLost),
            _ => None,
        }
    }
}

/// End of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Exit(Exit),
    /// The keeper was killed, and maybe the process too.
    KeeperLost,
}

#[derive(Debug, Default)]
struct KeeperReports {
    state: Mutex<KeeperState>,
    news: Condvar,
}

impl KeeperReports {
    fn state(&self) -> MutexGuard<'_, KeeperState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A process or command with its keeper. Dropping it ends both.
#[derive(Debug)]
pub(crate) struct KeptProcess {
    pub(crate) name: String,
    keeper_pid: u32,
    keeper: Mutex<Child>,
    link: Mutex<UnixStream>,
    heard: Arc<KeeperReports>,
    listener: Mutex<Option<JoinHandle<()>>>,
}

impl KeptProcess {
    /// Starts a keeper, and a command below it.
    ///
    /// # Errors
    /// Reason why it could not be started, as the end of a sentence. Nothing runs then.
    pub(crate) fn start(
        setting: &KeeperOptions,
        name: &str,
        command: &Command,
    ) -> Result<KeptProcess, String> {
        let kept = KeptProcess::hold(setting, name)?;
        kept.start_command(setting, command)?;
        kept.expect_running();
        Ok(kept)
    }

    /// Starts a keeper without a command.
    ///
    /// # Errors
    /// Reason why it could not be started, as the end of a sentence.
    pub(crate) fn hold(setting: &KeeperOptions, name: &str) -> Result<KeptProcess, String> {
        let cannot = |error: std::io::Error| format!("its keeper could not be started: {error}");
        let (program, arguments) = setting.keeper.split_first().ok_or("it was given no keeper")?;
        let (link, keepers_end) = UnixStream::pair().map_err(cannot)?;
        let keeper = std::process::Command::new(program)
            .args(arguments)
            .arg(name)
            .process_group(0)
            .stdin(OwnedFd::from(keepers_end))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(cannot)?;
        let heard = Arc::new(KeeperReports::default());
        heard.state().is_at_rest = true;
        let reports = link.try_clone().map_err(cannot);
        let kept = KeptProcess {
            name: name.to_owned(),
            keeper_pid: keeper.id(),
            keeper: Mutex::new(keeper),
            link: Mutex::new(link),
            heard: Arc::clone(&heard),
            listener: Mutex::new(None),
        };
        let reports = reports?;
        let listening =
            thread::Builder::new().name("keeper".into()).spawn(move || read_reports(reports, &heard));
        *unpoisoned(&kept.listener) = Some(listening.map_err(cannot)?);
        Ok(kept)
    }

    /// Starts a command below a keeper that has no process.
    ///
    /// # Errors
    /// Reason why it could not be started, as the end of a sentence. Nothing runs then.
    pub(crate) fn start_command(&self, setting: &KeeperOptions, command: &Command) -> Result<(), String> {
        let mark = (marker::VARIABLE.to_owned(), setting.marker.to_string());
        let order = Order::Start {
            argv: command.argv.clone(),
            env: command.env.iter().cloned().chain([mark]).collect(),
            dir: command.dir.clone(),
            cores: setting.cores.clone(),
            groups: setting.groups.clone(),
            namespace: setting.namespace.clone(),
            disk: setting.disk.clone(),
        };
        self.state().reset();
        if !self.order(&order) {
            return Err(format!("its working directory {} is not written in UTF-8", command.dir.display()));
        }
        self.wait(Deadline::after(START_TIMEOUT), |state| {
            state.main.is_some() || state.refused.is_some() || state.is_lost
        });
        let state = self.state();
        match (&state.main, &state.refused) {
            (Some(_), _) => Ok(()),
            (None, Some(what)) => Err(what.clone()),
            (None, None) => {
                let keeper = setting.keeper.first().map(|program| program.display().to_string());
                Err(format!("its keeper {} did not answer", keeper.unwrap_or_default()))
            }
        }
    }

    pub(crate) fn keeper_pid(&self) -> u32 {
        self.keeper_pid
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, KeeperState> {
        self.heard.state()
    }

    /// Waits until `is_so` returns true, or until the deadline.
    pub(crate) fn wait(&self, until: Deadline, is_so: impl Fn(&KeeperState) -> bool) {
        let state = self.heard.state();
        let waited = self.heard.news.wait_timeout_while(state, until.left(), |state| !is_so(state));
        drop(waited);
    }

    /// Output so far.
    pub(crate) fn output(&self) -> Output {
        let (text, dropped_bytes) = self.state().capture.clone().text();
        Output { process: self.name.clone(), text, dropped_bytes }
    }

    /// Output of the process that was started last, without the output of earlier ones.
    pub(crate) fn output_since_start(&self) -> Output {
        let (capture, from) = {
            let state = self.state();
            (state.capture.clone(), state.life_from_bytes)
        };
        let (text, dropped_bytes) = capture.text_since(from);
        Output { process: self.name.clone(), text, dropped_bytes }
    }

    /// Ends all processes below the keeper, and the keeper. Without a signal, waits for their end, and kills them after the
    /// timeout.
    ///
    /// The result is `None` if the keeper was gone already, so that it is unknown.
    pub(crate) fn stop(&self, signal: Option<Signal>, within: Duration) -> (Option<EndedProcesses>, Output) {
        let within_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        self.order(&Order::Stop { signal: signal.map(Signal::number), within_ms });
        let until = Deadline::after(within.saturating_add(KEEPER_EXTRA));
        self.wait(until, |state| state.stop_result.is_some() || state.is_lost);
        self.end();
        let stop_result = self.state().stop_result;
        (stop_result, self.output())
    }

    /// Marks any later end below the keeper as expected.
    pub(crate) fn expect_end(&self) {
        self.state().is_at_rest = true;
    }

    /// Marks any later end below the keeper as a death.
    pub(crate) fn expect_running(&self) {
        self.state().is_at_rest = false;
    }

    /// Ends all processes below the keeper, which stays. Without a signal, waits for their end, and kills them after the timeout.
    /// `None` if the keeper is lost.
    pub(crate) fn rest(&self, signal: Option<Signal>, within: Duration) -> Option<EndedProcesses> {
        let within_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        {
            let mut state = self.state();
            (state.is_at_rest, state.rested) = (true, None);
        }
        self.order(&Order::Rest { signal: signal.map(Signal::number), within_ms });
        let until = Deadline::after(within.saturating_add(KEEPER_EXTRA));
        self.wait(until, |state| state.rested.is_some() || state.is_lost);
        self.state().rested
    }

    /// Pauses all processes below the keeper with SIGSTOP. The keeper resumes them after `lasting`, and when Tenbin ends.
    pub(crate) fn pause(&self, lasting: Duration) {
        let for_ms = u64::try_from(lasting.as_millis()).unwrap_or(u64::MAX);
        {
            let mut state = self.state();
            (state.paused, state.is_continued) = (None, false);
        }
        self.order(&Order::Pause { for_ms });
    }

    /// Resumes paused processes now.
    pub(crate) fn go_on(&self) {
        self.order(&Order::Continue);
    }

    /// Sends an order. Returns whether it could be serialized. A failed write means that the keeper has exited, which the listener
    /// notices.
    fn order(&self, order: &Order) -> bool {
        let Ok(mut line) = serde_json::to_vec(order) else { return false };
        line.push(b'\n');
        let _ = unpoisoned(&self.link).write_all(&line);
        true
    }

    /// Closes the socket, which ends a keeper that still runs, and reaps the keeper.
    fn end(&self) {
        let Some(listener) = unpoisoned(&self.listener).take() else { return };
        let _ = unpoisoned(&self.link).shutdown(Shutdown::Write);
        self.wait(Deadline::after(KEEPER_EXTRA), |state| state.is_lost);
        if !self.state().is_lost {
            let _ = unpoisoned(&self.keeper).kill();
            let _ = unpoisoned(&self.link).shutdown(Shutdown::Both);
        }
        let _ = unpoisoned(&self.keeper).wait();
        let _ = listener.join();
    }
}

impl Drop for KeptProcess {
    fn drop(&mut self) {
        self.end();
        let mut keeper = unpoisoned(&self.keeper);
        if keeper.try_wait().is_ok_and(|status| status.is_none()) {
            let _ = keeper.kill();
            let _ = keeper.wait();
        }
    }
}

fn unpoisoned<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the reports of the keeper until it closes the socket.
fn read_reports(reports: UnixStream, heard: &KeeperReports) {
    let mut reports = BufReader::with_capacity(64 << 10, reports);
    while let Some((report, bytes)) = next(&mut reports) {
        let main = if let Report::Started { pid } = &report { processes::look(*pid) } else { None };
        let mut state = heard.state();
        match report {
            // The process may have ended before the report, but was not reaped yet.
            Report::Started { pid } => state.main = main.or_else(|| Some(Seen::gone(pid))),
            Report::Refused { what } => state.refused = Some(what),
            Report::Output { dropped, .. } => state.capture.push(dropped, &bytes),
            Report::Exited(exit) => state.exit = Some(exit),
            Report::Empty => state.is_empty = true,
            Report::Paused { processes } => state.paused = Some(processes),
            Report::Continued => state.is_continued = true,
            Report::Resting(stop_result) => state.rested = Some(stop_result),
            Report::Stopped(stop_result) => state.stop_result = Some(stop_result),
        }
        drop(state);
        heard.news.notify_all();
    }
    heard.state().is_lost = true;
    heard.news.notify_all();
}

fn next(reports: &mut BufReader<UnixStream>) -> Option<(Report, Vec<u8>)> {
    let mut line = Vec::new();
    reports.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line).ok()?;
    let report = serde_json::from_slice(&line).ok()?;
    let count = if let Report::Output { bytes, .. } = &report { *bytes } else { 0 };
    if count > OUTPUT_BYTES_MAX {
        return None;
    }
    let mut bytes = vec![0; count];
    reports.read_exact(&mut bytes).ok()?;
    Some((report, bytes))
}
