//! A server that does exactly what a script says, for tests of how a client takes faults.
//!
//! One thread per connection, at most [`MOST_CONNECTIONS`] at a time, all gone when the handle is.

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

/// Connections served at a time; one more is closed at once.
pub const MOST_CONNECTIONS: usize = 1000;

/// Pause when a connection could not be accepted.
const BREATH: Duration = Duration::from_millis(5);
/// Scripts are shallow; small stacks keep many connections cheap.
const STACK_BYTES: usize = 256 * 1024;

/// What happens on one connection, step by step; after the last step it is closed,
/// which the system turns into a reset if input was left unread.
/// A step that fails because the peer is gone ends the script.
#[derive(Clone, Debug, Default)]
pub struct Script(pub Vec<Step>);

/// One thing a hostile server does.
#[derive(Clone, Debug)]
pub enum Step {
    /// Reads one request: up to the blank line, and as many bytes more as its Content-Length says.
    /// Pipelined bytes are kept for the next read.
    ReadRequest,
    /// Reads exactly so many bytes.
    ReadBytes(usize),
    /// Sends bytes in one go.
    Send(Vec<u8>),
    /// Sends bytes `chunk` at a time, with a pause after each chunk.
    SendSlowly {
        /// All of what is sent.
        bytes: Vec<u8>,
        /// The pause.
        every: Duration,
        /// Bytes at a time; 0 counts as 1.
        chunk: usize,
    },
    /// Sends bytes over and over, until the peer or the server is gone.
    SendForever {
        /// What is repeated; nothing holds the connection open instead.
        bytes: Vec<u8>,
        /// The pause after each repetition.
        every: Option<Duration>,
    },
    /// Does nothing for a while.
    Wait(Duration),
    /// Ends the sending side, then reads until the peer has closed too.
    CloseGracefully,
    /// Breaks the connection with a reset.
    Reset,
    /// Keeps the connection open and silent, reading nothing, until the server is gone.
    HoldOpen,
    /// Plays the script again and again, until the peer or the server is gone.
    Loop(Box<Script>),
}

/// Starts a server on a free loopback port; `script_for` gets the number of each connection, from 0, in order of arrival.
///
/// Errors: the system gave no socket or thread.
pub fn start(script_for: impl Fn(usize) -> Script + Send + Sync + 'static) -> io::Result<Scripted> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let waker = listener.try_clone()?;
    let stage = Arc::new(Stage::default());
    let accepting = Arc::clone(&stage);
    let accept = move || accepting.accept(&listener, &script_for);
    let acceptor = Builder::new().name("scripted-accept".into()).spawn(accept)?;
    Ok(Scripted { address, waker, stage, acceptor: Some(acceptor) })
}

/// A scripted server at work. Dropping it stops it.
pub struct Scripted {
    address: SocketAddr,
    waker: TcpListener,
    stage: Arc<Stage>,
    acceptor: Option<JoinHandle<()>>,
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripted").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Scripted {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connections accepted so far.
    pub fn connections(&self) -> usize {
        self.stage.connections.load(Ordering::Acquire)
    }

    /// Requests that [`Step::ReadRequest`] has read whole so far.
    pub fn requests(&self) -> usize {
        self.stage.requests.load(Ordering::Acquire)
    }

    /// Breaks off every script and waits until all threads are gone.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.stage.stop.set();
        // A listening socket that is shut down wakes the thread that waits in accept.
        let _ = rustix::net::shutdown(&self.waker, Shutdown::Both);
        if let Some(acceptor) = self.acceptor.take() {
            // A thread that panicked has told so; there is nothing left to wait for.
            let _ = acceptor.join();
        }
    }
}

/// What the threads of one scripted server share.
#[derive(Default)]
struct Stage {
    stop: Stop,
    connections: AtomicUsize,
    requests: AtomicUsize,
    /// A second handle of every open connection, to break it off at stop.
    open: Mutex<HashMap<usize, TcpStream>>,
}

impl Stage {
    fn accept(self: &Arc<Self>, listener: &TcpListener, script_for: &impl Fn(usize) -> Script) {
        let mut players: Vec<JoinHandle<()>> = Vec::new();
        while !self.stop.is_set() {
            let Ok((socket, _)) = listener.accept() else {
                std::thread::sleep(BREATH);
                continue;
            };
            let number = self.connections.fetch_add(1, Ordering::AcqRel);
            players.retain(|player| !player.is_finished());
            if players.len() < MOST_CONNECTIONS && !self.stop.is_set() {
                // Without a thread the connection is closed at once, as one too many is.
                players.extend(self.play(number, socket, script_for(number)).ok());
            }
        }
        for socket in self.open().values() {
            // It may be closed already.
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
            // The second handle goes first: only the last one closes the connection.
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
