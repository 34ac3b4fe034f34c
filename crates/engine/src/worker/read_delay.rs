//! How long replies lie in the kernel before they are read, of a sample of the reads: the kernel notes when they come.
//!
//! Whoever waits for sockets alone does not know how late it is woken. Response times of such a load include the delay, so it must
//! be known how long it was.

use sockets::stamped::{self, Control};

use crate::clock::Clock;
use crate::net::Io;
use crate::net::socket::Socket;

/// Every so many links have timestamps.
const LINKS: u32 = 8;
/// Every so many reads of these are looked at.
const READS: u32 = 4;

/// Reads a sample of the replies with timestamps.
#[derive(Debug)]
pub(super) struct ReadDelay {
    control: Control,
    reads: u32,
}

impl ReadDelay {
    pub(super) fn new() -> Self {
        Self { control: Control::new(), reads: 0 }
    }

    /// Whether the replies of a link are in the sample.
    pub(super) const fn is_sampled(link: u32) -> bool {
        link.is_multiple_of(LINKS)
    }

    /// Takes bytes from the kernel; and says how long they had lain there, of a read in the sample.
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
        // A clock that was set back says nothing.
        let lain_ns =
            came_ns.and_then(|came_ns| u64::try_from(Clock::real_time_ns().checked_sub(came_ns)?).ok());
        (io, lain_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_the_first_link_and_leaves_most_out() {
        let sampled = (0..80).filter(|link| ReadDelay::is_sampled(*link)).count();
        assert!(ReadDelay::is_sampled(0) && sampled == 10, "{sampled}");
    }
}
