//! Loads on a system in this process: one thread per connection, blocking calls, and a thread that interrupts calls at their
//! deadlines.

use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use load::Load;
use wire::{InProcess, Interrupt, Script};

use crate::clock::Clock;
use crate::driver::ArrivalQueue;
use crate::job::Job;
use crate::running::{Gate, Running, StopSignal, start};
use crate::timers::NEVER;

/// Interval at which running calls are checked against their deadlines.
const WATCH_INTERVAL: Duration = Duration::from_millis(10);

/// State shared by the workers of a load with a system in this process.
#[derive(Clone)]
pub(crate) struct Embedding {
    /// Send times of an open load. All threads share them, so that a thread blocked in a call does not delay the requests of
    /// others.
    pub(crate) arrivals: Option<Arc<Mutex<ArrivalQueue>>>,
    pub(crate) call_deadlines: Arc<CallDeadlines>,
}

impl Embedding {
    /// Sets up a job with one thread per connection.
    pub(crate) fn of(job: &mut Job) -> Self {
        job.threads = job.share.of_total(job.connections().max(1).into()) as u32;
        job.cores.clear();
        // Each thread has its own connection to each peer.
        job.peers.iter_mut().for_each(|peer| peer.pool = None);
        let arrivals = match &job.load {
            Load::Open(open) => {
                let (arrivals, stop) = (open.arrivals(job.share), job.stop.share(job.share));
                Some(Arc::new(Mutex::new(ArrivalQueue::new(arrivals, job.share, stop, job.warm_up_ns))))
            }
            Load::Closed(_) => None,
        };
        Self { arrivals, call_deadlines: Arc::new(CallDeadlines::new(job.threads as usize)) }
    }
}

/// Starts a job on a system in this process, with one thread per connection. Ignores [`Job::threads`], [`Job::cores`], and the addresses of
/// the job, and otherwise behaves like [`crate::start`]. Deadlines are enforced by interrupting calls, if the conversation supports it.
/// Otherwise a call that takes too long blocks its thread until it returns, and then counts as timed out.
pub fn start_embedded<S>(job: Job, script: S) -> io::Result<Running>
where
    S: Script + 'static,
    S::Conversation: 'static,
{
    start(job, InProcess(script))
}

/// Deadlines of the running calls of all threads, for the thread that watches them.
pub(crate) struct CallDeadlines {
    list: Vec<CallDeadline>,
    /// Number of threads that have not finished.
    left: AtomicUsize,
}

struct CallDeadline {
    /// Deadline of the running call; [`NEVER`] if there is none.
    until_ns: AtomicU64,
    interrupt: Mutex<Option<Interrupt>>,
}

impl CallDeadlines {
    fn new(threads: usize) -> Self {
        let guard = |_| CallDeadline { until_ns: AtomicU64::new(NEVER), interrupt: Mutex::new(None) };
        Self { list: (0..threads).map(guard).collect(), left: AtomicUsize::new(threads) }
    }

    /// Sets the function that interrupts later calls of a thread. `None` if calls cannot be interrupted.
    pub(crate) fn arm(&self, thread: usize, interrupt: Option<Interrupt>) {
        *lock_unpoisoned(&self.list[thread].interrupt) = interrupt;
    }

    /// Sets the deadline of a thread's call when it begins. [`NEVER`] marks its end.
    #[inline]
    pub(crate) fn set(&self, thread: usize, until_ns: u64) {
        self.list[thread].until_ns.store(until_ns, Ordering::Relaxed);
    }

    /// Counts a thread as finished.
    pub(crate) fn leave(&self) {
        self.left.fetch_sub(1, Ordering::Relaxed);
    }

    /// Interrupts calls whose deadline has passed, and all calls once the load is aborted. Returns when all threads have finished.
    pub(crate) fn watch(&self, gate: &Gate, signal: &StopSignal) {
        while self.left.load(Ordering::Relaxed) > 0 {
            Clock::sleep(WATCH_INTERVAL.as_nanos() as u64);
            // Before the load begins, the only calls are those that open connections.
            let Some(origin) = gate.origin() else { continue };
            let now_ns = Clock::from(origin).now();
            let is_over = signal.is_aborted();
            for guard in &self.list {
                let until_ns = guard.until_ns.load(Ordering::Relaxed);
                if until_ns != NEVER
                    && (is_over || until_ns < now_ns)
                    && let Some(interrupt) = &*lock_unpoisoned(&guard.interrupt)
                {
                    interrupt();
                }
            }
        }
    }
}

/// Locks a mutex even if a thread that held it panicked: the data stays valid.
pub(crate) fn lock_unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
