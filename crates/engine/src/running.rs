//! Running load: its threads, its messages, and the signal that stops it.

use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Barrier, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use load::Share;
use record::{ConnectionTotals, Health, Interval, Moment, Pulse};
use rustix::io::Errno;
use wire::{Channels, FirstReplies};

use crate::contents::Contents;
use crate::embedded::{CallDeadlines, Embedding};
use crate::job::Job;
use crate::net::cancel::CancelLock;
use crate::pin;
use crate::worker::Worker;

/// Delay from the arrival of the last worker at the gate to the start of the load, so that all workers wake up in time.
const START_LEAD: Duration = Duration::from_millis(2);

/// Message from a worker to the owner of the load.
#[derive(Debug)]
pub enum Message {
    /// All connections are open, except those in [`WorkerEnd::opening_failures`]. The load starts at this time.
    Begins(Instant),
    /// Record of one second of an account of a worker.
    Interval {
        /// Number of the account: a step, a part, or an address of a step.
        step: u16,
        /// Record of the second.
        interval: Box<Interval>,
    },
    /// Window of 250 ms of one worker; the last one may be shorter. Windows arrive in order and without gaps; [`record::Pulses`]
    /// collects them.
    Pulse {
        /// Number of the worker, from 0.
        worker: u32,
        /// Record of the window.
        pulse: Pulse,
    },
    /// Windows of 100 ms of one worker, if the job asks for them. Parts of one window add up and may arrive late.
    Moments(Vec<Moment>),
    /// Worker has finished.
    Ended(Box<WorkerEnd>),
    /// Worker cannot continue, with the reason: an error of this program or of its machine.
    Broke(String),
    /// Load cannot continue, with the reason: a log-in that will always be rejected, or a scenario that stops the load. It has
    /// ended for all workers; only one of them sends the reason.
    Unrecoverable(String),
}

/// Results of a worker that are not part of its intervals.
#[derive(Clone, Debug, Default)]
pub struct WorkerEnd {
    /// Totals of each connection.
    pub connections: Vec<ConnectionTotals>,
    /// Timing quality and resource use of the worker.
    pub health: Health,
    /// Number of connections that could not be opened before the load, and the reason for the first. `None` if all were opened.
    pub opening_failures: Option<(u32, String)>,
    /// Number of TLS handshakes that resumed a session, warm-up included.
    pub resumed_handshakes: u64,
    /// Content of the replies to each step, in the order of steps. Empty ones follow.
    pub contents: Vec<Contents>,
    /// Comparison of the first replies of each connection, for steps without an expectation of the body.
    pub first_replies: Vec<FirstReplies>,
    /// End of the load in nanoseconds since its start: its duration, or the time of a stop request. `None` if only the number of
    /// requests ended it.
    pub stopped_at_ns: Option<u64>,
    /// Time in nanoseconds since the start of the load at which an arrival of a growing load found the last connection taken.
    /// `None` if connections sufficed.
    pub limit_reached_ns: Option<u64>,
}

/// Urgency of a request to stop a running load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopLevel {
    /// Continue.
    Go,
    /// Start no more requests, and wait for those in flight.
    Drain,
    /// Abandon requests in flight.
    Abort,
}

/// Delay between a request to drain and the end of the load. Workers check the signal at least every 100 ms, so all of them end at
/// the same time.
const DRAIN_NOTICE: Duration = Duration::from_millis(150);

/// Stop level and other state shared by all threads of a load.
#[derive(Debug)]
pub(crate) struct StopSignal {
    /// Lock that lets one cancel request through at a time.
    pub(crate) cancel_lock: CancelLock,
    level: AtomicU8,
    /// End of the load in nanoseconds since its start; [`u64::MAX`] until a stop is requested.
    ends_at_ns: AtomicU64,
    is_broken: AtomicBool,
    users_stopped: AtomicU32,
}

impl Default for StopSignal {
    fn default() -> Self {
        Self {
            cancel_lock: CancelLock::default(),
            level: AtomicU8::new(0),
            ends_at_ns: AtomicU64::new(u64::MAX),
            is_broken: AtomicBool::new(false),
            users_stopped: AtomicU32::new(0),
        }
    }
}

impl StopSignal {
    /// Counts a user who makes no further request. Returns the number of such users so far.
    pub(crate) fn count_stopped_user(&self) -> u32 {
        self.users_stopped.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns the stop level at `now_ns`. A drain takes effect at the end of the load, an abort immediately.
    #[inline]
    pub(crate) fn level(&self, now_ns: u64) -> StopLevel {
        match self.level.load(Ordering::Acquire) {
            0 => StopLevel::Go,
            1 if now_ns < self.ends_at_ns.load(Ordering::Relaxed) => StopLevel::Go,
            1 => StopLevel::Drain,
            _ => StopLevel::Abort,
        }
    }

    /// Returns whether the load was aborted.
    pub(crate) fn is_aborted(&self) -> bool {
        self.level.load(Ordering::Acquire) >= StopLevel::Abort as u8
    }

    /// Returns the end of the load in nanoseconds since its start. `None` if no stop was requested.
    #[inline]
    pub(crate) fn ends_at_ns(&self) -> Option<u64> {
        (self.level.load(Ordering::Acquire) > 0).then(|| self.ends_at_ns.load(Ordering::Relaxed))
    }

    /// Raises the stop level. `ends_at_ns` is the end of the load; an earlier end stays.
    fn raise(&self, level: StopLevel, ends_at_ns: u64) {
        self.ends_at_ns.fetch_min(ends_at_ns, Ordering::Relaxed);
        self.level.fetch_max(level as u8, Ordering::Release);
    }

    /// Aborts the load for all threads. Returns whether this thread was the first to do so.
    pub(crate) fn abort_load(&self, now_ns: u64) -> bool {
        self.raise(StopLevel::Abort, now_ns);
        !self.is_broken.swap(true, Ordering::Relaxed)
    }
}

/// Reason why a worker could not continue.
#[derive(Debug)]
pub(crate) enum WorkerError {
    /// Error of the operating system.
    Machine(Errno),
    /// Error of the load itself, such as a rejected log-in, as a sentence.
    Load(String),
}

impl From<Errno> for WorkerError {
    fn from(errno: Errno) -> Self {
        Self::Machine(errno)
    }
}

/// Barrier at which workers wait for each other before the load.
pub(crate) struct Gate {
    barrier: Barrier,
    origin: Arc<OnceLock<Instant>>,
    messages: Sender<Message>,
}

impl Gate {
    /// Waits for all workers. Returns the start of the load, which is equal for all of them.
    fn pass(&self) -> Instant {
        self.barrier.wait();
        *self.origin.get_or_init(|| {
            let origin = Instant::now() + START_LEAD;
            let _ = self.messages.send(Message::Begins(origin));
            origin
        })
    }

    /// Returns the start of the load. `None` until all workers have passed.
    pub(crate) fn origin(&self) -> Option<Instant> {
        self.origin.get().copied()
    }
}

/// Pass of one worker through the gate. Dropping it also passes, so a worker that dies does not block the others.
pub(crate) struct GatePass<'a> {
    gate: &'a Gate,
    has_passed: Cell<bool>,
}

impl GatePass<'_> {
    pub(crate) fn pass(&self) -> Instant {
        self.has_passed.set(true);
        self.gate.pass()
    }
}

impl Drop for GatePass<'_> {
    fn drop(&mut self) {
        if !self.has_passed.get() {
            self.gate.pass();
        }
    }
}

/// Handle of a running load.
#[derive(Debug)]
pub struct Running {
    /// Messages of the workers. The channel closes when all workers have finished.
    pub messages: Receiver<Message>,
    signal: Arc<StopSignal>,
    /// Start of the load; empty until it has started. A [`Gate`] here would keep the message channel open.
    origin: Arc<OnceLock<Instant>>,
    threads: Vec<JoinHandle<()>>,
    /// Number of workers. Each sends exactly one final message: [`Message::Ended`], [`Message::Broke`], or [`Message::Unrecoverable`].
    pub workers: u32,
}

/// Starts the threads of a job. They open the connections first; [`Message::Begins`] reports the start of the load. If a peer is in
/// this process, each connection has its own thread.
pub fn start(job: Job, script: impl Channels + 'static) -> io::Result<Running> {
    launch(job, Arc::new(script))
}

fn launch(mut job: Job, script: Arc<dyn Channels>) -> io::Result<Running> {
    let is_in_process = (0..job.peers()).any(|peer| script.is_in_process(peer));
    let embedding = is_in_process.then(|| Embedding::of(&mut job));
    let connections = job.min_connections().max(1);
    if connections < job.share.of {
        let why = format!("{connections} connections cannot be divided among {} generators", job.share.of);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    if embedding.is_none() && (job.is_pooled() || job.share != Share::WHOLE) {
        // A thread without connections would never send the requests of its users.
        job.threads = job.threads.clamp(1, connections / job.share.of);
    }
    let (sender, messages) = mpsc::channel();
    let signal = Arc::new(StopSignal::default());
    let origin = Arc::new(OnceLock::new());
    let gate = Arc::new(Gate {
        barrier: Barrier::new(job.threads as usize),
        origin: Arc::clone(&origin),
        messages: sender.clone(),
    });
    let job = Arc::new(job);
    let (count, watched) = (job.threads, embedding.clone());
    let workers = (0..count).map(|index| {
        let (job, script, embedding) = (Arc::clone(&job), Arc::clone(&script), embedding.clone());
        let (signal, gate, sender) = (Arc::clone(&signal), Arc::clone(&gate), sender.clone());
        let work: Task = Box::new(move || {
            let _leaving =
                ThreadEndGuard(embedding.as_ref().map(|embedding| Arc::clone(&embedding.call_deadlines)));
            let message = match work(&job, &*script, &signal, &gate, sender.clone(), index, embedding) {
                Ok(end) => Message::Ended(Box::new(end)),
                Err(WorkerError::Machine(errno)) => {
                    Message::Broke(format!("load thread {index} cannot continue: {errno}"))
                }
                Err(WorkerError::Load(words)) => Message::Unrecoverable(words),
            };
            let _ = sender.send(message);
        });
        (format!("load-{index}"), work)
    });
    let watch = watched.map(|Embedding { call_deadlines, .. }| {
        let (gate, signal) = (Arc::clone(&gate), Arc::clone(&signal));
        let watch: Task = Box::new(move || call_deadlines.watch(&gate, &signal));
        ("load-watch".to_owned(), watch)
    });
    let threads = start_all(workers.chain(watch))?;
    Ok(Running { messages, signal, origin, threads, workers: count })
}

/// Body of a thread.
type Task = Box<dyn FnOnce() + Send>;

/// Starts a thread for each task. If one thread cannot be started, no task runs: the workers would wait at the gate forever.
fn start_all(tasks: impl Iterator<Item = (String, Task)>) -> io::Result<Vec<JoinHandle<()>>> {
    let are_all_there = Arc::new(OnceLock::new());
    let mut threads = Vec::new();
    for (name, task) in tasks {
        let waiting = Arc::clone(&are_all_there);
        let spawned = thread::Builder::new().name(name).spawn(move || {
            if *waiting.wait() {
                task();
            }
        });
        match spawned {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                are_all_there.get_or_init(|| false);
                // The threads return immediately, without a result.
                threads.into_iter().for_each(|thread| drop(thread.join()));
                return Err(error);
            }
        }
    }
    are_all_there.get_or_init(|| true);
    Ok(threads)
}

/// Guard that reports the end of a thread when dropped, also after a panic.
struct ThreadEndGuard(Option<Arc<CallDeadlines>>);

impl Drop for ThreadEndGuard {
    fn drop(&mut self) {
        if let Some(call_deadlines) = &self.0 {
            call_deadlines.leave();
        }
    }
}

fn work(
    job: &Job,
    script: &dyn Channels,
    signal: &StopSignal,
    gate: &Gate,
    messages: Sender<Message>,
    thread: u32,
    embedding: Option<Embedding>,
) -> Result<WorkerEnd, WorkerError> {
    let entry = GatePass { gate, has_passed: Cell::new(false) };
    if let Some(core) = job.cores.get(thread as usize % job.cores.len().max(1)) {
        pin::pin_to(*core)?;
    }
    Worker::new(job, script, signal, messages, thread, embedding)?.run(&entry)
}

impl Running {
    /// Asks the load to stop. The level can only rise.
    pub fn stop(&self, level: StopLevel) {
        if level == StopLevel::Go {
            return;
        }
        let now = self.origin.get().map(|origin| Instant::now().saturating_duration_since(*origin));
        let notice = if level == StopLevel::Drain { DRAIN_NOTICE } else { Duration::ZERO };
        self.signal.raise(level, now.map_or(0, |now| (now + notice).as_nanos() as u64));
    }

    /// Waits for the threads. Returns an error sentence for each thread that panicked.
    pub fn join(self) -> Result<(), Vec<String>> {
        let died: Vec<String> = self
            .threads
            .into_iter()
            .filter_map(|thread| {
                let name = thread.thread().name().unwrap_or_default().to_owned();
                thread.join().err().map(|_| format!("thread {name} died of an internal fault"))
            })
            .collect();
        if died.is_empty() { Ok(()) } else { Err(died) }
    }
}
