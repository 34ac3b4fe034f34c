//! Connects TCP sockets.

use std::net::SocketAddr;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt};

use crate::ConnectingSocket;
use crate::socket::Socket;

/// Begins to connect, with `TCP_NODELAY` so that requests are sent without delay.
pub(super) fn dial(address: SocketAddr) -> Result<ConnectingSocket, Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let fd = socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
    sockopt::set_tcp_nodelay(&fd, true)?;
    match connect(&fd, &address) {
        Ok(()) => Ok(ConnectingSocket { socket: Socket::new(fd), is_connected: true }),
        Err(Errno::INPROGRESS | Errno::INTR) => {
            Ok(ConnectingSocket { socket: Socket::new(fd), is_connected: false })
        }
        Err(errno) => Err(errno),
    }
}
