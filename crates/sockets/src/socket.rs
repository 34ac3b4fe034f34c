//! A connected, or connecting, non-blocking stream socket.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};

use crate::Io;

/// A non-blocking stream socket; closed when dropped.
#[derive(Debug)]
pub struct Socket(OwnedFd);

impl Socket {
    /// A socket that does not block.
    pub fn new(fd: OwnedFd) -> Self {
        Self(fd)
    }

    /// The descriptor itself.
    pub fn into_fd(self) -> OwnedFd {
        self.0
    }

    /// Hands bytes to the kernel.
    #[inline]
    pub fn send(&self, bytes: &[u8]) -> Io {
        loop {
            return match send(&self.0, bytes, SendFlags::NOSIGNAL) {
                Ok(moved) => Io::Moved(moved),
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => Io::NotYet,
                Err(errno) => Io::Lost(errno),
            };
        }
    }

    /// Takes bytes from the kernel.
    #[inline]
    pub fn receive(&self, buffer: &mut [u8]) -> Io {
        loop {
            return match recv(&self.0, &mut *buffer, RecvFlags::empty()) {
                Ok((0, _)) => Io::Closed,
                Ok((moved, _)) => Io::Moved(moved),
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => Io::NotYet,
                Err(errno) => Io::Lost(errno),
            };
        }
    }

    /// Why connecting failed, if it did, or why the connection was lost.
    ///
    /// # Errors
    ///
    /// What the kernel keeps until somebody asks.
    pub fn outcome(&self) -> Result<(), Errno> {
        sockopt::socket_error(&self.0)?
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
