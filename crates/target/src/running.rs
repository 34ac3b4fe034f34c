//! Starts a target, and gives access to it while it runs.

use crate::database::Database;
use crate::endpoints;
use crate::gate::Gate;
use crate::handler;
use crate::limiter::Limiter;
use crate::listener::{Acceptor, Listener};
use crate::mailbox::{Mailbox, ReactorMessage};
use crate::settings::{Fault, Settings};
use crate::shared::{ServiceLog, Shared};
use crate::stalls::{Pause, Stalls};
use crate::stop::Stop;
use crate::tally::Counters;
use crate::trouble::{TroubleKind, Troubles};
use crate::worker::{Worker, WorkerHandle};
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

/// Stack size of handler threads. They only compute, and small stacks keep many of them cheap.
const HANDLER_STACK_BYTES: usize = 512 * 1024;

/// Reason why a target did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// All invalid settings.
    #[error("the target cannot start with these settings:{}", list(.0))]
    Faults(Vec<Fault>),
    /// The address is in use, or does not belong to this machine.
    #[error("cannot listen on {address}: {source}\n  help: port 0 takes a free one")]
    Address {
        /// Requested address.
        address: SocketAddr,
        /// Error of the system.
        source: io::Error,
    },
    /// The Unix socket could not be created.
    #[error("cannot listen on the Unix socket {}: {source}\n  help: the path must be short and the file must not exist", path.display())]
    Unix {
        /// Requested path.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The database could not be opened.
    #[error("cannot open the database: {reason}\n  help: name a file in a folder that can be written to")]
    Database {
        /// Error of SQLite or of the system.
        reason: String,
    },
    /// The system could not create a thread or a file descriptor.
    #[error(
        "cannot start a thread of the target: {0}; use fewer workers and threads, or raise the system's limits"
    )]
    Threads(#[source] io::Error),
}

fn list(faults: &[Fault]) -> String {
    faults.iter().map(|fault| format!("\n  {fault}")).collect()
}

/// Starts a target on its own threads, which runs until the handle is stopped or dropped.
pub fn start(settings: Settings) -> Result<Running, StartError> {
    let faults = settings.faults();
    if !faults.is_empty() {
        return Err(StartError::Faults(faults));
    }
    let (tcp, address) = Listener::tcp(settings.address, settings.backlog)
        .map_err(|source| StartError::Address { address: settings.address, source })?;
    let mut listeners = vec![tcp];
    if let Some(path) = &settings.unix {
        let unix = Listener::unix(path, settings.backlog)
            .map_err(|source| StartError::Unix { path: path.clone(), source })?;
        listeners.push(unix);
    }
    let database = Database::open(settings.database.as_deref(), settings.pool)
        .map_err(|error| StartError::Database { reason: error.to_string() })?;
    let started = Instant::now();
    let shared = Arc::new(Shared {
        first_request: OnceLock::new(),
        instance: RandomState::new().build_hasher().finish(),
        help: endpoints::help_page(&Settings { address, ..settings.clone() }),
        stop: Stop::default(),
        stalls: Stalls::new(settings.stall, started),
        troubles: Troubles::new(settings.trouble, started),
        limiter: settings.rate_limit.map(|limit| Limiter::new(limit, started)),
        database,
        service_log: ServiceLog::default(),
        tallies: (0..settings.workers).map(|_| Arc::default()).collect(),
        settings,
    });
    let waker = Mailbox::new().map_err(StartError::Threads)?;
    let mut running =
        Running { address, started, shared, worker_handles: Vec::new(), waker, threads: Vec::new() };
    // On an error, dropping `running` stops the threads started so far.
    running.spawn_workers().map_err(StartError::Threads)?;
    running.spawn_acceptor(listeners).map_err(StartError::Threads)?;
    Ok(running)
}

/// A running target. Dropping it stops the target.
pub struct Running {
    address: SocketAddr,
    started: Instant,
    shared: Arc<Shared>,
    worker_handles: Vec<WorkerHandle>,
    waker: Mailbox,
    threads: Vec<JoinHandle<()>>,
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Running {
    /// Returns the address that the target listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the start time, which is the origin of [`Pause`].
    pub fn started(&self) -> Instant {
        self.started
    }

    /// Returns the current counters.
    pub fn counters(&self) -> Counters {
        self.shared.counters()
    }

    /// Takes the service times of holds that finished since the last call, in microseconds and in order of completion. Empty unless
    /// `log_service` is set. At most ten million are kept: see [`Counters::unlogged`].
    pub fn take_service_log(&self) -> Vec<u64> {
        self.shared.service_log.take()
    }

    /// Returns the pauses caused by the stall schedule so far, per worker; the first 100000.
    pub fn stalls(&self) -> Vec<Pause> {
        self.shared.stalls.pauses()
    }

    /// Begins the configured trouble now. Does nothing if none is configured.
    pub fn begin_trouble(&self) {
        let kind = self.shared.troubles.begin();
        for worker_handle in &self.worker_handles {
            match kind {
                Some(TroubleKind::Reset) => worker_handle.mailbox.post(ReactorMessage::Reset),
                _ => worker_handle.mailbox.ring(),
            }
        }
    }

    /// Returns the number of rows in the table of `/insert`, or the error of SQLite.
    pub fn rows(&self) -> Result<u64, String> {
        self.shared.database.rows().map_err(|error| error.to_string())
    }

    /// Closes all connections, and waits until all threads have ended.
    pub fn stop(self) {
        drop(self);
    }

    fn spawn_workers(&mut self) -> io::Result<()> {
        let Settings { workers, threads, thread_pool, queue, .. } = self.shared.settings;
        for number in 0..workers {
            let worker_handle = WorkerHandle {
                mailbox: Arc::new(Mailbox::new()?),
                gate: Arc::new(Gate::new(threads, thread_pool, queue)),
                tally: Arc::clone(&self.shared.tallies[number]),
            };
            self.worker_handles.push(worker_handle.clone());
            for _ in 0..threads {
                let (shared, worker_handle) = (Arc::clone(&self.shared), worker_handle.clone());
                let builder = Builder::new().name("target-handler".into()).stack_size(HANDLER_STACK_BYTES);
                self.threads.push(builder.spawn(move || handler::run(&shared, &worker_handle))?);
            }
            let worker = Worker::new(number, Arc::clone(&self.shared), worker_handle)?;
            self.threads.push(Builder::new().name("target-worker".into()).spawn(|| worker.run())?);
        }
        Ok(())
    }

    fn spawn_acceptor(&mut self, listeners: Vec<Listener>) -> io::Result<()> {
        let acceptor =
            Acceptor::new(Arc::clone(&self.shared), listeners, self.worker_handles.clone(), &self.waker)?;
        self.threads.push(Builder::new().name("target-accept".into()).spawn(|| acceptor.run())?);
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.stop.set();
        self.waker.ring();
        for worker_handle in &self.worker_handles {
            worker_handle.gate.close();
            worker_handle.mailbox.ring();
        }
        for thread in self.threads.drain(..) {
            // Ignores a panic, which was already reported.
            let _ = thread.join();
        }
    }
}
