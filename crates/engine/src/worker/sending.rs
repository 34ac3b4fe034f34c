//! Requests on their way out.

use wire::{Conversation, Script};

use super::Worker;
use crate::connection::{InFlight, Link};
use crate::driver::Driver;
use crate::net::Io;

impl<S: Script> Worker<'_, S> {
    /// Starts a request on a slot that carries none.
    #[inline]
    pub(super) fn begin(&mut self, slot: u32, intended_ns: u64, now_ns: u64) {
        let account = &mut self.accounts[self.recorder.phase(intended_ns) as usize];
        account.sent += 1;
        let tally = self.recorder.tally(intended_ns);
        match &self.driver {
            Driver::Open(_) => tally.note_due_sent(now_ns),
            Driver::Closed { .. } => {
                account.planned += 1;
                tally.note_sent(now_ns);
            }
        }
        self.in_flight += 1;
        let connection = &mut self.connections[slot as usize];
        connection.talk.begin();
        connection.request =
            Some(InFlight { intended_ns, begun_ns: now_ns, sent_ns: now_ns, first_byte_ns: 0, written: 0 });
        let is_up = connection.is_up();
        self.set_deadline(slot, now_ns.saturating_add(self.job.timeout_ns));
        if is_up { self.flush(slot) } else { self.dial(slot, now_ns) }
    }

    /// Hands the kernel whatever a slot has to send, as far as it takes it.
    pub(super) fn flush(&mut self, slot: u32) {
        let connection = &mut self.connections[slot as usize];
        let (sent_bytes, is_broken) = match (&mut connection.link, &mut connection.request) {
            (Link::Up { socket, session: None }, Some(request)) => {
                let outgoing = connection.talk.outgoing();
                let rest = &outgoing[request.written as usize..];
                let (sent, is_broken) = send_all(rest, |bytes| socket.send(bytes));
                request.written += sent as u32;
                (sent, is_broken)
            }
            (Link::Up { socket, session: Some(session) }, Some(request)) => {
                let outgoing = connection.talk.outgoing();
                let sealed = if request.written == 0 { session.send(outgoing) } else { Ok(()) };
                request.written = outgoing.len() as u32;
                let (sent, is_broken) = send_all(&session.outgoing, |bytes| socket.send(bytes));
                session.took(sent);
                (sent, is_broken || sealed.is_err())
            }
            (Link::Up { socket, session: Some(session) } | Link::Shaking { socket, session, .. }, _) => {
                let (sent, is_broken) = send_all(&session.outgoing, |bytes| socket.send(bytes));
                session.took(sent);
                (sent, is_broken)
            }
            _ => (0, false),
        };
        if sent_bytes > 0 {
            let counted_in_ns = connection.request.map_or(u64::MAX, |request| request.intended_ns);
            self.recorder.tally(counted_in_ns).sent_bytes += sent_bytes as u64;
        }
        if is_broken {
            // The peer may have answered before it went away: what can be read says how this ends.
            self.unread.push((slot, self.connections[slot as usize].generation));
        }
    }
}

/// Sends until all is sent, the kernel takes no more, or the connection is lost. Returns how much was sent, and whether
/// it is lost.
#[inline]
fn send_all(bytes: &[u8], mut send: impl FnMut(&[u8]) -> Io) -> (usize, bool) {
    let mut sent = 0;
    while sent < bytes.len() {
        match send(&bytes[sent..]) {
            Io::Moved(more) => sent += more,
            Io::NotYet => return (sent, false),
            Io::Closed | Io::Lost(_) => return (sent, true),
        }
    }
    (sent, false)
}
