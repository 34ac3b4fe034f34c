//! Non-blocking stream sockets, an epoll poller, and timers: the base of all network code of the workspace.

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

/// Address of a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// TCP address.
    Tcp(SocketAddr),
    /// Path of a Unix stream socket.
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

/// Result of one read or write.
#[derive(Debug)]
pub enum Io {
    /// Number of bytes moved.
    Moved(usize),
    /// The call would block.
    NotYet,
    /// The peer will send nothing more.
    Closed,
    /// The connection is lost, or was never established.
    Lost(rustix::io::Errno),
}

/// Socket that is being connected.
#[derive(Debug)]
pub struct ConnectingSocket {
    /// Non-blocking socket.
    pub socket: Socket,
    /// Whether the connection is established; otherwise the poller reports when [`Socket::outcome`] is known.
    pub is_connected: bool,
}

/// Begins to connect without blocking.
///
/// # Errors
///
/// Fails if no file descriptor or port is left, or if the kernel rejects the connection immediately, for example because no server
/// listens.
pub fn dial(endpoint: &Endpoint) -> Result<ConnectingSocket, rustix::io::Errno> {
    match endpoint {
        Endpoint::Tcp(address) => tcp::dial(*address),
        Endpoint::Unix(path) => unix::dial(path),
    }
}
