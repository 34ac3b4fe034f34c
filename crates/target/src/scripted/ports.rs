//! Addresses that never respond, and addresses that refuse connections.

use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// Maximum number of connections for filling an accept queue.
const FILLERS_MAX: usize = 16;
/// Time after which a loopback handshake counts as dropped.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_millis(100);

/// Loopback address at which connecting neither succeeds nor fails, because its accept queue stays full.
#[derive(Debug)]
pub struct Blackhole {
    address: SocketAddr,
    _listener: TcpListener,
    _fillers: Vec<TcpStream>,
}

impl Blackhole {
    /// Returns the address that never responds.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Creates a [`Blackhole`], which lasts until the handle is dropped.
///
/// Fails if the system cannot create a socket, or keeps accepting into a full queue.
pub fn blackhole() -> io::Result<Blackhole> {
    let listener = bound()?;
    rustix::net::listen(&listener, 0)?;
    let address = listener.local_addr()?;
    let mut fillers = Vec::new();
    while fillers.len() < FILLERS_MAX {
        match TcpStream::connect_timeout(&address, HANDSHAKE_TIMEOUT) {
            Ok(filler) => fillers.push(filler),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                return Ok(Blackhole { address, _listener: listener, _fillers: fillers });
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("{address} accepted {FILLERS_MAX} connections into a queue of none")))
}

/// Loopback address that refuses connections: its port is bound but not listening.
#[derive(Debug)]
pub struct ClosedPort {
    address: SocketAddr,
    _socket: TcpListener,
}

impl ClosedPort {
    /// Returns the address that refuses connections.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Binds a port without listening on it. It stays closed until the handle is dropped.
///
/// Fails if the system cannot create a socket.
pub fn closed_port() -> io::Result<ClosedPort> {
    let socket = bound()?;
    Ok(ClosedPort { address: socket.local_addr()?, _socket: socket })
}

/// Returns a socket that is bound to a loopback port, and does not listen yet.
fn bound() -> io::Result<TcpListener> {
    let socket =
        rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    rustix::net::bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    Ok(TcpListener::from(socket))
}
