//! Serves one connection in turns: sends, reads, and parses.

use super::{BUFFER_BYTES, Worker};
use crate::connection::{Input, Phase, Sent};
use crate::reply::{self, Reply};
use crate::request::RequestProgress;
use crate::slab::Token;
use crate::timers::TimerKind;
use std::time::Duration;

/// Max number of reads from a connection per turn.
const READS_PER_TURN: usize = 16;
/// Maximum wait for the peer to see the end of a closing connection.
const LINGER_TIMEOUT: Duration = Duration::from_secs(1);

impl Worker {
    pub(super) fn serve(&mut self, token: Token) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut reads = 0;
        while self.send(token) {
            let Some(connection) = self.connections.get(token) else { break };
            if reads == READS_PER_TURN {
                self.schedule_turn(token);
                break;
            }
            reads += 1;
            match connection.input(&mut buffer) {
                Input::Fresh(n) => self.parse_requests(token, &buffer[..n]),
                Input::Kept(bytes) => self.parse_requests(token, &bytes),
                Input::Nothing => {
                    if connection.ended && !connection.executing {
                        self.close(token);
                    }
                    break;
                }
                Input::Gone => {
                    self.close(token);
                    break;
                }
            }
        }
        self.buffer = buffer;
    }

    /// Sends pending output. Returns true if all is sent and the connection can continue.
    fn send(&mut self, token: Token) -> bool {
        let Some(connection) = self.connections.get(token) else {
            self.out.clear();
            return false;
        };
        match connection.send(&mut self.out) {
            Sent::All => {}
            Sent::Blocked => return false,
            Sent::TurnOver => {
                self.schedule_turn(token);
                return false;
            }
            Sent::Gone => {
                self.close(token);
                return false;
            }
        }
        if connection.phase != Phase::Closing {
            return true;
        }
        if connection.unread.is_empty() && !connection.intake.is_incomplete() && !connection.readable {
            self.close(token);
            return false;
        }
        // Closing a socket with unread input resets it, and the reset may overtake the reply.
        connection.finish();
        connection.unread = Vec::new();
        connection.phase = Phase::Lingering { bytes: 0 };
        self.timers.push(self.now + LINGER_TIMEOUT, TimerKind::Linger(token));
        true
    }

    fn schedule_turn(&mut self, token: Token) {
        let Some(connection) = self.connections.get(token) else { return };
        if !connection.again {
            connection.again = true;
            self.again.push_back(token);
        }
    }

    fn parse_requests(&mut self, token: Token, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let Some(connection) = self.connections.get(token) else { return };
            let full = self.out.len() >= BUFFER_BYTES || connection.filler_bytes > 0;
            if connection.executing || connection.phase != Phase::Open || full {
                connection.unread.extend_from_slice(bytes);
                return;
            }
            let (taken, step) = connection.intake.take(bytes);
            bytes = &bytes[taken..];
            match step {
                RequestProgress::NeedMore => {}
                RequestProgress::Continue => self.out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n"),
                RequestProgress::Complete(parsed_request) => self.begin(token, parsed_request),
                RequestProgress::Bad(reply) => {
                    self.worker_handle.tally.bad_requests.add_one();
                    connection.head_only = false;
                    connection.connection_header = reply::Connection::Close;
                    connection.readable = true;
                    return self.render(token, &reply);
                }
            }
        }
    }

    pub(super) fn render(&mut self, token: Token, reply: &Reply) {
        self.worker_handle.tally.count_reply(reply.status);
        self.answer_uncounted(token, reply);
    }

    /// Replies without counting.
    pub(super) fn answer_uncounted(&mut self, token: Token, reply: &Reply) {
        let Some(connection) = self.connections.get(token) else { return };
        connection.executing = false;
        connection.active = self.now;
        connection.filler_bytes =
            reply.render(&mut self.out, connection.head_only, connection.connection_header);
        if connection.connection_header == reply::Connection::Close {
            connection.phase = Phase::Closing;
        }
    }

    /// Replies to a request that was in execution, and continues to serve the connection.
    pub(super) fn answer(&mut self, token: Token, reply: &Reply) {
        self.render(token, reply);
        self.serve(token);
    }
}
