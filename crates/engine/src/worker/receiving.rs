//! Replies on their way in.

use rustix::io::Errno;
use wire::{Closing, Conversation, PeerFault, Progress, Script};

use super::Worker;
use crate::connection::Link;
use crate::endings::Ending;
use crate::net::poll::Ready;
use crate::net::{self, Io};

/// Reads of one connection in a row before the others have their turn again.
const READS_MAX: u32 = 16;
/// Connections read again in one turn: what is due must not wait behind endless bodies.
const UNREAD_MAX: usize = 8;

impl<S: Script> Worker<'_, S> {
    /// Something happened to a socket.
    pub(super) fn on_ready(&mut self, ready: Ready) {
        let connection = &mut self.connections[ready.slot as usize];
        if connection.generation != ready.generation {
            return;
        }
        connection.hung_up |= ready.hung_up;
        if let Link::Connecting { socket, .. } = &connection.link {
            if !ready.can_write {
                return;
            }
            let outcome = socket.outcome();
            self.on_dialled(ready.slot, outcome, self.clock.now());
        } else if ready.can_write && self.has_unsent(ready.slot) {
            self.flush(ready.slot);
        }
        if ready.can_read && self.connections[ready.slot as usize].generation == ready.generation {
            self.receive(ready.slot, ready.hung_up);
        }
    }

    /// Reads connections that were left in the middle.
    pub(super) fn read_again(&mut self) {
        for _ in 0..self.unread.len().min(UNREAD_MAX) {
            let Some((slot, generation)) = self.unread.pop_front() else { return };
            if self.connections[slot as usize].generation == generation {
                self.receive(slot, true);
            }
        }
    }

    pub(super) fn has_unsent(&self, slot: u32) -> bool {
        let connection = &self.connections[slot as usize];
        match &connection.link {
            Link::Shaking { session, .. } | Link::Up { session: Some(session), .. } => {
                !session.outgoing.is_empty()
            }
            Link::Up { session: None, .. } => connection
                .request
                .is_some_and(|request| (request.written as usize) < connection.talk.outgoing().len()),
            Link::Down | Link::Connecting { .. } => false,
        }
    }

    /// Reads what there is. A short read means that there is no more, unless the peer hung up.
    fn receive(&mut self, slot: u32, hung_up: bool) {
        let generation = self.connections[slot as usize].generation;
        let mut buffer = std::mem::take(&mut self.buffer);
        for reads in 1.. {
            let (Link::Shaking { socket, .. } | Link::Up { socket, .. }) =
                &self.connections[slot as usize].link
            else {
                break;
            };
            let (io, arrived) = match &mut self.late_reading {
                Some(late_reading) => {
                    let (io, real_time) =
                        net::stamped::receive(socket, &mut buffer, &mut late_reading.control);
                    (io, real_time.map(|real_time_ns| late_reading.time_of(real_time_ns, &self.clock)))
                }
                None => (socket.receive(&mut buffer), None),
            };
            match io {
                Io::Moved(count) => {
                    let at_ns = arrived.unwrap_or_else(|| self.clock.now());
                    let is_last = count < buffer.len() && !hung_up;
                    self.take_in(slot, &mut buffer[..count], at_ns);
                    if is_last || self.connections[slot as usize].generation != generation {
                        break;
                    }
                }
                Io::NotYet => break,
                Io::Closed => {
                    self.on_closed(slot, self.clock.now());
                    break;
                }
                Io::Lost(errno) => {
                    self.on_lost(slot, errno, self.clock.now());
                    break;
                }
            }
            if reads == READS_MAX {
                self.unread.push_back((slot, generation));
                break;
            }
        }
        self.buffer = buffer;
    }

    /// Takes bytes as they were read, through TLS if there is TLS.
    fn take_in(&mut self, slot: u32, bytes: &mut [u8], at_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        let recorder = &mut self.books[usize::from(connection.step)].recorder;
        recorder.tally(connection.counted_in_ns()).received_bytes += bytes.len() as u64;
        let was_up = connection.is_up();
        let (Link::Shaking { session, .. } | Link::Up { session: Some(session), .. }) = &mut connection.link
        else {
            return self.deliver(slot, bytes, at_ns);
        };
        let mut plain = std::mem::take(&mut self.plain);
        plain.clear();
        let opened = session.receive(bytes, &mut plain);
        let (has_output, peer_closed) = (!session.outgoing.is_empty(), session.peer_closed);
        // A reply that comes with the end of TLS is the last one here.
        connection.hung_up |= peer_closed;
        let generation = connection.generation;
        if has_output {
            self.flush(slot);
        }
        match opened {
            Ok(()) => self.on_shaken(slot, at_ns),
            Err(fault) => self.end_connection(slot, Ending::failed(fault.class, 0, fault.sentence), at_ns),
        }
        if !plain.is_empty() && self.connections[slot as usize].generation == generation {
            if was_up {
                self.deliver(slot, &plain, at_ns);
            } else {
                // Whatever came with the handshake cannot be the reply to a request that goes out after it.
                self.end_connection(slot, Ending::too_early(), at_ns);
            }
        }
        self.plain = plain;
        if peer_closed && self.connections[slot as usize].generation == generation {
            self.on_closed(slot, at_ns);
        }
    }

    /// Gives the conversation its bytes, and acts on what they come to.
    #[inline]
    fn deliver(&mut self, slot: u32, bytes: &[u8], at_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        let at_ns = connection.request.map_or(at_ns, |request| at_ns.max(request.sent_ns));
        if let Some(request) = &mut connection.request
            && request.first_byte_ns == 0
        {
            request.first_byte_ns = at_ns;
        }
        match connection.talk.received(bytes) {
            Ok(Progress::NeedMore | Progress::Answered { .. }) => {}
            // Whoever sends more than was asked for cannot be trusted to have meant the reply before it.
            Ok(Progress::Replied { used, reply }) => match connection.talk.received(&bytes[used..]) {
                Ok(_) => self.on_reply(slot, reply, at_ns),
                Err(fault) => self.on_fault(slot, fault, at_ns),
            },
            Err(fault) => self.on_fault(slot, fault, at_ns),
        }
    }

    #[cold]
    fn on_fault(&mut self, slot: u32, fault: PeerFault, at_ns: u64) {
        self.end_connection(slot, Ending::failed(fault.class, fault.code, fault.message()), at_ns);
    }

    /// The connection was reset or lost.
    #[cold]
    fn on_lost(&mut self, slot: u32, errno: Errno, at_ns: u64) {
        let connection = &self.connections[slot as usize];
        let ending = match connection.link {
            Link::Shaking { .. } => Ending::handshake_reset(errno),
            _ => Ending::reset(connection.talk.stage(), connection.served > 0, errno),
        };
        self.end_connection(slot, ending, at_ns);
    }

    /// The peer will send nothing more.
    fn on_closed(&mut self, slot: u32, at_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        if let Some(errno) = connection.send_error.take().filter(|_| connection.request.is_some()) {
            return self.on_lost(slot, errno, at_ns);
        }
        let is_reused = connection.served > 0;
        let is_cut_off = connection.link.is_cut_off();
        let ending = match &connection.link {
            Link::Shaking { .. } => Ending::handshake_closed(),
            _ if connection.request.is_none() => return self.close(slot),
            _ => match connection.talk.peer_closed() {
                Closing::Replied(reply) if !is_cut_off => return self.on_reply(slot, reply, at_ns),
                Closing::Empty => Ending::closed(is_reused),
                Closing::Replied(_) | Closing::Incomplete => Ending::incomplete(),
            },
        };
        self.end_connection(slot, ending, at_ns);
    }
}
