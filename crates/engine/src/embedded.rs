//! Loads on a system in this very process: one thread per link, and calls that block.

use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use load::Load;
use wire::{InProcess, Interrupt, Script};

use crate::clock::Clock;
use crate::driver::Row;
use crate::job::Job;
use crate::running::{Gate, Running, StopSignal, start};
use crate::timers::NEVER;

/// How often calls are looked at that may have to be interrupted.
const WATCH: Duration = Duration::from_millis(10);

/// What the workers of a load with a system in this process share.
#[derive(Clone)]
pub(crate) struct Embedding {
    /// The arrivals of an open load, which all threads share: a thread that is kept up must not keep others waiting.
    pub(crate) arrivals: Option<Arc<Mutex<Row>>>,
    pub(crate) guards: Arc<Guards>,
}

impl Embedding {
    /// Gives a job one thread for each link.
    pub(crate) fn of(job: &mut Job) -> Self {
        job.threads = job.share.of_total(job.connections().max(1).into()) as u32;
        job.cores.clear();
        // A thread has one connection to each peer.
        job.peers.iter_mut().for_each(|peer| peer.pool = None);
        let arrivals = match &job.load {
            Load::Open(open) => {
                let (arrivals, stop) = (open.arrivals(job.share), job.stop.share(job.share));
                Some(Arc::new(Mutex::new(Row::new(arrivals, job.share, stop, job.warm_up_ns))))
            }
            Load::Closed(_) => None,
        };
        Self { arrivals, guards: Arc::new(Guards::new(job.threads as usize)) }
    }
}

/// Starts a job on a system in this process, with one thread for each connection: [`Job::threads`], [`Job::cores`] and the
/// addresses of the job do not count. All else is as with [`crate::start`]. Deadlines are kept by interrupting calls,
/// where the conversation can; without that a call that ends too late has timed out, but holds its thread until then.
pub fn start_embedded<S>(job: Job, script: S) -> io::Result<Running>
where
    S: Script + 'static,
    S::Conversation: 'static,
{
    start(job, InProcess(script))
}

/// What the threads are doing, as the one that watches them sees it.
pub(crate) struct Guards {
    list: Vec<Guard>,
    /// Threads that are not done.
    left: AtomicUsize,
}

struct Guard {
    /// When the call under way must be over; [`NEVER`] while there is none.
    until_ns: AtomicU64,
    interrupt: Mutex<Option<Interrupt>>,
}

impl Guards {
    fn new(threads: usize) -> Self {
        let guard = |_| Guard { until_ns: AtomicU64::new(NEVER), interrupt: Mutex::new(None) };
        Self { list: (0..threads).map(guard).collect(), left: AtomicUsize::new(threads) }
    }

    /// Says how calls of a thread are interrupted from now on.
    pub(crate) fn arm(&self, thread: usize, interrupt: Option<Interrupt>) {
        *locked(&self.list[thread].interrupt) = interrupt;
    }

    /// A call of a thread begins, or ends at [`NEVER`].
    #[inline]
    pub(crate) fn set(&self, thread: usize, until_ns: u64) {
        self.list[thread].until_ns.store(until_ns, Ordering::Relaxed);
    }

    /// A thread is done.
    pub(crate) fn leave(&self) {
        self.left.fetch_sub(1, Ordering::Relaxed);
    }

    /// Interrupts calls that take too long, and all of them once the load is to end at once, until all threads are done.
    pub(crate) fn watch(&self, gate: &Gate, signal: &StopSignal) {
        while self.left.load(Ordering::Relaxed) > 0 {
            Clock::sleep(WATCH.as_nanos() as u64);
            // Before the load begins no call is made but those that open a connection.
            let Some(origin) = gate.origin() else { continue };
            let now_ns = Clock::from(origin).now();
            let is_over = signal.is_aborted();
            for guard in &self.list {
                let until_ns = guard.until_ns.load(Ordering::Relaxed);
                if until_ns != NEVER
                    && (is_over || until_ns < now_ns)
                    && let Some(interrupt) = &*locked(&guard.interrupt)
                {
                    interrupt();
                }
            }
        }
    }
}

/// What a thread that died has left is as good as what it would have.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
