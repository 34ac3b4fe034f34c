//! Listening socket of the proxy.

use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, sockopt};
use sockets::Endpoint;
use sockets::socket::Socket;

/// Length of the listen queue.
const BACKLOG: i32 = 4096;

/// Listening socket. For a Unix socket, dropping it removes the file.
#[derive(Debug)]
pub(crate) struct Listener {
    fd: OwnedFd,
    pub(crate) endpoint: Endpoint,
    _file: Option<SocketFile>,
}

#[derive(Debug)]
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // The file may already be gone.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Listener {
    pub(crate) fn bind(endpoint: &Endpoint) -> io::Result<Self> {
        match endpoint {
            Endpoint::Tcp(address) => {
                let fd = socket(if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 })?;
                sockopt::set_socket_reuseaddr(&fd, true)?;
                rustix::net::bind(&fd, address)?;
                rustix::net::listen(&fd, BACKLOG)?;
                let listener = TcpListener::from(fd);
                let endpoint = Endpoint::Tcp(listener.local_addr()?);
                Ok(Self { fd: listener.into(), endpoint, _file: None })
            }
            Endpoint::Unix(path) => {
                let fd = socket(AddressFamily::UNIX)?;
                rustix::net::bind(&fd, &SocketAddrUnix::new(path)?)?;
                let file = Some(SocketFile(path.clone()));
                rustix::net::listen(&fd, BACKLOG)?;
                Ok(Self { fd, endpoint: endpoint.clone(), _file: file })
            }
        }
    }

    pub(crate) fn is_tcp(&self) -> bool {
        matches!(self.endpoint, Endpoint::Tcp(_))
    }

    /// Accepts the next connection. `None` if there is none.
    pub(crate) fn accept(&self) -> Result<Option<Socket>, Errno> {
        loop {
            match accept_with(&self.fd, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(fd) => {
                    if self.is_tcp() {
                        sockopt::set_tcp_nodelay(&fd, true)?;
                    }
                    return Ok(Some(Socket::new(fd)));
                }
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(Errno::AGAIN) => return Ok(None),
                Err(errno) => return Err(errno),
            }
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn socket(family: AddressFamily) -> Result<OwnedFd, Errno> {
    rustix::net::socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)
}
