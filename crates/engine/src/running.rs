//! A load under way: its threads, its messages, and the way to stop it.

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

use crate::embedded::{Embedding, Guards};
use crate::job::Job;
use crate::net::cancel::Turn;
use crate::pin;
use crate::worker::Worker;

/// From the last worker at the gate to the beginning of the load: time enough for all of them to hear of it.
const LEAD: Duration = Duration::from_millis(2);

/// What workers tell while the load goes on.
#[derive(Debug)]
pub enum Message {
    /// All connections are open, and the load begins at this instant.
    Begins(Instant),
    /// A second of one worker is over.
    Interval {
        /// The number of the step.
        step: u16,
        /// What the worker saw of it.
        interval: Box<Interval>,
    },
    /// A window of a quarter of a second of one worker is over, or what there is of it when the worker is done. Windows come in
    /// order, without gaps; [`record::Pulses`] keeps them.
    Pulse {
        /// The number of the worker, from 0.
        worker: u32,
        /// What it saw.
        pulse: Pulse,
    },
    /// Windows of 100 ms of one worker, if the job asks for them; parts of a window add up, and may come late.
    Moments(Vec<Moment>),
    /// A worker is done.
    Ended(Box<WorkerEnd>),
    /// A worker cannot go on, in words: a fault of this program or its machine.
    Broke(String),
    /// The load cannot go on, in words: a log-in that will be refused every time, or a scenario that says so. It has ended for
    /// all workers, and one of them says why.
    Hopeless(String),
}

/// What a worker leaves behind besides its intervals.
#[derive(Clone, Debug, Default)]
pub struct WorkerEnd {
    /// What each of its connections saw.
    pub connections: Vec<ConnectionTotals>,
    /// How well it kept time.
    pub health: Health,
    /// How many connections could not be opened before the load, and why the first could not.
    pub opening_failures: Option<(u32, String)>,
    /// First replies of its connections that were compared.
    pub first_replies: Vec<FirstReplies>,
    /// When its load was to end, in nanoseconds since it began: by its time, or because it was asked to stop. `None`: its number
    /// of requests alone ended it.
    pub stopped_at_ns: Option<u64>,
    /// When an arrival of a load that opens connections by need found the last one taken, in nanoseconds since the load began. `None` if
    /// none did.
    pub limit_reached_ns: Option<u64>,
}

/// How much a load is asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopLevel {
    /// Not at all.
    Go,
    /// Start nothing more, wait for what is in flight.
    Drain,
    /// Leave what is in flight.
    Abort,
}

/// Workers look up at least every tenth of a second; a load that is asked to drain ends a little later, at the same instant
/// for all of them, so that its window has one end.
const NOTICE: Duration = Duration::from_millis(150);

/// The stop level, as all threads see it, and what else they share.
#[derive(Debug)]
pub(crate) struct StopSignal {
    /// Whose cancellation is sent next.
    pub(crate) cancel_turn: Turn,
    level: AtomicU8,
    /// When the load ends, in nanoseconds since it began; [`u64::MAX`] until it is asked to stop.
    ends_at_ns: AtomicU64,
    is_broken: AtomicBool,
    users_gone: AtomicU32,
}

impl Default for StopSignal {
    fn default() -> Self {
        Self {
            cancel_turn: Turn::default(),
            level: AtomicU8::new(0),
            ends_at_ns: AtomicU64::new(u64::MAX),
            is_broken: AtomicBool::new(false),
            users_gone: AtomicU32::new(0),
        }
    }
}

impl StopSignal {
    /// A user makes no further request; how many do not by now.
    pub(crate) fn user_is_gone(&self) -> u32 {
        self.users_gone.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// How much the load is asked to stop at this instant.
    #[inline]
    pub(crate) fn level(&self, now_ns: u64) -> StopLevel {
        match self.level.load(Ordering::Acquire) {
            0 => StopLevel::Go,
            1 if now_ns < self.ends_at_ns.load(Ordering::Relaxed) => StopLevel::Go,
            1 => StopLevel::Drain,
            _ => StopLevel::Abort,
        }
    }

    /// Whether the load is asked to be left at once.
    pub(crate) fn is_aborted(&self) -> bool {
        self.level.load(Ordering::Acquire) >= StopLevel::Abort as u8
    }

    /// When the load ends, if it was asked to stop.
    #[inline]
    pub(crate) fn ends_at_ns(&self) -> Option<u64> {
        (self.level.load(Ordering::Acquire) > 0).then(|| self.ends_at_ns.load(Ordering::Relaxed))
    }

    /// `ends_at_ns`: the end of the load; an earlier one that was asked for before stays.
    fn raise(&self, level: StopLevel, ends_at_ns: u64) {
        self.ends_at_ns.fetch_min(ends_at_ns, Ordering::Relaxed);
        self.level.fetch_max(level as u8, Ordering::Release);
    }

    /// Ends the whole load; says whether this is the first thread to do so.
    pub(crate) fn break_off(&self, now_ns: u64) -> bool {
        self.raise(StopLevel::Abort, now_ns);
        !self.is_broken.swap(true, Ordering::Relaxed)
    }
}

/// Why a worker could not go on to the end of the load.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The machine.
    Machine(Errno),
    /// The load itself, in words.
    Load(String),
}

impl From<Errno> for Trouble {
    fn from(errno: Errno) -> Self {
        Self::Machine(errno)
    }
}

/// Where workers wait for one another before the load.
pub(crate) struct Gate {
    barrier: Barrier,
    origin: Arc<OnceLock<Instant>>,
    messages: Sender<Message>,
}

impl Gate {
    /// Waits for all workers; returns when the load begins, the same for everyone.
    fn pass(&self) -> Instant {
        self.barrier.wait();
        *self.origin.get_or_init(|| {
            let origin = Instant::now() + LEAD;
            let _ = self.messages.send(Message::Begins(origin));
            origin
        })
    }

    /// When the load begins, once that is known.
    pub(crate) fn origin(&self) -> Option<Instant> {
        self.origin.get().copied()
    }
}

/// One worker's way through the gate: even a worker that dies before it must not keep the others waiting.
pub(crate) struct Entry<'a> {
    gate: &'a Gate,
    has_passed: Cell<bool>,
}

impl Entry<'_> {
    pub(crate) fn pass(&self) -> Instant {
        self.has_passed.set(true);
        self.gate.pass()
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        if !self.has_passed.get() {
            self.gate.pass();
        }
    }
}

/// A load under way.
#[derive(Debug)]
pub struct Running {
    /// What the workers tell. It ends when all of them are done.
    pub messages: Receiver<Message>,
    signal: Arc<StopSignal>,
    /// When the load began, once it has. The gate itself would keep the row of messages open.
    origin: Arc<OnceLock<Instant>>,
    threads: Vec<JoinHandle<()>>,
    /// Workers that will say when they are done, each once: [`Message::Ended`], [`Message::Broke`] or
    /// [`Message::Hopeless`].
    pub workers: u32,
}

/// Starts the threads of a job. The connections are opened first; [`Message::Begins`] says when the load begins. Where a peer is in
/// this process, each connection has a thread of its own.
pub fn start(job: Job, script: impl Channels + 'static) -> io::Result<Running> {
    launch(job, Arc::new(script))
}

fn launch(mut job: Job, script: Arc<dyn Channels>) -> io::Result<Running> {
    let is_in_process = (0..job.peers()).any(|peer| script.is_in_process(peer));
    let embedding = is_in_process.then(|| Embedding::of(&mut job));
    let connections = job.fewest_connections().max(1);
    if connections < job.share.of {
        let why = format!("{connections} connections cannot be divided among {} generators", job.share.of);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    if embedding.is_none() && (job.is_pooled() || job.share != Share::WHOLE) {
        // Users of a thread without connections would wait for ever, and nobody would send its requests.
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
            let _leaving = Leaving(embedding.as_ref().map(|embedding| Arc::clone(&embedding.guards)));
            let message = match work(&job, &*script, &signal, &gate, sender.clone(), index, embedding) {
                Ok(end) => Message::Ended(Box::new(end)),
                Err(Trouble::Machine(errno)) => {
                    Message::Broke(format!("load thread {index} cannot continue: {errno}"))
                }
                Err(Trouble::Load(words)) => Message::Hopeless(words),
            };
            let _ = sender.send(message);
        });
        (format!("load-{index}"), work)
    });
    let watch = watched.map(|Embedding { guards, .. }| {
        let (gate, signal) = (Arc::clone(&gate), Arc::clone(&signal));
        let watch: Task = Box::new(move || guards.watch(&gate, &signal));
        ("load-watch".to_owned(), watch)
    });
    let threads = start_all(workers.chain(watch))?;
    Ok(Running { messages, signal, origin, threads, workers: count })
}

/// What a thread does.
type Task = Box<dyn FnOnce() + Send>;

/// Starts a thread for each task. Where one cannot be started, none of the tasks is begun: workers would wait at the gate for
/// one that never comes.
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
                // They return at once, without a result.
                threads.into_iter().for_each(|thread| drop(thread.join()));
                return Err(error);
            }
        }
    }
    are_all_there.get_or_init(|| true);
    Ok(threads)
}

/// Says that a thread is done, however it ends.
struct Leaving(Option<Arc<Guards>>);

impl Drop for Leaving {
    fn drop(&mut self) {
        if let Some(guards) = &self.0 {
            guards.leave();
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
) -> Result<WorkerEnd, Trouble> {
    let entry = Entry { gate, has_passed: Cell::new(false) };
    if let Some(core) = job.cores.get(thread as usize % job.cores.len().max(1)) {
        pin::pin_to(*core)?;
    }
    Worker::new(job, script, signal, messages, thread, embedding)?.run(&entry)
}

impl Running {
    /// Asks the load to stop, at least as much as it was asked before.
    pub fn stop(&self, level: StopLevel) {
        if level == StopLevel::Go {
            return;
        }
        let now = self.origin.get().map(|origin| Instant::now().saturating_duration_since(*origin));
        let notice = if level == StopLevel::Drain { NOTICE } else { Duration::ZERO };
        self.signal.raise(level, now.map_or(0, |now| (now + notice).as_nanos() as u64));
    }

    /// Waits for the threads; says which of them died of a fault of this program.
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
