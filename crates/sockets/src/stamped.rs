//! Reads with the kernel's receive timestamps: the arrival time of bytes is exact even if they are read late.
//!
//! See Documentation/networking/timestamping.rst: `SO_TIMESTAMPNS` reports when the packet with the last byte of a read was handed
//! to the network stack, on the real-time clock.

use std::io::IoSliceMut;
use std::os::fd::{AsFd, AsRawFd};

use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;

use crate::Io;
use crate::socket::Socket;

/// Buffer for the control message of one read.
#[derive(Debug)]
pub struct ControlBuffer(Vec<u8>);

impl ControlBuffer {
    /// Creates a buffer that serves any number of consecutive reads.
    #[expect(clippy::new_without_default, reason = "it allocates")]
    pub fn new() -> Self {
        Self(nix::cmsg_space!(TimeSpec))
    }
}

/// Turns on receive timestamps for a socket. Returns whether the kernel accepts it.
pub fn enable(socket: &Socket) -> bool {
    setsockopt(socket, sockopt::ReceiveTimestampns, &true).is_ok()
}

/// Receives bytes, and the arrival time of the last of them in nanoseconds since 1970 (real-time clock). The time is `None` without
/// a timestamp.
pub fn receive(socket: &Socket, buffer: &mut [u8], control: &mut ControlBuffer) -> (Io, Option<i64>) {
    let fd = socket.as_fd().as_raw_fd();
    let mut slices = [IoSliceMut::new(buffer)];
    loop {
        match recvmsg::<()>(fd, &mut slices, Some(&mut control.0), MsgFlags::empty()) {
            Ok(message) if message.bytes == 0 => return (Io::Closed, None),
            Ok(message) => {
                let arrived = message.cmsgs().ok().and_then(|mut messages| messages.find_map(arrival));
                return (Io::Moved(message.bytes), arrived);
            }
            Err(Errno::EINTR) => {}
            Err(Errno::EAGAIN) => return (Io::NotYet, None),
            Err(errno) => return (Io::Lost(rustix::io::Errno::from_raw_os_error(errno as i32)), None),
        }
    }
}

fn arrival(message: ControlMessageOwned) -> Option<i64> {
    match message {
        ControlMessageOwned::ScmTimestampns(at) => {
            Some(at.tv_sec().saturating_mul(1_000_000_000).saturating_add(at.tv_nsec()))
        }
        _ => None,
    }
}
