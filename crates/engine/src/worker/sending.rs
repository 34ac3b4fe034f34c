//! Requests on their way out.

use wire::{Conversation, Next, Script};

use super::Worker;
use crate::connection::{InFlight, Link, Within};
use crate::net::Io;
use crate::net::socket::Socket;
use crate::net::tls::Session;

impl<S: Script> Worker<'_, S> {
    /// Starts the request of a step on a slot that carries none. One that was due was counted as planned when it fell due.
    #[inline]
    pub(super) fn begin(&mut self, slot: u32, step: u16, was_due: bool, intended_ns: u64, now_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        connection.step = step;
        let (free_ns, carried_lag_ns) = (connection.free_ns, connection.way.carried_lag_ns);
        let next = if connection.is_up() { Some(connection.talk.begin(step)) } else { None };
        // A reply was looked through, or values were drawn and filled in, since `now_ns`: that took our time.
        let sent_ns = if self.is_prompt { now_ns } else { self.clock.now() };
        let own_lag_ns = sent_ns.saturating_sub(intended_ns.max(free_ns));
        let other_lateness_ns = sent_ns.saturating_sub(intended_ns) - own_lag_ns;
        let lag_ns = own_lag_ns + carried_lag_ns.min(other_lateness_ns);
        connection.request =
            Some(InFlight { intended_ns, begun_ns: now_ns, sent_ns, lag_ns, first_byte_ns: 0, written: 0 });
        self.signals.sent(intended_ns, sent_ns);
        connection.within = Within::default();
        connection.asking_since_ns = connection.asking_since_ns.min(intended_ns);
        let book = &mut self.books[usize::from(step)];
        if was_due {
            book.note_due_sent(intended_ns, sent_ns);
        } else {
            book.note_sent(intended_ns, sent_ns);
            self.note_planned(intended_ns);
        }
        self.in_flight += 1;
        self.set_deadline(slot, now_ns.saturating_add(self.job.timeout_ns));
        match next {
            Some(Next::Send) => self.send(slot, sent_ns),
            Some(next) => self.on_begun(slot, next, sent_ns),
            None => self.dial(slot, sent_ns),
        }
    }

    /// Starts the request that waited for its connection.
    pub(super) fn start(&mut self, slot: u32, now_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        let next = connection.talk.begin(connection.step);
        let sent_ns = if self.is_prompt { now_ns } else { self.clock.now() };
        if let Some(request) = &mut connection.request {
            self.signals.sent_later(request, sent_ns);
            request.sent_ns = sent_ns;
        }
        match next {
            Next::Send => self.send(slot, sent_ns),
            next => self.on_begun(slot, next, sent_ns),
        }
    }

    /// Hands the kernel whatever a slot has to send, as far as it takes it.
    pub(super) fn flush(&mut self, slot: u32) {
        let connection = &mut self.connections[slot as usize];
        let (sent_bytes, end) = match (&mut connection.link, &mut connection.request) {
            (Link::Up { socket, session: None }, Some(request)) => {
                let rest = &connection.talk.outgoing()[request.written as usize..];
                let (sent, end) = send_all(rest, |bytes| socket.send(bytes));
                request.written += sent as u32;
                connection.within.sent_bytes += sent as u64;
                (sent, end)
            }
            (Link::Up { socket, session: Some(session) }, request) => {
                if let Some(request) = request.as_mut().filter(|request| request.written == 0) {
                    let outgoing = connection.talk.outgoing();
                    // A session that seals nothing any more was closed by the peer, which reading will show.
                    let _ = session.send(outgoing);
                    request.written = outgoing.len() as u32;
                    connection.within.sent_bytes += outgoing.len() as u64;
                }
                send_records(socket, session)
            }
            (Link::Shaking { socket, session, .. }, _) => send_records(socket, session),
            (Link::Greeting { socket, session: Some(session), written }, _) => {
                if written.take().is_some() {
                    // As above.
                    let _ = session.send(connection.talk.outgoing());
                }
                send_records(socket, session)
            }
            (Link::Greeting { socket, session: None, written: Some(written) }, _) => {
                let rest = &connection.talk.outgoing()[*written as usize..];
                let (sent, end) = send_all(rest, |bytes| socket.send(bytes));
                *written += sent as u32;
                (sent, end)
            }
            (Link::Embedded, request) => {
                if request.is_some() {
                    self.will_perform(slot);
                }
                return;
            }
            (Link::Up { session: None, .. }, None)
            | (Link::Down | Link::Connecting { .. } | Link::Greeting { .. }, _) => (0, Io::Moved(0)),
        };
        if sent_bytes > 0 {
            let recorder = &mut self.books[usize::from(connection.step)].recorder;
            recorder.tally(connection.counted_in_ns()).sent_bytes += sent_bytes as u64;
        }
        match end {
            Io::Moved(_) => {}
            // The rest goes out when the kernel has room, and somebody must be there to hear of it.
            Io::NotYet => self.late_reading = None,
            Io::Closed | Io::Lost(_) => {
                // The peer may have answered before it went away: what can be read says how this ends.
                connection.send_error = if let Io::Lost(errno) = end { Some(errno) } else { None };
                self.unread.push_back((slot, connection.generation));
            }
        }
    }
}

fn send_records(socket: &Socket, session: &mut Session) -> (usize, Io) {
    let (sent, end) = send_all(&session.outgoing, |bytes| socket.send(bytes));
    session.took(sent);
    (sent, end)
}

/// Sends until all is sent, the kernel takes no more, or the connection is lost. Returns how much was sent, and what the
/// kernel said last.
#[inline]
fn send_all(bytes: &[u8], mut send: impl FnMut(&[u8]) -> Io) -> (usize, Io) {
    let mut sent = 0;
    while sent < bytes.len() {
        match send(&bytes[sent..]) {
            Io::Moved(more) => sent += more,
            end => return (sent, end),
        }
    }
    (sent, Io::Moved(sent))
}
