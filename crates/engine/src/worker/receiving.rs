//! Replies on their way in.

use load::SECOND_NS;
use rustix::io::Errno;
use wire::{Closing, Conversation, Next, PartEnd, PeerFault, Progress, Script, Stage};

use super::parts::After;
use super::{HEARTBEAT_NS, Worker};
use crate::connection::{Connection, Link};
use crate::endings::Ending;
use crate::net::poll::Ready;
use crate::net::{self, Io};

/// Reads of one connection in a row before the others have their turn again.
const READS_MAX: u32 = 16;
/// Connections read again in one turn: what is due must not wait behind endless bodies.
const UNREAD_MAX: usize = 8;
/// What a fresh connection says before it is asked is read in pieces of this size.
const PIECE_BYTES: usize = 512;
/// How long surplus replies are waited for when the load is over.
const SURPLUS_WAIT_NS: u64 = SECOND_NS / 10;

impl<S: Script> Worker<'_, S> {
    /// Something happened to a socket.
    pub(super) fn on_ready(&mut self, ready: Ready) {
        let connection = &mut self.connections[ready.slot as usize];
        if connection.generation != ready.generation {
            return;
        }
        connection.hung_up |= ready.hung_up;
        if let Link::Connecting { socket } = &connection.link {
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

    /// Hears what a fresh connection has to say before its first request is sent: that is no reply to it. Where nothing has
    /// come, which includes the end of the connection, the request will show how it goes on.
    pub(super) fn hear_early(&mut self, slot: u32) {
        let mut piece = [0; PIECE_BYTES];
        let Link::Up { socket, .. } = &self.connections[slot as usize].link else { return };
        if let Io::Moved(count) = socket.receive(&mut piece) {
            let at_ns = self.clock.now();
            self.take_in(slot, &mut piece[..count], at_ns);
        }
    }

    /// Listens for a moment when the load is over, on connections that were used. A surplus reply that was taken for the answer
    /// to a request leaves a true answer over: it comes now, or never.
    pub(super) fn hear_surplus(&mut self) -> Result<(), Errno> {
        let until_ns = self.clock.now() + SURPLUS_WAIT_NS;
        let was_used = |connection: &Connection<S::Talk>| {
            connection.served > 0 && matches!(connection.link, Link::Up { .. })
        };
        while !self.signal.is_aborted() && self.connections.iter().any(was_used) {
            let Some(wait_ns @ 1..) = until_ns.checked_sub(self.clock.now()) else { break };
            let count = self.poll.wait(wait_ns.min(HEARTBEAT_NS))?;
            self.set_clocks();
            for index in 0..count {
                self.on_ready(self.poll.take(index));
            }
            self.read_again();
        }
        Ok(())
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
            Link::Shaking { session, .. }
            | Link::Greeting { session: Some(session), .. }
            | Link::Up { session: Some(session), .. } => !session.outgoing.is_empty(),
            Link::Greeting { session: None, written, .. } => {
                written.is_some_and(|written| (written as usize) < connection.talk.outgoing().len())
            }
            Link::Up { session: None, .. } => connection
                .request
                .is_some_and(|request| (request.written as usize) < connection.talk.outgoing().len()),
            Link::Down | Link::Connecting { .. } | Link::Embedded => false,
        }
    }

    /// Reads what there is. A short read means that there is no more, unless the peer hung up.
    fn receive(&mut self, slot: u32, hung_up: bool) {
        let generation = self.connections[slot as usize].generation;
        let mut buffer = std::mem::take(&mut self.buffer);
        for reads in 1.. {
            let (Link::Shaking { socket, .. } | Link::Greeting { socket, .. } | Link::Up { socket, .. }) =
                &self.connections[slot as usize].link
            else {
                break;
            };
            let (io, arrived) = match &mut self.late_reading {
                Some(late_reading) => {
                    let (io, real_time) =
                        net::stamped::receive(socket, &mut buffer, &mut late_reading.control);
                    let request = &self.connections[slot as usize].request;
                    let sent_ns = request.map_or(0, |request| request.sent_ns);
                    (io, real_time.map(|at_ns| late_reading.time_of(at_ns, sent_ns, &self.clock)))
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
    pub(super) fn take_in(&mut self, slot: u32, bytes: &mut [u8], at_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        let recorder = &mut self.books[usize::from(connection.step)].recorder;
        recorder.tally(connection.counted_in_ns()).received_bytes += bytes.len() as u64;
        let was_shaking = matches!(connection.link, Link::Shaking { .. });
        let (Link::Shaking { session, .. }
        | Link::Greeting { session: Some(session), .. }
        | Link::Up { session: Some(session), .. }) = &mut connection.link
        else {
            return self.hear(slot, bytes, at_ns);
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
            Err(fault) => self.end_connection(slot, Ending::new(fault.class, 0, fault.sentence), at_ns),
        }
        if !plain.is_empty() && self.connections[slot as usize].generation == generation {
            if was_shaking && self.connections[slot as usize].is_up() {
                // Whatever came with the handshake cannot be the reply to a request that goes out after it.
                self.end_connection(slot, Ending::too_early(), at_ns);
            } else {
                self.hear(slot, &plain, at_ns);
            }
        }
        self.plain = plain;
        if peer_closed && self.connections[slot as usize].generation == generation {
            self.on_closed(slot, at_ns);
        }
    }

    #[inline]
    fn hear(&mut self, slot: u32, bytes: &[u8], at_ns: u64) {
        if self.connections[slot as usize].is_up() {
            self.deliver(slot, bytes, at_ns);
        } else {
            self.hear_greeting(slot, bytes, at_ns);
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
        if let Some(part) = &mut connection.within.part
            && part.first_byte_ns == 0
        {
            part.first_byte_ns = at_ns;
        }
        match connection.talk.received(bytes) {
            Ok(Progress::NeedMore) => {}
            // Whoever sends more than was asked for cannot be trusted to have meant the reply before it.
            Ok(Progress::Replied { used, reply }) => match connection.talk.received(&bytes[used..]) {
                Ok(_) => self.on_reply(slot, reply, at_ns),
                Err(fault) => self.on_fault(slot, fault, at_ns),
            },
            Ok(Progress::Answered { used, part, next }) => {
                self.deliver_rest(slot, &bytes[used.min(bytes.len())..], (part, next), at_ns);
            }
            Err(fault) => self.on_fault(slot, fault, at_ns),
        }
    }

    /// A part was answered: the request goes on, perhaps with more of the same bytes.
    fn deliver_rest(
        &mut self,
        slot: u32,
        mut rest: &[u8],
        mut answered: (Option<PartEnd>, Next),
        at_ns: u64,
    ) {
        loop {
            let (part, next) = answered;
            let is_waiting = matches!(next, Next::Await);
            if self.connections[slot as usize].request.is_none() {
                return;
            }
            if matches!(next, Next::Done(_))
                && let Err(fault) = self.connections[slot as usize].talk.received(rest)
            {
                return self.on_fault(slot, fault, at_ns);
            }
            if let After::Over = self.on_answered(slot, part, next, at_ns) {
                return;
            }
            if rest.is_empty() {
                return;
            }
            let connection = &mut self.connections[slot as usize];
            match connection.talk.received(rest) {
                Ok(Progress::NeedMore) => return,
                Ok(Progress::Replied { used, reply }) => {
                    return match connection.talk.received(&rest[used..]) {
                        Ok(_) => self.on_reply(slot, reply, at_ns),
                        Err(fault) => self.on_fault(slot, fault, at_ns),
                    };
                }
                // Nothing comes of waiting for more of what is there.
                Ok(Progress::Answered { used: 0, next: Next::Await, .. }) if is_waiting => return,
                Ok(Progress::Answered { used, part, next }) => {
                    rest = &rest[used.min(rest.len())..];
                    answered = (part, next);
                }
                Err(fault) => return self.on_fault(slot, fault, at_ns),
            }
        }
    }

    #[cold]
    pub(super) fn on_fault(&mut self, slot: u32, fault: PeerFault, at_ns: u64) {
        self.end_connection(slot, Ending::fault(&fault), at_ns);
    }

    /// The connection was reset or lost.
    #[cold]
    fn on_lost(&mut self, slot: u32, errno: Errno, at_ns: u64) {
        let connection = &self.connections[slot as usize];
        let ending = match connection.link {
            Link::Shaking { .. } => Ending::handshake_reset(errno),
            Link::Greeting { .. } => Ending::greeting_reset(errno),
            _ if connection.within.pause_until_ns > 0 => Ending::ended_in_pause(),
            _ => Ending::reset(connection.talk.stage(), connection.is_fresh_reuse(), errno),
        };
        self.end_connection(slot, ending, at_ns);
    }

    /// The peer will send nothing more.
    fn on_closed(&mut self, slot: u32, at_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        if let Some(errno) = connection.send_error.take().filter(|_| connection.request.is_some()) {
            return self.on_lost(slot, errno, at_ns);
        }
        let (is_reused, is_answered) = (connection.served > 0, connection.within.is_answered);
        let is_in_doubt = connection.talk.stage() == Stage::InDoubt;
        let is_cut_off = connection.link.is_cut_off();
        let ending = match &connection.link {
            Link::Shaking { .. } => Ending::handshake_closed(),
            Link::Greeting { .. } => Ending::greeting_closed(),
            _ if connection.request.is_none() => return self.close(slot),
            // Nothing was awaited, so no reply was cut short.
            _ if connection.within.pause_until_ns > 0 => Ending::ended_in_pause(),
            _ => match connection.talk.peer_closed() {
                Closing::Replied(reply) if !is_cut_off => return self.on_reply(slot, reply, at_ns),
                _ if is_in_doubt => Ending::closed_in_doubt(),
                Closing::Empty if is_answered => Ending::closed_between(),
                Closing::Empty => Ending::closed(is_reused),
                Closing::Replied(_) | Closing::Incomplete => Ending::incomplete(),
            },
        };
        self.end_connection(slot, ending, at_ns);
    }
}
