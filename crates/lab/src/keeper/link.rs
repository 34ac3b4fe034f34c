//! The keeper's end of the socket to Tenbin. It is nonblocking: a Tenbin that does not read must not block a system.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::{Errno, ioctl_fionbio, read, write};

use super::messages::{Order, Report};

/// Max length of an order. The longest ones contain a command line and an environment.
const LINE_BYTES_MAX: usize = 16 << 20;

/// Receives orders and sends reports.
#[derive(Debug)]
pub(crate) struct Link {
    stdin: std::io::Stdin,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    /// Whether the connection to Tenbin is lost.
    pub(crate) is_cut: bool,
}

impl Link {
    pub(crate) fn new() -> Result<Link, Errno> {
        let stdin = std::io::stdin();
        ioctl_fionbio(&stdin, true)?;
        Ok(Link { stdin, incoming: Vec::new(), outgoing: Vec::new(), is_cut: false })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.stdin.as_fd()
    }

    /// Whether the socket has not accepted all data yet.
    pub(crate) fn has_outgoing(&self) -> bool {
        !self.outgoing.is_empty() && !self.is_cut
    }

    /// Reads the orders that have arrived.
    pub(crate) fn orders(&mut self) -> Vec<Order> {
        let mut buffer = [0; 16 << 10];
        while !self.is_cut {
            match read(&self.stdin, &mut buffer) {
                Ok(0) => self.is_cut = true,
                Ok(count) => self.incoming.extend_from_slice(&buffer[..count]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => self.is_cut = true,
            }
            self.is_cut |= self.incoming.len() > LINE_BYTES_MAX;
        }
        let mut orders = Vec::new();
        while let Some(end) = self.incoming.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.incoming.drain(..=end).collect();
            match serde_json::from_slice(&line) {
                Ok(order) => orders.push(order),
                // The other end is not Tenbin.
                Err(_) => self.is_cut = true,
            }
        }
        orders
    }

    pub(crate) fn report(&mut self, report: &Report) {
        if let Ok(line) = serde_json::to_string(report) {
            self.outgoing.extend_from_slice(line.as_bytes());
            self.outgoing.push(b'\n');
        }
        self.send();
    }

    pub(crate) fn output(&mut self, dropped: u64, bytes: &[u8]) {
        self.report(&Report::Output { bytes: bytes.len(), dropped });
        self.outgoing.extend_from_slice(bytes);
        self.send();
    }

    /// Sends as much as the socket accepts now.
    pub(crate) fn send(&mut self) {
        let mut sent = 0;
        while sent < self.outgoing.len() && !self.is_cut {
            match write(&self.stdin, &self.outgoing[sent..]) {
                Ok(count) => sent += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => self.is_cut = true,
            }
        }
        self.outgoing.drain(..sent);
    }
}
