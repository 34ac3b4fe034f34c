//! Scripted server for tests of a client's error handling: it executes a script exactly.
//!
//! The server runs one thread per connection, at most [`CONNECTIONS_MAX`] at a time. Dropping the handle ends all threads.

mod play;
mod ports;

pub use ports::{Blackhole, ClosedPort, blackhole, closed_port};

use crate::stop::Stop;
use rustix::net::Shutdown;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Maximum number of concurrent connections. Further ones are closed immediately.
pub const CONNECTIONS_MAX: usize = 1000;

/// Pause after a failed accept.
const ACCEPT_PAUSE: Duration = Duration::from_millis(5);
/// Stack size of a connection's thread. Scripts are shallow, and small stacks keep many connections cheap.
const STACK_BYTES: usize = 256 * 1024;

/// Steps on one connection. The connection is closed after the last step; the kernel resets it if input is unread. A step that
/// fails because the peer has disconnected ends the script.
#[derive(Clone, Debug, Default)]
pub struct Script(pub Vec<Step>);

/// One step of a scripted server.
#[derive(Clone, Debug)]
pub enum Step {
    /// Reads one request: up to the blank line, plus the number of bytes in its Content-Length. Keeps pipelined bytes for the next
    /// read.
    ReadRequest,
    /// Reads exactly this many bytes.
    ReadBytes(usize),
    /// Sends bytes in one write.
    Send(Vec<u8>),
    /// Sends bytes in chunks, with a pause after each chunk.
    SendSlowly {
        /// Bytes to send.
        bytes: Vec<u8>,
        /// Pause after each chunk.
        every: Duration,
        /// Chunk size in bytes; 0 counts as 1.
        chunk: usize,
    },
    /// Sends bytes repeatedly, until the peer disconnects or the server stops.
    SendForever {
        /// Bytes to repeat. If empty, the connection is only held open.
        bytes: Vec<u8>,
        /// Pause after each repetition. `None` for no pause.
        every: Option<Duration>,
    },
    /// Waits.
    Wait(Duration),
    /// Closes the sending side, then reads until the peer has closed too.
    CloseGracefully,
    /// Resets the connection.
    Reset,
    /// Keeps the connection open without reading or writing, until the server stops.
    HoldOpen,
    /// Repeats the script, until the peer disconnects or the server stops.
    Loop(Box<Script>),
}

/// Starts a server on a free loopback port. `script_for` gets the number of each connection, from 0 in order of acceptance.
///
/// Fails if the system cannot create a socket or a thread.
pub fn start(script_for: impl Fn(usize) -> Script + Send + Sync + 'static) -> io::Result<Scripted> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let waker = listener.try_clone()?;
    let stage = Arc::new(ServerState::default());
    let accepting = Arc::clone(&stage);
    let accept = move || accepting.accept(&listener, &script_for);
    let acceptor = Builder::new().name("scripted-accept".into()).spawn(accept)?;
    Ok(Scripted { address, waker, stage, acceptor: Some(acceptor) })
}

/// A running scripted server. Dropping it stops the server.
pub struct Scripted {
    address: SocketAddr,
    waker: TcpListener,
    stage: Arc<ServerState>,
    acceptor: Option<JoinHandle<()>>,
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripted").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Scripted {
    /// Returns the address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the number of accepted connections.
    pub fn connections(&self) -> usize {
        self.stage.connections.load(Ordering::Acquire)
    }

    /// Returns the number of requests that [`Step::ReadRequest`] has read completely.
    pub fn requests(&self) -> usize {
        self.stage.requests.load(Ordering::Acquire)
    }

    /// Aborts all scripts, and waits until all threads have ended.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.stage.stop.set();
        // Shutting down a listening socket wakes the thread that waits in accept.
        let _ = rustix::net::shutdown(&self.waker, Shutdown::Both);
        if let Some(acceptor) = self.acceptor.take() {
            // Ignores a panic, which was already reported.
            let _ = acceptor.join();
        }
    }
}

/// State shared by the threads of one scripted server.
#[derive(Default)]
struct ServerState {
    stop: Stop,
    connections: AtomicUsize,
    requests: AtomicUsize,
    /// Second handle of every open connection, to abort it when the server stops.
    open: Mutex<HashMap<usize, TcpStream>>,
}

impl ServerState {
    fn accept(self: &Arc<Self>, listener: &TcpListener, script_for: &impl Fn(usize) -> Script) {
        let mut players: Vec<JoinHandle<()>> = Vec::new();
        while !self.stop.is_set() {
            let Ok((socket, _)) = listener.accept() else {
                std::thread::sleep(ACCEPT_PAUSE);
                continue;
            };
            let number = self.connections.fetch_add(1, Ordering::AcqRel);
            players.retain(|player| !player.is_finished());
            if players.len() < CONNECTIONS_MAX && !self.stop.is_set() {
                // If no thread can be started, the connection is closed immediately, like a connection above the limit.
                players.extend(self.play(number, socket, script_for(number)).ok());
            }
        }
        for socket in self.open().values() {
            // The connection may already be closed.
            let _ = socket.shutdown(std::net::Shutdown::Both);
        }
        for player in players {
            let _ = player.join();
        }
    }

    fn play(
        self: &Arc<Self>,
        number: usize,
        socket: TcpStream,
        script: Script,
    ) -> io::Result<JoinHandle<()>> {
        self.open().insert(number, socket.try_clone()?);
        let stage = Arc::clone(self);
        let play = move || {
            let mut player = play::Player::new(&socket, &stage.stop, &stage.requests);
            let end = player.play(&script);
            // Drops the second handle first, because the connection is closed only when the last handle is dropped.
            stage.open().remove(&number);
            if end == play::End::Reset {
                play::reset(&socket);
            }
        };
        let player = Builder::new().name("scripted".into()).stack_size(STACK_BYTES).spawn(play);
        if player.is_err() {
            self.open().remove(&number);
        }
        player
    }

    fn open(&self) -> MutexGuard<'_, HashMap<usize, TcpStream>> {
        self.open.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
