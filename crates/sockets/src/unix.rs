//! Connects Unix stream sockets, which succeeds or fails immediately. A full backlog gives `EAGAIN`.

use std::path::Path;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use crate::ConnectingSocket;
use crate::socket::Socket;

/// Connects to a socket at `path`.
///
/// # Errors
///
/// Fails if no server listens there, or if the backlog is full.
pub fn dial(path: &Path) -> Result<ConnectingSocket, Errno> {
    let address = SocketAddrUnix::new(path)?;
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fd = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&fd, &address)?;
    Ok(ConnectingSocket { socket: Socket::new(fd), is_connected: true })
}
