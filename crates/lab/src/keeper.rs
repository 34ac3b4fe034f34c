//! Keeper: the parent process of one process of a system. Observes the end of every descendant, and ends all of them if Tenbin dies.
//!
//! A keeper is a child subreaper (prctl(2)), so processes that daemonize remain its descendants. It runs in a separate process group and
//! ignores signals, so that Ctrl-C reaches only Tenbin.

mod link;
pub(crate) mod messages;
mod outbox;
mod tree;

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio, read};
use rustix::process::{getpid, set_child_subreaper};
use rustix::thread::{CpuSet, sched_setaffinity};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use self::link::Link;
use self::messages::{EndedProcesses, Order, Report};
use self::outbox::Outbox;
use self::tree::Tree;
use crate::Signal;
use crate::deadline::Deadline;
use crate::disks;
use crate::hosts;
use crate::limits::{self, Membership};

/// Time for the processes to end on their own after Tenbin has died.
const GRACE_ORPHANED: Duration = Duration::from_secs(1);
/// Time for processes in other groups to end after the main process, before they are signaled.
const GRACE_LEFT_BEHIND: Duration = Duration::from_millis(300);
/// Timeout for killing.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval of searches for processes to kill.
const KILL_PAUSE: Duration = Duration::from_millis(10);
/// Timeout for the last reports to a Tenbin that does not read.
const LAST_REPORTS_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs a keeper until its work is done. Its standard input is the socket to Tenbin. Its arguments only label the process for
/// people.
pub fn main() -> ExitCode {
    match keep() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn keep() -> Result<(), Errno> {
    let io = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    for signal in [SIGINT, SIGHUP, SIGTERM] {
        // A handler instead of SIG_IGN, because the system would inherit an ignored signal.
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false))).map_err(io)?;
    }
    let (children, wake) = UnixStream::pair().map_err(io)?;
    ioctl_fionbio(&children, true)?;
    signal_hook::low_level::pipe::register(SIGCHLD, OwnedFd::from(wake)).map_err(io)?;
    set_child_subreaper(Some(getpid()))?;
    let mut link = Link::new()?;
    let Some(order) = first_order(&mut link)? else { return Ok(()) };
    let Order::Start { argv, env, dir, cores, groups, namespace, disk } = order else {
        // No process was started, so there is nothing to end.
        link.report(&Report::Stopped(EndedProcesses::default()));
        return send_remaining_reports(&mut link);
    };
    let argv = namespace.as_ref().map_or_else(|| argv.clone(), |name| hosts::within(name, &argv));
    let start = || limits::inside(&groups, || Tree::start(&argv, env, &dir));
    match pin(&cores).and_then(|()| start()) {
        Ok(tree) => {
            link.report(&Report::Started { pid: tree.main_pid });
            let keeper = Keeper {
                tree,
                link,
                outbox: Outbox::default(),
                phase: Phase::Running,
                said: Reported::default(),
                is_orphaned: false,
                paused_until: None,
                children,
                groups,
                namespace,
                disk,
            };
            keeper.run()
        }
        Err(what) => {
            link.report(&Report::Refused { what });
            send_remaining_reports(&mut link)
        }
    }
}

/// Waits for the first order. `None` if Tenbin has exited.
fn first_order(link: &mut Link) -> Result<Option<Order>, Errno> {
    loop {
        if let Some(order) = link.orders().into_iter().next() {
            return Ok(Some(order));
        }
        if link.is_cut {
            return Ok(None);
        }
        wait_for(&mut [PollFd::from_borrowed_fd(link.fd(), PollFlags::IN)], None)?;
    }
}

fn pin(cores: &[usize]) -> Result<(), String> {
    if cores.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for core in cores {
        if *core >= CpuSet::MAX_CPU {
            return Err(format!("core {core} is not there"));
        }
        set.set(*core);
    }
    sched_setaffinity(None, &set).map_err(|_| format!("none of the cores {cores:?} may be used"))
}

/// Sends the remaining reports.
fn send_remaining_reports(link: &mut Link) -> Result<(), Errno> {
    let until = Deadline::after(LAST_REPORTS_TIMEOUT);
    while link.has_outgoing() && !until.is_over() {
        wait_for(&mut [PollFd::from_borrowed_fd(link.fd(), PollFlags::OUT)], Some(until))?;
        link.send();
    }
    Ok(())
}

/// Waits until a descriptor is ready, or until the deadline.
fn wait_for(fds: &mut [PollFd<'_>], until: Option<Deadline>) -> Result<(), Errno> {
    let left = until.map(|until| {
        let left = until.left();
        Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() }
    });
    match poll(fds, left.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error),
    }
}

#[derive(Debug)]
enum Phase {
    Running,
    /// Signaled the processes to end.
    Stopping {
        until: Deadline,
        rest_at: SignalRestAt,
        then: AfterExit,
    },
    Killing {
        until: Deadline,
        then: AfterExit,
    },
    /// No process runs. Another one may be started.
    Resting,
    Done,
}

/// State of the keeper after all processes have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AfterExit {
    /// The keeper ends.
    End,
    /// The keeper waits for another start.
    Rest,
}

/// Time at which processes outside the main group are signaled.
#[derive(Clone, Copy, Debug)]
enum SignalRestAt {
    /// A fixed time after the main process has ended.
    AfterMain,
    At(Deadline),
    /// Signaled the processes outside the main group.
    Told,
}

/// Events that were reported to Tenbin.
#[derive(Debug, Default)]
struct Reported {
    exit: bool,
    empty: bool,
}

struct Keeper {
    tree: Tree,
    link: Link,
    outbox: Outbox,
    phase: Phase,
    said: Reported,
    /// Whether Tenbin has exited, and the keeper has reacted.
    is_orphaned: bool,
    /// Time at which paused processes resume. `None` if no process is paused.
    paused_until: Option<Deadline>,
    /// Readable when a child has ended.
    children: UnixStream,
    /// Control groups of the system. The keeper removes them if Tenbin has exited.
    groups: Vec<Membership>,
    /// Network namespace of the host of the system.
    namespace: Option<String>,
    /// Mount point of the disk of the system.
    disk: Option<PathBuf>,
}

impl Keeper {
    fn run(mut self) -> Result<(), Errno> {
        while !matches!(self.phase, Phase::Done) {
            let has_more = self.tree.read(&mut self.outbox);
            self.tree.reap();
            self.send_reports();
            for order in self.link.orders() {
                self.handle_order(order);
            }
            if self.link.is_cut && !self.is_orphaned {
                self.is_orphaned = true;
                self.end_after_client_death();
            }
            self.advance();
            if !has_more && !matches!(self.phase, Phase::Done) {
                self.wait()?;
            }
        }
        let stop_result = self.stop_result();
        self.link.report(&Report::Stopped(stop_result));
        if self.is_orphaned {
            // Errors are ignored: another keeper of the system may still use these, and removes them later.
            let _ = limits::remove(self.groups.iter().map(|one| one.group.as_path()));
            let _ = self.namespace.as_ref().map(|name| hosts::remove(name));
            let _ = self.disk.as_ref().map(|point| disks::unmount(point));
        }
        send_remaining_reports(&mut self.link)
    }

    fn handle_order(&mut self, order: Order) {
        let signal = |signal: Option<i32>| signal.map(Signal::numbered);
        match order {
            Order::Start { argv, env, dir, .. } => self.start_next(&argv, env, &dir),
            Order::Rest { signal: by, within_ms } => {
                self.stop(signal(by), Duration::from_millis(within_ms), AfterExit::Rest);
            }
            Order::Stop { signal: by, within_ms } => {
                self.stop(signal(by), Duration::from_millis(within_ms), AfterExit::End);
            }
            Order::Pause { for_ms } => {
                let processes = self.tree.pause_all();
                self.paused_until = Some(Deadline::after(Duration::from_millis(for_ms)));
                self.link.report(&Report::Paused { processes });
            }
            Order::Continue => self.resume(),
        }
    }

    /// Starts a command if the keeper is at rest. Otherwise does nothing.
    fn start_next(&mut self, argv: &[String], env: Vec<(String, String)>, dir: &Path) {
        if !matches!(self.phase, Phase::Resting) {
            return;
        }
        let inside = self.namespace.as_ref().map(|name| hosts::within(name, argv));
        let argv = inside.as_deref().unwrap_or(argv);
        match limits::inside(&self.groups, || Tree::start(argv, env, dir)) {
            Ok(tree) => {
                self.link.report(&Report::Started { pid: tree.main_pid });
                (self.tree, self.said, self.phase) = (tree, Reported::default(), Phase::Running);
            }
            Err(what) => self.link.report(&Report::Refused { what }),
        }
    }

    /// Resumes paused processes.
    fn resume(&mut self) {
        if self.paused_until.take().is_some() {
            signal_all(Signal::CONT);
            self.link.report(&Report::Continued);
        }
    }

    /// Sends the remaining output, and returns the result of the stop.
    fn stop_result(&mut self) -> EndedProcesses {
        self.tree.read(&mut self.outbox);
        self.flush();
        let left = if self.tree.is_empty { 0 } else { Tree::all().len() };
        EndedProcesses { killed: self.tree.killed(), is_main_killed: self.tree.is_main_killed(), left }
    }

    /// Forwards output, and reports ended processes after the output that they wrote.
    fn send_reports(&mut self) {
        self.link.send();
        let is_due = self.outbox.due().is_some_and(Deadline::is_over);
        if is_due && !self.link.has_outgoing() {
            self.send_output();
        }
        if let (Some(exit), false) = (self.tree.main_exit, self.said.exit) {
            // The process may have written between the read and the reap.
            self.tree.read(&mut self.outbox);
            self.flush();
            self.link.report(&Report::Exited(exit));
            self.said.exit = true;
        }
        if self.tree.is_empty && !self.said.empty {
            self.tree.read(&mut self.outbox);
            self.flush();
            self.link.report(&Report::Empty);
            self.said.empty = true;
        }
    }

    fn send_output(&mut self) {
        if let Some((dropped, bytes)) = self.outbox.take() {
            self.link.output(dropped, &bytes);
        }
    }

    fn flush(&mut self) {
        while self.outbox.due().is_some() {
            self.send_output();
        }
    }

    fn stop(&mut self, signal: Option<Signal>, within: Duration, then: AfterExit) {
        self.resume();
        if matches!(self.phase, Phase::Resting) && self.tree.is_empty {
            self.phase = if then == AfterExit::End { Phase::Done } else { Phase::Resting };
            return;
        }
        let is_detached = self.tree.main_exit.is_some();
        if let Some(signal) = signal {
            self.tree.tell(signal);
        }
        let rest_at = if is_detached { SignalRestAt::Told } else { SignalRestAt::AfterMain };
        self.phase = Phase::Stopping { until: Deadline::after(within), rest_at, then };
    }

    /// Starts to end all processes. The deadline is final, because the client that could extend it has disconnected.
    fn end_after_client_death(&mut self) {
        self.resume();
        if let Phase::Killing { until, .. } = self.phase {
            self.phase = Phase::Killing { until, then: AfterExit::End };
        } else {
            signal_all(Signal::TERM);
            let until = Deadline::after(GRACE_ORPHANED);
            self.phase = Phase::Stopping { until, rest_at: SignalRestAt::Told, then: AfterExit::End };
        }
    }

    fn advance(&mut self) {
        if self.paused_until.is_some_and(Deadline::is_over) {
            self.resume();
        }
        if let Phase::Stopping { until, rest_at, then } = self.phase {
            let rest_at = match rest_at {
                SignalRestAt::AfterMain if self.tree.main_exit.is_some() => {
                    SignalRestAt::At(Deadline::after(GRACE_LEFT_BEHIND))
                }
                SignalRestAt::At(deadline) if deadline.is_over() && !until.is_over() => {
                    signal_all(Signal::TERM);
                    SignalRestAt::Told
                }
                rest_at => rest_at,
            };
            self.phase = match until.is_over() {
                true => Phase::Killing { until: Deadline::after(KILL_TIMEOUT), then },
                false => Phase::Stopping { until, rest_at, then },
            };
        }
        let (Phase::Stopping { then, .. } | Phase::Killing { then, .. }) = self.phase else { return };
        let mut is_over = self.tree.is_empty;
        if let (Phase::Killing { until, .. }, false) = (&self.phase, is_over) {
            self.tree.kill();
            is_over = until.is_over();
        }
        if is_over {
            self.end(then);
        }
    }

    fn end(&mut self, then: AfterExit) {
        self.phase = Phase::Done;
        if then == AfterExit::Rest {
            let stop_result = self.stop_result();
            self.link.report(&Report::Resting(stop_result));
            // The stop at the end of the system reports only the processes that it kills itself.
            self.tree.forget_killed();
            self.phase = Phase::Resting;
        }
    }

    /// Waits for output, an order, the end of a child, or the next deadline.
    fn wait(&mut self) -> Result<(), Errno> {
        let next = match self.phase {
            Phase::Stopping { until, rest_at: SignalRestAt::At(rest_at), .. } => Some(until.min(rest_at)),
            Phase::Stopping { until, .. } => Some(until),
            Phase::Killing { .. } => Some(Deadline::after(KILL_PAUSE)),
            Phase::Running | Phase::Resting | Phase::Done => None,
        };
        // While the socket is full, wait until it is writable instead.
        let output_due = self.outbox.due().filter(|_| !self.link.has_outgoing());
        let until = next.into_iter().chain(output_due).chain(self.paused_until).min();
        let mut fds = vec![PollFd::new(&self.children, PollFlags::IN)];
        if !self.link.is_cut {
            let wish = if self.link.has_outgoing() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
            fds.push(PollFd::from_borrowed_fd(self.link.fd(), wish));
        }
        if let Some(output) = self.tree.output() {
            fds.push(PollFd::from_borrowed_fd(output.as_fd(), PollFlags::IN));
        }
        wait_for(&mut fds, until)?;
        drop(fds);
        let mut wakes = [0; 64];
        while read(&self.children, &mut wakes).is_ok_and(|count| count > 0) {}
        Ok(())
    }
}

fn signal_all(signal: Signal) {
    for seen in Tree::all() {
        crate::processes::signal(&seen, signal);
    }
}
