//! Reading of replies, and handling of closed and lost connections.

use load::SECOND_NS;
use rustix::io::Errno;
use wire::{Closing, Event, Next, PeerFault, Stage, Ticket};

use super::parts::RequestState;
use super::{HEARTBEAT_NS, Worker, read_delay};
use crate::endings::Ending;
use crate::link::{Link, Retired, Sending, State};
use crate::net::Io;
use crate::net::poll::Ready;

/// Max consecutive reads of one connection before others have their turn.
const READS_MAX: u32 = 16;
/// Max connections read again in one turn, so that endless bodies do not delay due requests.
const UNREAD_MAX: usize = 8;
/// Size of the read buffer for bytes that a new connection sends before its first request.
const PIECE_BYTES: usize = 512;
/// Time after the end of the load during which surplus replies are awaited.
const SURPLUS_WAIT_NS: u64 = SECOND_NS / 10;

impl Worker<'_> {
    /// Handles an event of a socket.
    pub(super) fn on_ready(&mut self, ready: Ready) {
        let link = &mut self.links[ready.link as usize];
        if link.generation != ready.generation {
            return;
        }
        if ready.hung_up {
            link.retired = Retired::HungUp;
        }
        if let State::Connecting { socket } = &link.state {
            if !ready.can_write {
                return;
            }
            let outcome = socket.outcome();
            self.on_dialed(ready.link, outcome, self.clock.now());
        } else if ready.can_write && link.sending == Sending::Blocked {
            self.flush(ready.link);
        }
        if ready.can_read && self.links[ready.link as usize].generation == ready.generation {
            self.receive(ready.link, ready.hung_up);
        }
    }

    /// Reads bytes that a new connection sent before its first request, so that they are not taken for its reply. If there are
    /// none, or the connection has ended, the request will show how it continues.
    pub(super) fn read_before_first_request(&mut self, number: u32) {
        let mut piece = [0; PIECE_BYTES];
        let State::Up { socket, .. } = &self.links[number as usize].state else { return };
        if let Io::Moved(count) = socket.receive(&mut piece) {
            let at_ns = self.clock.now();
            self.process_bytes(number, &mut piece[..count], at_ns);
        }
    }

    /// Reads from used connections for a moment after the load. If a surplus reply was taken for the answer to a request, the true answer
    /// is still unread and arrives now.
    pub(super) fn read_surplus_replies(&mut self) -> Result<(), Errno> {
        let until_ns = self.clock.now() + SURPLUS_WAIT_NS;
        let was_used = |link: &Link| link.served > 0 && matches!(link.state, State::Up { .. });
        while !self.signal.is_aborted() && self.links.iter().any(was_used) {
            let Some(wait_ns @ 1..) = until_ns.checked_sub(self.clock.now()) else { break };
            let count = self.poll.wait(wait_ns.min(HEARTBEAT_NS))?;
            self.compare_clocks();
            for index in 0..count {
                self.on_ready(self.poll.take(index));
            }
            self.read_again();
        }
        Ok(())
    }

    /// Reads connections that have unread bytes.
    pub(super) fn read_again(&mut self) {
        for _ in 0..self.unread.len().min(UNREAD_MAX) {
            let Some((number, generation)) = self.unread.pop_front() else { return };
            if self.links[number as usize].generation == generation {
                self.receive(number, true);
            }
        }
    }

    /// Reads available bytes. A short read means that there are no more, unless the peer hung up.
    fn receive(&mut self, number: u32, hung_up: bool) {
        let generation = self.links[number as usize].generation;
        let mut buffer = std::mem::take(&mut self.buffer);
        for reads in 1.. {
            let link = &self.links[number as usize];
            let (State::Shaking { socket, .. } | State::Greeting { socket, .. } | State::Up { socket, .. }) =
                &link.state
            else {
                break;
            };
            let (io, arrived) = match &mut self.late_reading {
                Some(late_reading) => {
                    let (io, real_time) = sockets::stamped::receive(socket, &mut buffer, &mut self.control);
                    let user = link.carried.first();
                    let exchange = user.and_then(|user| self.users[user as usize].exchange.as_ref());
                    let sent_ns = exchange.map_or(0, |exchange| exchange.sent_ns);
                    (io, real_time.map(|at_ns| late_reading.time_of(at_ns, sent_ns, &self.clock)))
                }
                None => {
                    let (io, queued_ns) = if self.signals.read_delays.count_read() {
                        read_delay::receive(socket, &mut buffer, &mut self.control)
                    } else {
                        (socket.receive(&mut buffer), None)
                    };
                    let exchange = queued_ns.and_then(|queued_ns| {
                        let user = link.carried.first()?;
                        Some((queued_ns, self.users[user as usize].exchange.as_ref()?))
                    });
                    if let Some((queued_ns, exchange)) = exchange {
                        self.signals.note_late_read(exchange, queued_ns, self.clock.now());
                    }
                    (io, None)
                }
            };
            match io {
                Io::Moved(count) => {
                    let at_ns = arrived.unwrap_or_else(|| self.clock.now());
                    let is_last = count < buffer.len() && !hung_up;
                    self.process_bytes(number, &mut buffer[..count], at_ns);
                    if is_last || self.links[number as usize].generation != generation {
                        break;
                    }
                }
                Io::NotYet => break,
                Io::Closed => {
                    self.on_closed(number, self.clock.now());
                    break;
                }
                Io::Lost(errno) => {
                    self.on_lost(number, errno, false, self.clock.now());
                    break;
                }
            }
            if reads == READS_MAX {
                self.unread.push_back((number, generation));
                break;
            }
        }
        self.buffer = buffer;
    }

    /// Processes received bytes, after decrypting them if the link uses TLS.
    pub(super) fn process_bytes(&mut self, number: u32, bytes: &mut [u8], at_ns: u64) {
        self.tally_of(number).received_bytes += bytes.len() as u64;
        let link = &mut self.links[number as usize];
        let was_shaking = matches!(link.state, State::Shaking { .. });
        let (State::Shaking { session, .. }
        | State::Greeting { session: Some(session), .. }
        | State::Up { session: Some(session), .. }) = &mut link.state
        else {
            return self.route(number, bytes, at_ns);
        };
        let mut plain = std::mem::take(&mut self.plain);
        plain.clear();
        let opened = session.receive(bytes, &mut plain);
        let (has_output, peer_closed) = (!session.outgoing.is_empty(), session.peer_closed);
        // The connection serves no further request after the end of TLS.
        if peer_closed {
            link.retired = Retired::HungUp;
        }
        let generation = link.generation;
        if has_output {
            self.flush(number);
        }
        match opened {
            Ok(()) => self.on_handshake_done(number, at_ns),
            Err(fault) => self.end_link(number, Ending::new(fault.class, 0, fault.sentence), at_ns),
        }
        if !plain.is_empty() && self.links[number as usize].generation == generation {
            if was_shaking && self.links[number as usize].is_up() {
                // Bytes that came with the handshake cannot be the reply to a request that is sent after it.
                self.end_link(number, Ending::unsolicited_after_handshake(), at_ns);
            } else {
                self.route(number, &plain, at_ns);
            }
        }
        self.plain = plain;
        if peer_closed && self.links[number as usize].generation == generation {
            self.on_closed(number, at_ns);
        }
    }

    #[inline]
    fn route(&mut self, number: u32, bytes: &[u8], at_ns: u64) {
        if self.links[number as usize].is_up() {
            self.deliver(number, bytes, at_ns);
        } else {
            self.take_greeting(number, bytes, at_ns);
        }
    }

    /// Passes bytes to the channel, and acts on its events.
    #[inline]
    fn deliver(&mut self, number: u32, bytes: &[u8], at_ns: u64) {
        if !self.links[number as usize].is_multiplexed() {
            return self.deliver_all(number, bytes, at_ns);
        }
        self.processing_link = Some(number);
        self.deliver_all(number, bytes, at_ns);
        // The link may be closed or settled by now.
        self.processing_link = None;
        if self.links[number as usize].is_up() {
            self.settle_link(number, at_ns);
        }
    }

    #[inline]
    fn deliver_all(&mut self, number: u32, bytes: &[u8], mut at_ns: u64) {
        let link = &mut self.links[number as usize];
        let (generation, is_multiplexed) = (link.generation, link.is_multiplexed());
        if let Some(user) = link.carried.first().filter(|_| !is_multiplexed)
            && let Some(exchange) = &mut self.users[user as usize].exchange
        {
            at_ns = exchange.note_bytes(at_ns);
        }
        let (mut rest, mut was_waiting) = (bytes, false);
        loop {
            let link = &mut self.links[number as usize];
            let (used, is_waiting, after) = match link.channel.received(rest) {
                Ok(None) => {
                    // The end of an exchange updates the link, but other bytes may change its room, too.
                    if is_multiplexed {
                        self.dispatch.update(&self.links, number);
                    }
                    return;
                }
                Ok(Some((used, event))) => {
                    let is_waiting = matches!(event, Event::PartReplied { next: Next::Await, .. });
                    (used, is_waiting, self.on_event(event, at_ns, is_multiplexed))
                }
                Err(fault) => return self.on_fault(number, fault, at_ns),
            };
            rest = &rest[used.min(rest.len())..];
            if self.links[number as usize].generation != generation {
                return;
            }
            // The channel waits twice without consuming bytes: more rounds would not help.
            let is_stuck = used == 0 && is_waiting && was_waiting;
            if !is_multiplexed && (rest.is_empty() || is_stuck || matches!(after, RequestState::Over)) {
                return;
            }
            was_waiting = is_waiting;
        }
    }

    /// Acts on an event of a channel. `is_first`: the user of the bytes was unknown until this event.
    #[inline(always)]
    pub(super) fn on_event(&mut self, event: Event, mut at_ns: u64, is_first: bool) -> RequestState {
        let (Event::Replied { ticket, .. }
        | Event::PartReplied { ticket, .. }
        | Event::Redirected { ticket, .. }
        | Event::Failed { ticket, .. }) = event;
        if is_first && !matches!(event, Event::Failed { .. }) {
            at_ns = self.note_bytes(ticket.0, at_ns);
        }
        match event {
            Event::Replied { reply, .. } => {
                self.on_reply(ticket.0, reply, at_ns);
                RequestState::Over
            }
            Event::PartReplied { part, next, .. } => self.on_answered(ticket.0, part, next, at_ns),
            Event::Redirected { redirect, .. } => {
                self.on_redirected(ticket.0, &redirect, at_ns);
                RequestState::Over
            }
            Event::Failed { fault, .. } => {
                self.on_failed(ticket.0, &fault, at_ns);
                RequestState::Over
            }
        }
    }

    /// Notes bytes for the request of a user. Returns their time.
    #[inline]
    fn note_bytes(&mut self, user: u32, at_ns: u64) -> u64 {
        let user = self.users.get_mut(user as usize);
        let exchange = user.and_then(|user| user.exchange.as_mut());
        exchange.map_or(at_ns, |exchange| exchange.note_bytes(at_ns))
    }

    #[cold]
    pub(super) fn on_fault(&mut self, number: u32, fault: PeerFault, at_ns: u64) {
        self.end_link(number, Ending::fault(&fault), at_ns);
    }

    /// Returns whether the first request of a link pauses.
    fn is_in_pause(&self, link: &Link) -> bool {
        link.carried.first().is_some_and(|user| self.users[user as usize].is_in_pause())
    }

    /// Returns whether the peer closed a kept link while it was idle, so that no request on it was received. Requests that the peer's
    /// kernel acknowledged before the close were received. After a reset without a close, received bytes are unknown.
    #[cold]
    fn is_stale(&self, link: &Link, has_closed: bool) -> bool {
        let (State::Up { socket, session } | State::Greeting { socket, session }) = &link.state else {
            return link.served > 0;
        };
        let exchanges = link.carried.users().filter_map(|user| self.users[user as usize].exchange);
        let sent_bytes: u64 = exchanges.map(|exchange| exchange.sent_bytes).sum();
        let left_bytes = session.as_ref().map_or(0, |session| session.outgoing.len() as u64);
        let in_flight_bytes = if has_closed { socket.unacknowledged_bytes().unwrap_or(0) } else { 0 };
        link.served > 0 && in_flight_bytes + left_bytes >= sent_bytes
    }

    /// Handles a reset or lost connection. `has_closed`: the peer closed it before.
    #[cold]
    fn on_lost(&mut self, number: u32, errno: Errno, has_closed: bool, at_ns: u64) {
        let link = &self.links[number as usize];
        let user = link.carried.first();
        let exchange = user.and_then(|user| self.users[user as usize].exchange);
        let is_answered = exchange.is_some_and(|exchange| exchange.is_answered());
        let ending = match link.state {
            State::Shaking { .. } => Ending::handshake_reset(errno),
            State::Greeting { .. } => Ending::greeting_reset(errno),
            _ if self.is_in_pause(link) => Ending::ended_in_pause(),
            _ => {
                let stage = user.map_or(Stage::Idle, |user| link.channel.stage(Ticket(user)));
                Ending::reset(stage, !is_answered && self.is_stale(link, has_closed), errno)
            }
        };
        self.end_link(number, ending, at_ns);
    }

    /// Handles the end of the byte stream from the peer.
    fn on_closed(&mut self, number: u32, at_ns: u64) {
        let link = &mut self.links[number as usize];
        let Some(user) = link.carried.first() else {
            return match &link.state {
                State::Shaking { .. } => self.end_link(number, Ending::handshake_closed(), at_ns),
                State::Greeting { .. } => self.end_link(number, Ending::greeting_closed(), at_ns),
                _ => self.close(number),
            };
        };
        if let Some(errno) = link.take_send_error() {
            return self.on_lost(number, errno, true, at_ns);
        }
        let is_answered = self.users[user as usize].exchange.is_some_and(|exchange| exchange.is_answered());
        let may_be_truncated = link.may_be_truncated();
        let is_stale = self.is_stale(&self.links[number as usize], true);
        let link = &mut self.links[number as usize];
        let is_in_doubt = link.channel.stage(Ticket(user)) == Stage::InDoubt;
        let ending = match &link.state {
            State::Shaking { .. } => Ending::handshake_closed(),
            State::Greeting { .. } => Ending::greeting_closed(),
            // Nothing was awaited, so no reply was cut short.
            _ if self.users[user as usize].is_in_pause() => Ending::ended_in_pause(),
            _ => match link.channel.peer_closed(Ticket(user)) {
                Closing::Replied(reply) if !may_be_truncated && !link.is_multiplexed() => {
                    return self.on_reply(user, reply, at_ns);
                }
                _ if is_in_doubt => Ending::closed_in_doubt(),
                Closing::Empty if is_answered => Ending::closed_between(),
                Closing::Empty => Ending::closed(is_stale),
                Closing::Replied(_) | Closing::Incomplete => Ending::incomplete(),
            },
        };
        self.end_link(number, ending, at_ns);
    }
}
