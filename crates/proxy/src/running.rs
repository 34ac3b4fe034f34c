//! Handle of a running proxy: changes settings, reads counters, and stops it.

use std::io;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::io::Errno;
use sockets::{Endpoint, descriptors};

use crate::commands::{ProxyCommand, Shared};
use crate::counters::Counters;
use crate::listener::Listener;
use crate::reactor::Reactor;
use crate::settings::{CONNECTIONS, ProxyConfig, Settings};

/// Number of file descriptors reserved for other uses than connections.
const DESCRIPTORS_RESERVED: u64 = 32;

/// Reason why a proxy could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The listening socket could not be opened.
    #[error("cannot listen on {endpoint}: {error}")]
    Listen {
        /// Requested endpoint.
        endpoint: Endpoint,
        /// Error of the system.
        error: io::Error,
    },
    /// The limit on open files is too low.
    #[error("{connections} connections need {need} file descriptors, and the limit is {have}")]
    Descriptors {
        /// Requested number of connections.
        connections: u32,
        /// Number of file descriptors they need.
        need: u64,
        /// Hard limit.
        have: u64,
    },
    /// The system could not create a thread or a descriptor.
    #[error("cannot start the proxy: {0}")]
    System(#[from] io::Error),
}

/// A running proxy. Dropping it stops the proxy.
pub struct Running {
    endpoint: Endpoint,
    connections_max: u32,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Starts a proxy in its own thread. Resolves and checks nothing: the caller decides which targets are allowed.
///
/// # Errors
///
/// If the proxy cannot listen, or if the system lacks resources.
pub fn start(config: &ProxyConfig, settings: Settings) -> Result<Running, StartError> {
    let connections_max = connections_max(config.connections_max)?;
    let listener = Listener::bind(&config.listen)
        .map_err(|error| StartError::Listen { endpoint: config.listen.clone(), error })?;
    let endpoint = listener.endpoint.clone();
    let shared = Arc::new(Shared::new()?);
    let (sender, outcome) = mpsc::channel::<Result<(), Errno>>();
    let thread = std::thread::Builder::new().name("proxy".to_owned()).spawn({
        let (config, shared) = (config.clone(), Arc::clone(&shared));
        move || match Reactor::new(&config, connections_max, settings, listener, &shared) {
            Ok(reactor) => {
                // The starting thread waits for this message.
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
    let have = descriptors::raise_limit();
    let possible = have.saturating_sub(DESCRIPTORS_RESERVED) / 2;
    match asked {
        Some(connections) if u64::from(connections) > possible => Err(StartError::Descriptors {
            connections,
            need: 2 * u64::from(connections) + DESCRIPTORS_RESERVED,
            have,
        }),
        Some(connections) => Ok(connections),
        None => Ok(possible.clamp(1, CONNECTIONS.into()) as u32),
    }
}

impl Running {
    /// Returns the endpoint for clients, with the actual port.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns the maximum number of concurrently open connections.
    pub fn connections_max(&self) -> u32 {
        self.connections_max
    }

    /// Changes the settings. Data in transit keeps its delay.
    pub fn change(&self, settings: Settings) {
        self.shared.post(ProxyCommand::Change(settings));
    }

    /// Stops forwarding for this duration. Of two overlapping stalls, the later end counts.
    pub fn stall(&self, lasting: Duration) {
        self.shared.post(ProxyCommand::Stall(lasting));
    }

    /// Resets all open connections.
    pub fn reset_all(&self) {
        self.shared.post(ProxyCommand::ResetAll);
    }

    /// Returns the current counters.
    pub fn counters(&self) -> Counters {
        // Percentiles are computed from a copy, so that the proxy does not wait for them.
        let tally = self.shared.tally().clone();
        tally.counters()
    }

    /// Closes all connections, ends the thread, and returns the final counters.
    pub fn stop(mut self) -> Counters {
        self.end();
        self.counters()
    }

    fn end(&mut self) {
        self.shared.post(ProxyCommand::Stop);
        if let Some(thread) = self.thread.take() {
            // The thread returns nothing except its counters.
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}
