//! Addresses that never answer and addresses that refuse.

use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// Connections tried before giving up on filling an accept queue.
const MOST_FILLERS: usize = 16;
/// A loopback handshake that takes longer has been dropped.
const DROPPED_AFTER: Duration = Duration::from_millis(100);

/// A loopback address where connecting neither succeeds nor fails: its accept queue is full and stays so.
#[derive(Debug)]
pub struct Blackhole {
    address: SocketAddr,
    _listener: TcpListener,
    _fillers: Vec<TcpStream>,
}

impl Blackhole {
    /// Where nobody answers.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Makes a [`Blackhole`]; it lasts until the handle is dropped.
///
/// Errors: the system gave no socket, or kept accepting into a queue that should be full.
pub fn blackhole() -> io::Result<Blackhole> {
    let listener = bound()?;
    rustix::net::listen(&listener, 0)?;
    let address = listener.local_addr()?;
    let mut fillers = Vec::new();
    while fillers.len() < MOST_FILLERS {
        match TcpStream::connect_timeout(&address, DROPPED_AFTER) {
            Ok(filler) => fillers.push(filler),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                return Ok(Blackhole { address, _listener: listener, _fillers: fillers });
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("{address} accepted {MOST_FILLERS} connections into a queue of none")))
}

/// A loopback address that refuses: the port is taken, and nobody listens on it.
#[derive(Debug)]
pub struct ClosedPort {
    address: SocketAddr,
    _socket: TcpListener,
}

impl ClosedPort {
    /// Where connecting is refused.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Takes a port without listening on it; it stays closed until the handle is dropped.
///
/// Errors: the system gave no socket.
pub fn closed_port() -> io::Result<ClosedPort> {
    let socket = bound()?;
    Ok(ClosedPort { address: socket.local_addr()?, _socket: socket })
}

/// A socket with a loopback port that does not listen yet.
fn bound() -> io::Result<TcpListener> {
    let socket =
        rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    rustix::net::bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    Ok(TcpListener::from(socket))
}
