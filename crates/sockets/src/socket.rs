//! Non-blocking stream socket, connected or connecting.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::libc;
use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::GetStruct;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};

use crate::Io;

/// Length of `struct tcp_info` up to the last field that is read (`linux/tcp.h`; since Linux 4.19), followed by the offsets of its
/// fields.
const TCP_INFO_BYTES: usize = BYTES_RETRANSMITTED + 8;
const BYTES_ACKED: usize = 120;
const BYTES_SENT: usize = 200;
const BYTES_RETRANSMITTED: usize = 208;

/// Socket option `TCP_INFO`, as raw bytes.
#[derive(Clone, Copy, Debug)]
struct TcpInfo;

nix::getsockopt_impl!(
    TcpInfo,
    libc::IPPROTO_TCP,
    libc::TCP_INFO,
    [u8; TCP_INFO_BYTES],
    GetStruct<[u8; TCP_INFO_BYTES]>
);

/// Non-blocking stream socket. Closed when dropped.
#[derive(Debug)]
pub struct Socket(OwnedFd);

impl Socket {
    /// Wraps a descriptor, which must be non-blocking.
    pub fn new(fd: OwnedFd) -> Self {
        Self(fd)
    }

    /// Returns the descriptor.
    pub fn into_fd(self) -> OwnedFd {
        self.0
    }

    /// Sends bytes, without `SIGPIPE`.
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

    /// Receives bytes into `buffer`.
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

    /// Returns the number of sent bytes that the peer's kernel has not acknowledged; valid also after the connection was lost.
    /// `None` if the kernel does not report it, as for Unix sockets.
    pub fn unacknowledged_bytes(&self) -> Option<u64> {
        let info = getsockopt(&self.0, TcpInfo).ok()?;
        let at = |offset: usize| u64::from_ne_bytes(info[offset..offset + 8].try_into().unwrap_or_default());
        // The kernel counts the acknowledged SYN as one byte.
        let acknowledged = at(BYTES_ACKED).saturating_sub(1);
        Some(at(BYTES_SENT).saturating_sub(at(BYTES_RETRANSMITTED)).saturating_sub(acknowledged))
    }

    /// Returns the result of connecting, and later the error that ended the connection.
    ///
    /// # Errors
    ///
    /// Returns the pending error of the socket (`SO_ERROR`), which the call clears.
    pub fn outcome(&self) -> Result<(), Errno> {
        sockopt::socket_error(&self.0)?
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;
    use std::time::{Duration, Instant};

    use super::*;

    /// Returns a connection and its other end.
    fn connection() -> (Socket, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.set_nonblocking(true).unwrap();
        (Socket::new(client.into()), listener.accept().unwrap().0)
    }

    fn wait_until(is_so: impl Fn() -> bool) {
        let from = Instant::now();
        while !is_so() && from.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(is_so());
    }

    #[test]
    fn bytes_sent_after_the_peer_closed_are_never_acknowledged() {
        let (socket, peer) = connection();
        drop(peer);
        wait_until(|| matches!(socket.receive(&mut [0; 9]), Io::Closed));
        assert!(matches!(socket.send(b"hello"), Io::Moved(5)));
        wait_until(|| matches!(socket.send(b"more"), Io::Lost(_)));
        assert!(
            socket.unacknowledged_bytes().is_some_and(|bytes| bytes >= 5),
            "{:?}",
            socket.unacknowledged_bytes()
        );
    }

    #[test]
    fn bytes_read_by_the_peer_before_its_close_are_acknowledged() {
        let (socket, mut peer) = connection();
        assert!(matches!(socket.send(b"hello"), Io::Moved(5)));
        peer.read_exact(&mut [0; 5]).unwrap();
        drop(peer);
        wait_until(|| matches!(socket.receive(&mut [0; 9]), Io::Closed));
        assert_eq!(socket.unacknowledged_bytes(), Some(0));
    }

    #[test]
    fn unix_socket_reports_no_unacknowledged_bytes() {
        let (one, _other) = UnixStream::pair().unwrap();
        assert_eq!(Socket::new(one.into()).unacknowledged_bytes(), None);
    }
}
