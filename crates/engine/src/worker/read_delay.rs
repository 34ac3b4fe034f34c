//! Delay between the arrival of replies in the kernel and their reading, measured with the kernel's receive timestamps.
//!
//! Response times of a load that reads replies on arrival include this delay. A thread that only waits for sockets cannot see how
//! late it is woken, so the delay is measured.

use sockets::stamped::{self, ControlBuffer};

use crate::clock::Clock;
use crate::net::Io;
use crate::net::socket::Socket;

/// Reads from a socket. Also returns the time in nanoseconds that the bytes waited in the kernel; `None` without a timestamp.
pub(super) fn receive(socket: &Socket, buffer: &mut [u8], control: &mut ControlBuffer) -> (Io, Option<u64>) {
    let (io, arrived_ns) = stamped::receive(socket, buffer, control);
    // The difference is negative if the clock was set back; it is ignored.
    let queued_ns =
        arrived_ns.and_then(|arrived_ns| u64::try_from(Clock::real_time_ns().checked_sub(arrived_ns)?).ok());
    (io, queued_ns)
}
