//! One connection: its socket, unprocessed input, and unsent output.

use crate::reply::{self, FILLER, FILLER_BYTES};
use crate::request::RequestParser;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SendFlags, Shutdown};
use std::time::Instant;

/// Max number of filler bytes sent per turn of a connection.
const FILLER_TURN_BYTES: u64 = 16 * FILLER_BYTES as u64;
/// Max number of input bytes that a closing connection accepts before it is cut off.
const LINGER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// State of one connection. It owns no buffers while idle.
pub(crate) struct Connection {
    pub(crate) socket: OwnedFd,
    pub(crate) intake: RequestParser,
    /// Received bytes, to be parsed after the request in execution is answered.
    pub(crate) unread: Vec<u8>,
    unsent: Vec<u8>,
    sent_bytes: usize,
    /// Body bytes that remain to be generated and sent.
    pub(crate) filler_bytes: u64,
    filler_offset: usize,
    /// True if the socket may have input. Tracked because edges are reported only once.
    pub(crate) readable: bool,
    /// True if the peer has finished sending, so the end must still be read after a short read.
    pub(crate) has_hung_up: bool,
    /// True if the end of the input was read.
    pub(crate) ended: bool,
    pub(crate) executing: bool,
    /// True if another turn is already scheduled.
    pub(crate) again: bool,
    pub(crate) head_only: bool,
    pub(crate) connection_header: reply::Connection,
    pub(crate) phase: Phase,
    /// Number of the connection among all connections of the target, from 0.
    pub(crate) number: u64,
    pub(crate) served: u64,
    pub(crate) active: Instant,
}

/// Phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Open,
    /// Closes once the output is sent.
    Closing,
    /// Reads and discards input, and answers nothing.
    Hanging,
    /// Output is sent. Discards input until the peer has seen the end, because a reset could destroy the last reply.
    Lingering {
        bytes: usize,
    },
}

/// Input of a connection.
pub(crate) enum Input {
    /// Number of new bytes in the given buffer.
    Fresh(usize),
    /// Bytes kept from an earlier read.
    Kept(Vec<u8>),
    /// No input for now.
    Nothing,
    /// The connection is broken, or sent too much while closing.
    Gone,
}

/// Result of sending.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    All,
    /// The socket is full, and becomes writable later.
    Blocked,
    /// The socket has room, but other connections get their turn first.
    TurnOver,
    Gone,
}

impl Connection {
    pub(crate) fn new(socket: OwnedFd, number: u64, now: Instant) -> Self {
        Self {
            socket,
            intake: RequestParser::default(),
            unread: Vec::new(),
            unsent: Vec::new(),
            sent_bytes: 0,
            filler_bytes: 0,
            filler_offset: 0,
            readable: false,
            has_hung_up: false,
            ended: false,
            executing: false,
            again: false,
            head_only: false,
            connection_header: reply::Connection::Keep,
            phase: Phase::Open,
            number,
            served: 0,
            active: now,
        }
    }

    /// Returns the next input. [`Input::Nothing`] while a request is in execution.
    pub(crate) fn input(&mut self, buffer: &mut [u8]) -> Input {
        if self.executing {
            return Input::Nothing;
        }
        if !self.unread.is_empty() && self.phase == Phase::Open {
            return Input::Kept(std::mem::take(&mut self.unread));
        }
        match self.read(buffer) {
            Input::Fresh(n) => match &mut self.phase {
                Phase::Open => Input::Fresh(n),
                Phase::Hanging => Input::Fresh(0),
                Phase::Closing => Input::Nothing,
                Phase::Lingering { bytes } => {
                    *bytes += n;
                    if *bytes > LINGER_BYTES_MAX { Input::Gone } else { Input::Fresh(0) }
                }
            },
            other => other,
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> Input {
        if !self.readable || self.ended {
            return Input::Nothing;
        }
        loop {
            match rustix::io::read(&self.socket, &mut *buffer) {
                Ok(0) => {
                    self.ended = true;
                    return Input::Nothing;
                }
                Ok(n) => {
                    // A short read has drained the socket; later data causes a new edge.
                    self.readable = n == buffer.len() || self.has_hung_up;
                    return Input::Fresh(n);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    self.readable = false;
                    return Input::Nothing;
                }
                Err(_) => return Input::Gone,
            }
        }
    }

    /// Sends pending output, then `fresh`, then the filler. Keeps what does not fit. Empties `fresh`.
    pub(crate) fn send(&mut self, fresh: &mut Vec<u8>) -> Sent {
        let sent = if self.unsent.is_empty() {
            self.send_fresh(fresh)
        } else {
            self.unsent.extend_from_slice(fresh);
            self.send_unsent()
        };
        fresh.clear();
        if sent == Sent::All { self.send_filler() } else { sent }
    }

    fn send_fresh(&mut self, fresh: &[u8]) -> Sent {
        match push(&self.socket, fresh, self.filler_bytes > 0) {
            Ok(n) if n == fresh.len() => Sent::All,
            Ok(n) => {
                self.unsent.extend_from_slice(&fresh[n..]);
                Sent::Blocked
            }
            Err(_) => Sent::Gone,
        }
    }

    fn send_unsent(&mut self) -> Sent {
        match push(&self.socket, &self.unsent[self.sent_bytes..], self.filler_bytes > 0) {
            Ok(n) if self.sent_bytes + n == self.unsent.len() => {
                self.unsent = Vec::new();
                self.sent_bytes = 0;
                Sent::All
            }
            Ok(n) => {
                self.sent_bytes += n;
                Sent::Blocked
            }
            Err(_) => Sent::Gone,
        }
    }

    fn send_filler(&mut self) -> Sent {
        let turn_ends = self.filler_bytes.saturating_sub(FILLER_TURN_BYTES);
        while self.filler_bytes > turn_ends {
            // Continues a partially sent block at the right letter.
            let offset = self.filler_offset;
            let piece = self.filler_bytes.min((FILLER_BYTES - offset) as u64) as usize;
            match push(&self.socket, &FILLER[offset..offset + piece], self.filler_bytes > piece as u64) {
                Ok(n) => {
                    self.filler_bytes -= n as u64;
                    self.filler_offset = if self.filler_bytes == 0 { 0 } else { (offset + n) % FILLER_BYTES };
                    if n < piece {
                        return Sent::Blocked;
                    }
                }
                Err(_) => return Sent::Gone,
            }
        }
        if self.filler_bytes == 0 { Sent::All } else { Sent::TurnOver }
    }

    /// Closes the sending side.
    pub(crate) fn finish(&self) {
        // Ignores the error if the peer has already disconnected.
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Write);
    }
}

/// Sends as much as fits, and returns the number of bytes. If it is less than `bytes.len()`, the socket is full.
fn push(socket: &OwnedFd, bytes: &[u8], more_follows: bool) -> Result<usize, Errno> {
    let flags = if more_follows { SendFlags::NOSIGNAL | SendFlags::MORE } else { SendFlags::NOSIGNAL };
    let mut sent = 0;
    while sent < bytes.len() {
        match rustix::net::send(socket, &bytes[sent..], flags) {
            Ok(n) => sent += n,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(sent)
}
