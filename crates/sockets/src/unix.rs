//! Connecting of Unix stream sockets, which succeeds or fails immediately. A full backlog gives `EAGAIN`.

use std::path::Path;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use crate::Dialled;
use crate::socket::Socket;

/// Connects to a socket at `path`.
///
/// # Errors
///
/// Fails if no server listens there, or if the backlog is full.
pub fn dial(path: &Path) -> Result<Dialled, Errno> {
    let address = SocketAddrUnix::new(path)?;
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fd = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&fd, &address)?;
    Ok(Dialled { socket: Socket::new(fd), is_connected: true })
}
