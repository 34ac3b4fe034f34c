//! Non-blocking stream sockets, and waiting for them and for the next instant: what everything that moves bytes here rests on.

pub mod descriptors;
pub mod poll;
pub mod socket;
pub mod stamped;
mod tcp;
pub mod timers;
pub mod unix;

use std::net::SocketAddr;
use std::path::PathBuf;

use socket::Socket;

/// An address of the transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// TCP.
    Tcp(SocketAddr),
    /// A Unix stream socket.
    Unix(PathBuf),
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// What came of one call to the transport.
#[derive(Debug)]
pub enum Io {
    /// So many bytes moved.
    Moved(usize),
    /// Nothing can move now.
    NotYet,
    /// The peer will send nothing more.
    Closed,
    /// The connection is lost, or never came about.
    Lost(rustix::io::Errno),
}

/// A socket on its way to the endpoint.
#[derive(Debug)]
pub struct Dialled {
    /// The socket.
    pub socket: Socket,
    /// Whether it is connected already; otherwise the poller says when to ask.
    pub is_connected: bool,
}

/// Begins to connect, without waiting.
///
/// # Errors
///
/// The kernel refuses at once: no descriptor or port is left, or nobody listens there.
pub fn dial(endpoint: &Endpoint) -> Result<Dialled, rustix::io::Errno> {
    match endpoint {
        Endpoint::Tcp(address) => tcp::dial(*address),
        Endpoint::Unix(path) => unix::dial(path),
    }
}
