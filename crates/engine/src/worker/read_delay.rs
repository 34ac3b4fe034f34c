//! Delay between the arrival of replies in the kernel and their reading, measured for a sample of the reads with the kernel's
//! receive timestamps.
//!
//! Response times of a load that reads replies on arrival include this delay. A thread that only waits for sockets cannot see how
//! late it is woken, so the delay is measured.

use sockets::stamped::{self, Control};

use crate::clock::Clock;
use crate::net::Io;
use crate::net::socket::Socket;

/// One in this many links has timestamps.
const LINKS: u32 = 8;
/// One in this many reads on these links is sampled.
const READS: u32 = 4;

/// Reader that samples timestamps of replies.
#[derive(Debug)]
pub(super) struct ReadDelay {
    control: Control,
    reads: u32,
}

impl ReadDelay {
    pub(super) fn new() -> Self {
        Self { control: Control::new(), reads: 0 }
    }

    /// Whether the replies of a link can be in the sample.
    pub(super) const fn is_sampled(link: u32) -> bool {
        link.is_multiple_of(LINKS)
    }

    /// Reads from a socket. Also returns the time in nanoseconds that the bytes waited in the kernel; `None` outside the sample.
    #[inline]
    pub(super) fn receive(&mut self, link: u32, socket: &Socket, buffer: &mut [u8]) -> (Io, Option<u64>) {
        if !Self::is_sampled(link) {
            return (socket.receive(buffer), None);
        }
        self.reads = self.reads.wrapping_add(1);
        if !self.reads.is_multiple_of(READS) {
            return (socket.receive(buffer), None);
        }
        let (io, came_ns) = stamped::receive(socket, buffer, &mut self.control);
        // The difference is negative if the clock was set back; it is ignored.
        let lain_ns =
            came_ns.and_then(|came_ns| u64::try_from(Clock::real_time_ns().checked_sub(came_ns)?).ok());
        (io, lain_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_includes_link_0_and_one_in_eight() {
        let sampled = (0..80).filter(|link| ReadDelay::is_sampled(*link)).count();
        assert!(ReadDelay::is_sampled(0) && sampled == 10, "{sampled}");
    }
}
