//! A proxy that runs: settings that can be changed, counters that can be read, and its end.

use std::io;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::io::Errno;
use sockets::{Endpoint, descriptors};

use crate::counters::Counters;
use crate::listener::Listener;
use crate::orders::{Order, Shared};
use crate::reactor::Reactor;
use crate::settings::{CONNECTIONS, Place, Settings};

/// Descriptors that are not connections.
const DESCRIPTORS_ASIDE: u64 = 32;

/// Why a proxy could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Nobody can connect there.
    #[error("cannot listen on {endpoint}: {error}")]
    Listen {
        /// Where.
        endpoint: Endpoint,
        /// What the system said.
        error: io::Error,
    },
    /// The limit on open files is too low.
    #[error("{connections} connections need {need} file descriptors, and the limit is {have}")]
    Descriptors {
        /// What was asked for.
        connections: u32,
        /// What they need.
        need: u64,
        /// The hard limit.
        have: u64,
    },
    /// The system gives no thread, or no descriptor.
    #[error("cannot start the proxy: {0}")]
    System(#[from] io::Error),
}

/// A proxy at work. It stops when this is dropped.
pub struct Running {
    endpoint: Endpoint,
    connections_max: u32,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Starts a proxy in a thread of its own. Nothing is looked up or checked here: the caller says whom it may reach.
///
/// # Errors
///
/// It cannot listen, or the system has no room for it.
pub fn start(place: &Place, settings: Settings) -> Result<Running, StartError> {
    let connections_max = connections_max(place.connections_max)?;
    let listener = Listener::bind(&place.listen)
        .map_err(|error| StartError::Listen { endpoint: place.listen.clone(), error })?;
    let endpoint = listener.endpoint.clone();
    let shared = Arc::new(Shared::new()?);
    let (sender, outcome) = mpsc::channel::<Result<(), Errno>>();
    let thread = std::thread::Builder::new().name("proxy".to_owned()).spawn({
        let (place, shared) = (place.clone(), Arc::clone(&shared));
        move || match Reactor::new(&place, connections_max, settings, listener, &shared) {
            Ok(reactor) => {
                // Whoever asked waits for it.
                let _ = sender.send(Ok(()));
                reactor.run();
            }
            Err(errno) => {
                let _ = sender.send(Err(errno));
            }
        }
    })?;
    match outcome.recv() {
        Ok(Ok(())) => Ok(Running { endpoint, connections_max, shared, thread: Some(thread) }),
        Ok(Err(errno)) => Err(StartError::System(errno.into())),
        Err(_) => Err(StartError::System(io::Error::other("its thread ended at once"))),
    }
}

fn connections_max(asked: Option<u32>) -> Result<u32, StartError> {
    let have = descriptors::raise();
    let possible = have.saturating_sub(DESCRIPTORS_ASIDE) / 2;
    match asked {
        Some(connections) if u64::from(connections) > possible => Err(StartError::Descriptors {
            connections,
            need: 2 * u64::from(connections) + DESCRIPTORS_ASIDE,
            have,
        }),
        Some(connections) => Ok(connections),
        None => Ok(possible.clamp(1, CONNECTIONS.into()) as u32),
    }
}

impl Running {
    /// Where clients connect, with the port that it became.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The most connections that are open at a time.
    pub fn connections_max(&self) -> u32 {
        self.connections_max
    }

    /// Changes what is done from now on. Data that is on its way keeps its delay.
    pub fn change(&self, settings: Settings) {
        self.shared.post(Order::Change(settings));
    }

    /// Passes nothing on for so long. A stall within a stall makes it longer if it ends later.
    pub fn stall(&self, lasting: Duration) {
        self.shared.post(Order::Stall(lasting));
    }

    /// Resets every connection that is open.
    pub fn reset_all(&self) {
        self.shared.post(Order::ResetAll);
    }

    /// What was done so far.
    pub fn counters(&self) -> Counters {
        // Percentiles are computed of a copy, so that the proxy does not wait for them.
        let tally = self.shared.tally().clone();
        tally.counters()
    }

    /// Closes every connection, ends the thread, and says what was done.
    pub fn stop(mut self) -> Counters {
        self.end();
        self.counters()
    }

    fn end(&mut self) {
        self.shared.post(Order::Stop);
        if let Some(thread) = self.thread.take() {
            // It has nothing to tell beyond its counters.
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}
