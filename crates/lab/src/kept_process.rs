//! Tenbin's end of a keeper: what it said so far, and the order to stop.

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
    /// Where its disk is mounted.
    pub(crate) disk: Option<PathBuf>,
}

impl Setting {
    /// That of a process which is no part of what is measured: without limits, a host, or a disk.
    pub(crate) fn aside(&self) -> Self {
        Self { groups: Vec::new(), namespace: None, disk: None, ..self.clone() }
    }
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
    /// Nothing is to run below the keeper: an event has ended it, or is still to start it.
    pub(crate) is_at_rest: bool,
    /// What the end by an event took, when nothing runs any more.
    pub(crate) rested: Option<Toll>,
    /// How many processes were stopped by SIGSTOP the last time, once they were, and whether they go on again.
    pub(crate) paused: Option<usize>,
    pub(crate) is_continued: bool,
    /// How much had been written before the process was started.
    pub(crate) life_from_bytes: u64,
}

impl KeeperState {
    /// What was told of an earlier process is not true of the next.
    fn begin_life(&mut self) {
        (self.main, self.refused, self.exit, self.is_empty) = (None, None, None, false);
        self.life_from_bytes = self.capture.seen_bytes();
    }

    /// Why the process is not there any more, if it is not and should be.
    pub(crate) fn died(&self) -> Option<Ended> {
        let is_expected = self.is_at_rest && !self.is_lost;
        self.ended().filter(|_| !is_expected)
    }

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
    keeper_pid: u32,
    keeper: Mutex<Child>,
    link: Mutex<UnixStream>,
    heard: Arc<Heard>,
    listener: Mutex<Option<JoinHandle<()>>>,
}

impl KeptProcess {
    /// Starts a keeper, and a command below it.
    ///
    /// # Errors
    /// Why it could not be started, as the end of a sentence. Nothing runs then.
    pub(crate) fn start(setting: &Setting, name: &str, command: &Command) -> Result<KeptProcess, String> {
        let kept = KeptProcess::hold(setting, name)?;
        kept.start_command(setting, command)?;
        kept.expect_life();
        Ok(kept)
    }

    /// Starts a keeper with nothing below it.
    ///
    /// # Errors
    /// Why it could not be started, as the end of a sentence.
    pub(crate) fn hold(setting: &Setting, name: &str) -> Result<KeptProcess, String> {
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
        let listening = thread::Builder::new().name("keeper".into()).spawn(move || listen(reports, &heard));
        *unpoisoned(&kept.listener) = Some(listening.map_err(cannot)?);
        Ok(kept)
    }

    /// Starts a command below a keeper that has nothing below it.
    ///
    /// # Errors
    /// Why it could not be started, as the end of a sentence. Nothing runs then.
    pub(crate) fn start_command(&self, setting: &Setting, command: &Command) -> Result<(), String> {
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
        self.state().begin_life();
        if !self.order(&order) {
            return Err(format!("its working directory {} is not written in UTF-8", command.dir.display()));
        }
        self.wait(Deadline::after(STARTING), |state| {
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

    /// What the process that was started last has written, without what came before it.
    pub(crate) fn output_of_life(&self) -> Output {
        let (capture, from) = {
            let state = self.state();
            (state.capture.clone(), state.life_from_bytes)
        };
        let (text, dropped_bytes) = capture.text_since(from);
        Output { process: self.name.clone(), text, dropped_bytes }
    }

    /// Ends everything below the keeper, and the keeper. Without a signal it is only waited for, and killed in the end.
    ///
    /// `None` if the keeper was gone already: then nothing is known.
    pub(crate) fn stop(&self, signal: Option<Signal>, within: Duration) -> (Option<Toll>, Output) {
        let within_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        self.order(&Order::Stop { signal: signal.map(Signal::number), within_ms });
        let until = Deadline::after(within.saturating_add(KEEPER_EXTRA));
        self.wait(until, |state| state.toll.is_some() || state.is_lost);
        self.end();
        let toll = self.state().toll;
        (toll, self.output())
    }

    /// From now on what ends below the keeper was asked to.
    pub(crate) fn expect_end(&self) {
        self.state().is_at_rest = true;
    }

    /// From now on what ends below the keeper has died.
    pub(crate) fn expect_life(&self) {
        self.state().is_at_rest = false;
    }

    /// Ends everything below the keeper, which stays. Without a signal it is only waited for, and killed in the end. `None` if
    /// the keeper is lost.
    pub(crate) fn rest(&self, signal: Option<Signal>, within: Duration) -> Option<Toll> {
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

    /// Stops everything below the keeper by SIGSTOP. The keeper lets it go on after so long, and when Tenbin ends.
    pub(crate) fn pause(&self, lasting: Duration) {
        let for_ms = u64::try_from(lasting.as_millis()).unwrap_or(u64::MAX);
        {
            let mut state = self.state();
            (state.paused, state.is_continued) = (None, false);
        }
        self.order(&Order::Pause { for_ms });
    }

    /// Lets it go on now.
    pub(crate) fn go_on(&self) {
        self.order(&Order::Continue);
    }

    /// Gives an order; says whether it could be put into words. One that does not arrive is one to a keeper that is gone:
    /// the listener notices.
    fn order(&self, order: &Order) -> bool {
        let Ok(mut line) = serde_json::to_vec(order) else { return false };
        line.push(b'\n');
        let _ = unpoisoned(&self.link).write_all(&line);
        true
    }

    /// Cuts the line, which ends a keeper that has not ended by itself, and reaps it.
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
            Report::Paused { processes } => state.paused = Some(processes),
            Report::Continued => state.is_continued = true,
            Report::Resting(toll) => state.rested = Some(toll),
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
