//! Unix stream sockets. Connecting either works at once or fails at once; a full backlog is `EAGAIN`.

use std::path::Path;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use crate::Dialled;
use crate::socket::Socket;

/// Connects.
///
/// # Errors
///
/// Nobody listens there, or the backlog is full.
pub fn dial(path: &Path) -> Result<Dialled, Errno> {
    let address = SocketAddrUnix::new(path)?;
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fd = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&fd, &address)?;
    Ok(Dialled { socket: Socket::new(fd), is_connected: true })
}
