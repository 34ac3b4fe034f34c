//! Tenbin's end of a keeper: what it said so far, and the order to stop.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::capture::Capture;
use crate::deadline::Deadline;
use crate::exit::Exit;
use crate::keeper::messages::{Order, Report, Toll};
use crate::limits::Membership;
use crate::marker::{self, Marker};
use crate::processes::{self, Seen};
use crate::{Command, Output, Signal};

/// A keeper answers at once; a machine that is busy may take its time.
const STARTING: Duration = Duration::from_secs(15);
/// What a keeper may take on top of the time that the processes have: to kill, and to say so.
const KEEPER_EXTRA: Duration = Duration::from_secs(10);
const LINE_BYTES_MAX: u64 = 1 << 20;
const OUTPUT_BYTES_MAX: usize = 4 << 20;

/// What all keepers of one system are started with.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) keeper: Vec<OsString>,
    pub(crate) cores: Vec<usize>,
    pub(crate) marker: Marker,
    /// The groups that hold the system to its limits.
    pub(crate) groups: Vec<Membership>,
    /// The network namespace of its host.
    pub(crate) namespace: Option<String>,
}

/// What a keeper has said so far.
#[derive(Debug, Default)]
pub(crate) struct KeeperState {
    /// The process that was started.
    pub(crate) main: Option<Seen>,
    pub(crate) refused: Option<String>,
    pub(crate) exit: Option<Exit>,
    /// Nothing runs below the keeper.
    pub(crate) is_empty: bool,
    pub(crate) toll: Option<Toll>,
    /// The keeper is gone.
    pub(crate) is_lost: bool,
    pub(crate) capture: Capture,
}

impl KeeperState {
    /// Why the process is not there any more, if it is not. One that detached itself is.
    pub(crate) fn ended(&self) -> Option<Ended> {
        match self.exit {
            Some(exit) if self.is_empty || !exit.is_success() => Some(Ended::Exit(exit)),
            _ if self.is_lost => Some(Ended::KeeperLost),
            _ => None,
        }
    }
}

/// How a process came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Exit(Exit),
    /// Its keeper was killed, and maybe the process too.
    KeeperLost,
}

#[derive(Debug, Default)]
struct Heard {
    state: Mutex<KeeperState>,
    news: Condvar,
}

impl Heard {
    fn state(&self) -> MutexGuard<'_, KeeperState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A process (or a command) with its keeper. Dropping it ends both.
#[derive(Debug)]
pub(crate) struct KeptProcess {
    pub(crate) name: String,
    keeper: Child,
    link: UnixStream,
    heard: Arc<Heard>,
    listener: Option<JoinHandle<()>>,
}

impl KeptProcess {
    /// Starts a keeper, and a command below it.
    ///
    /// # Errors
    /// Why it could not be started, as the end of a sentence. Nothing runs then.
    pub(crate) fn start(setting: &Setting, name: &str, command: &Command) -> Result<KeptProcess, String> {
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
        let heard = Arc::new(Heard::default());
        let mut kept = KeptProcess { name: name.to_owned(), keeper, link, heard, listener: None };
        let reports = kept.link.try_clone().map_err(cannot)?;
        let heard = Arc::clone(&kept.heard);
        let listening = thread::Builder::new().name("keeper".into()).spawn(move || listen(reports, &heard));
        kept.listener = Some(listening.map_err(cannot)?);
        let mark = (marker::VARIABLE.to_owned(), setting.marker.to_string());
        let order = Order::Start {
            argv: command.argv.clone(),
            env: command.env.iter().cloned().chain([mark]).collect(),
            dir: command.dir.clone(),
            cores: setting.cores.clone(),
            groups: setting.groups.clone(),
            namespace: setting.namespace.clone(),
        };
        if !kept.order(&order) {
            return Err(format!("its working directory {} is not written in UTF-8", command.dir.display()));
        }
        kept.wait(Deadline::after(STARTING), |state| {
            state.main.is_some() || state.refused.is_some() || state.is_lost
        });
        let state = kept.state();
        match (&state.main, &state.refused) {
            (Some(_), _) => {}
            (None, Some(what)) => return Err(what.clone()),
            (None, None) => return Err(format!("its keeper {} did not answer", program.display())),
        }
        drop(state);
        Ok(kept)
    }

    pub(crate) fn keeper_pid(&self) -> u32 {
        self.keeper.id()
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, KeeperState> {
        self.heard.state()
    }

    /// Waits until something is so, or the time has come.
    pub(crate) fn wait(&self, until: Deadline, is_so: impl Fn(&KeeperState) -> bool) {
        let state = self.heard.state();
        let waited = self.heard.news.wait_timeout_while(state, until.left(), |state| !is_so(state));
        drop(waited);
    }

    /// What it wrote so far.
    pub(crate) fn output(&self) -> Output {
        let (text, dropped_bytes) = self.state().capture.clone().text();
        Output { process: self.name.clone(), text, dropped_bytes }
    }

    /// Ends everything below the keeper, and the keeper. Without a signal it is only waited for, and killed in the end.
    ///
    /// `None` if the keeper was gone already: then nothing is known.
    pub(crate) fn stop(mut self, signal: Option<Signal>, within: Duration) -> (Option<Toll>, Output) {
        let within_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        self.order(&Order::Stop { signal: signal.map(Signal::number), within_ms });
        let until = Deadline::after(within.saturating_add(KEEPER_EXTRA));
        self.wait(until, |state| state.toll.is_some() || state.is_lost);
        self.end();
        let toll = self.state().toll;
        (toll, self.output())
    }

    /// Gives an order; says whether it could be put into words. One that does not arrive is one to a keeper that is gone:
    /// the listener notices.
    fn order(&mut self, order: &Order) -> bool {
        let Ok(mut line) = serde_json::to_vec(order) else { return false };
        line.push(b'\n');
        let _ = self.link.write_all(&line);
        true
    }

    /// Cuts the line, which ends a keeper that has not ended by itself, and reaps it.
    fn end(&mut self) {
        let Some(listener) = self.listener.take() else { return };
        let _ = self.link.shutdown(Shutdown::Write);
        self.wait(Deadline::after(KEEPER_EXTRA), |state| state.is_lost);
        if !self.state().is_lost {
            let _ = self.keeper.kill();
            let _ = self.link.shutdown(Shutdown::Both);
        }
        let _ = self.keeper.wait();
        let _ = listener.join();
    }
}

impl Drop for KeptProcess {
    fn drop(&mut self) {
        self.end();
        if self.keeper.try_wait().is_ok_and(|status| status.is_none()) {
            let _ = self.keeper.kill();
            let _ = self.keeper.wait();
        }
    }
}

/// Takes in what the keeper says until it says no more.
fn listen(reports: UnixStream, heard: &Heard) {
    let mut reports = BufReader::with_capacity(64 << 10, reports);
    while let Some((report, bytes)) = next(&mut reports) {
        let main = if let Report::Started { pid } = &report { processes::look(*pid) } else { None };
        let mut state = heard.state();
        match report {
            // It may have ended, but the keeper had not reaped it when it said so.
            Report::Started { pid } => state.main = main.or_else(|| Some(Seen::gone(pid))),
            Report::Refused { what } => state.refused = Some(what),
            Report::Output { dropped, .. } => state.capture.push(dropped, &bytes),
            Report::Exited(exit) => state.exit = Some(exit),
            Report::Empty => state.is_empty = true,
            Report::Stopped(toll) => state.toll = Some(toll),
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
