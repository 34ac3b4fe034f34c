//! Executes a script on a connection.

use super::{Script, Step};
use crate::stop::Stop;
use rustix::net::sockopt;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Maximum length of a request, in bytes. A longer one ends the script.
const REQUEST_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Reason why a script ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// All steps were executed.
    Played,
    /// The peer has disconnected, or the server stops.
    Gone,
    /// The connection must be reset.
    Reset,
}

/// One connection with its script.
pub(super) struct Player<'a> {
    socket: &'a TcpStream,
    stop: &'a Stop,
    requests: &'a AtomicUsize,
    /// Received bytes that no step has consumed yet.
    ahead: Vec<u8>,
}

/// Makes dropping the socket reset the connection.
pub(super) fn reset(socket: &TcpStream) {
    // Fails only on a socket that is already broken.
    let _ = sockopt::set_socket_linger(socket, Some(Duration::ZERO));
}

impl<'a> Player<'a> {
    pub(super) fn new(socket: &'a TcpStream, stop: &'a Stop, requests: &'a AtomicUsize) -> Self {
        // Best effort: small writes should be sent separately.
        let _ = socket.set_nodelay(true);
        Self { socket, stop, requests, ahead: Vec::new() }
    }

    /// Executes all steps. Ends early if the peer disconnects or the server stops.
    pub(super) fn play(&mut self, script: &Script) -> End {
        for step in &script.0 {
            if self.stop.is_set() {
                return End::Gone;
            }
            match self.step(step) {
                Some(End::Played) => {}
                Some(end) => return end,
                None => return End::Gone,
            }
        }
        End::Played
    }

    /// Executes a step. `None` if the peer has disconnected or the server stops.
    fn step(&mut self, step: &Step) -> Option<End> {
        match step {
            Step::ReadRequest => self.read_request()?,
            Step::ReadBytes(n) => self.read_bytes(*n)?,
            Step::Send(bytes) => self.send(bytes)?,
            Step::SendSlowly { bytes, every, chunk } => {
                for piece in bytes.chunks((*chunk).max(1)) {
                    self.send(piece)?;
                    self.wait(*every);
                }
            }
            Step::SendForever { bytes, every } if !bytes.is_empty() => {
                while !self.stop.is_set() {
                    self.send(bytes)?;
                    self.wait(every.unwrap_or_default());
                }
            }
            Step::Wait(time) => self.wait(*time),
            Step::CloseGracefully => self.close_gracefully()?,
            Step::Reset => return Some(End::Reset),
            Step::Loop(script) if !script.0.is_empty() => loop {
                match self.play(script) {
                    End::Played => {}
                    end => return Some(end),
                }
            },
            Step::HoldOpen | Step::SendForever { .. } | Step::Loop(_) => self.stop.sleep(),
        }
        Some(End::Played)
    }

    fn read_request(&mut self) -> Option<()> {
        let mut searched = 0;
        let head_bytes = loop {
            if let Some(at) = self.ahead[searched..].windows(4).position(|window| window == b"\r\n\r\n") {
                break searched + at + 4;
            }
            searched = self.ahead.len().saturating_sub(3);
            self.read_more()?;
        };
        let body_bytes = content_length(&self.ahead[..head_bytes])?;
        self.read_bytes(head_bytes.checked_add(body_bytes)?)?;
        self.requests.fetch_add(1, Ordering::AcqRel);
        Some(())
    }

    fn read_bytes(&mut self, n: usize) -> Option<()> {
        while self.ahead.len() < n {
            self.read_more()?;
        }
        self.ahead.drain(..n);
        Some(())
    }

    fn read_more(&mut self) -> Option<()> {
        let mut buffer = [0; 16 * 1024];
        let n = self.socket.read(&mut buffer).ok().filter(|&n| n > 0)?;
        if self.ahead.len() + n > REQUEST_BYTES_MAX {
            return None;
        }
        self.ahead.extend_from_slice(&buffer[..n]);
        Some(())
    }

    fn send(&mut self, bytes: &[u8]) -> Option<()> {
        self.socket.write_all(bytes).ok()
    }

    fn wait(&self, time: Duration) {
        match Instant::now().checked_add(time) {
            Some(deadline) => self.stop.sleep_until(deadline),
            None => self.stop.sleep(),
        }
    }

    fn close_gracefully(&mut self) -> Option<()> {
        self.socket.shutdown(std::net::Shutdown::Write).ok()?;
        let mut buffer = [0; 16 * 1024];
        while self.socket.read(&mut buffer).ok()? > 0 {}
        Some(())
    }
}

/// Returns the value of Content-Length. `None` if the field is invalid.
fn content_length(head: &[u8]) -> Option<usize> {
    let head = String::from_utf8_lossy(head);
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    match fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length")) {
        Some((_, value)) => value.trim().parse().ok(),
        None => Some(0),
    }
}
