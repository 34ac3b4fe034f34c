//! Sending of requests.

use wire::{Channel, Next, Ticket};

use super::Worker;
use crate::exchange::{Attempt, Exchange, Redirections};
use crate::link::{Sending, State};
use crate::net::Io;
use crate::net::socket::Socket;
use crate::net::tls::Session;
use crate::timers::NEVER;

/// Max writes of a link in one turn, so that many small writes do not delay timers, replies, and other links.
const WRITES_MAX: u32 = 64;

impl Worker<'_> {
    /// Starts the request of a step for a user without one in flight. `was_due`: the request was counted as planned before.
    #[inline]
    pub(super) fn begin(&mut self, number: u32, step: u16, was_due: bool, intended_ns: u64, now_ns: u64) {
        let place = self.steps[usize::from(step)];
        let user = &mut self.users[number as usize];
        let peer = self.routes.map_or(place.peer, |routes| routes.route(step, &user.values));
        let Some(link_number) = self.dispatch.choose(&self.links, peer, user.lane) else {
            return self.wait_for_room(number, (step, peer), was_due, intended_ns);
        };
        if self.links[link_number as usize].is_idle_too_long(now_ns) {
            self.renew(link_number);
        }
        let user = &mut self.users[number as usize];
        let link = &mut self.links[link_number as usize];
        link.step = step;
        link.carried.add(number);
        self.totals[link.number as usize].has_request = true;
        let is_up = link.is_up();
        let next = match is_up {
            true => link.channel.begin(Ticket(number), place.step, &user.values),
            false => Next::Await,
        };
        self.dispatch.update(&self.links, link_number);
        // Searching a reply and drawing values since `now_ns` took time.
        let sent_ns = if self.is_prompt { now_ns } else { self.clock.now() };
        let own_lag_ns = sent_ns.saturating_sub(intended_ns.max(user.free_ns));
        let other_lateness_ns = sent_ns.saturating_sub(intended_ns) - own_lag_ns;
        user.lag_ns = own_lag_ns + user.lag_ns.min(other_lateness_ns);
        let timeout_ns = if is_up { self.job.timeout_ns } else { self.job.opening_timeout_ns() };
        let deadline_ns = now_ns.saturating_add(timeout_ns);
        let exchange = Exchange::new(link_number, step, intended_ns, now_ns, sent_ns);
        user.exchange = Some(Exchange { deadline_ns, is_begun: is_up, ..exchange });
        user.redirections = Redirections::default();
        self.signals.sent(intended_ns, sent_ns);
        self.signals.begun(intended_ns);
        self.begin_wait(number, intended_ns);
        let account = &mut self.accounts[usize::from(step)];
        if was_due {
            account.note_due_sent(intended_ns, sent_ns);
        } else {
            account.note_sent(intended_ns, sent_ns);
            self.note_planned(intended_ns);
        }
        self.in_flight += 1;
        self.arm(number, deadline_ns);
        match next {
            _ if !is_up => {
                self.links[link_number as usize].has_unbegun = true;
                self.dial(link_number, sent_ns);
            }
            Next::Send => self.send(number, link_number, sent_ns),
            next => self.on_begun(number, next, sent_ns),
        }
    }

    /// Closes a link that its peer may close for being idle. The next request opens it again.
    #[cold]
    fn renew(&mut self, number: u32) {
        self.close(number);
    }

    /// Begins the request that waited for its link, or continues one whose link was reopened.
    pub(super) fn start(&mut self, number: u32, now_ns: u64) {
        if self.users[number as usize].redirections.is_asking() {
            self.announce_redirect(number);
        }
        let user = &mut self.users[number as usize];
        let Some(exchange) = &mut user.exchange else { return };
        let (link, own_step) = (exchange.link, self.steps[usize::from(exchange.step)].step);
        exchange.is_begun = true;
        exchange.deadline_ns = exchange.begun_ns.saturating_add(self.job.timeout_ns);
        let channel = &mut self.links[link as usize].channel;
        let (next, stays_open) = match exchange.is_answered() {
            true => (channel.resume(Ticket(number)), true),
            false => (channel.begin(Ticket(number), own_step, &user.values), false),
        };
        let sent_ns = if self.is_prompt { now_ns } else { self.clock.now() };
        // The time of a request counts from its first attempt.
        if !stays_open && exchange.attempt == Attempt::First {
            self.signals.correct_send_time(exchange, sent_ns);
            exchange.sent_ns = sent_ns;
        }
        match next {
            Next::Send => self.send(number, link, sent_ns),
            next => self.on_begun(number, next, sent_ns),
        }
    }

    /// Sends bytes of a channel that belong to no request, such as acknowledgments, because the peer may wait for them. Does nothing while
    /// the socket is blocked.
    pub(super) fn send_unsolicited(&mut self, number: u32) {
        let link = &self.links[number as usize];
        let can_send = matches!(link.state, State::Up { .. } | State::Greeting { .. });
        if can_send && link.sending == Sending::Done && !link.channel.outgoing().is_empty() {
            self.flush(number);
        }
    }

    /// Continues links whose sending was interrupted.
    pub(super) fn send_again(&mut self) {
        for _ in 0..self.unsent.len() {
            let Some((number, generation)) = self.unsent.pop_front() else { return };
            let link = &self.links[number as usize];
            if link.generation == generation && link.sending == Sending::Interrupted {
                self.flush(number);
            }
        }
    }

    /// Sends the pending bytes of a link as far as the kernel takes them, in at most [`WRITES_MAX`] writes.
    pub(super) fn flush(&mut self, number: u32) {
        let link = &mut self.links[number as usize];
        let channel = &mut link.channel;
        // Bytes passed to TLS, or to the kernel.
        let mut handed_on = 0;
        let mut is_interrupted = false;
        let (sent_bytes, end) = match &mut link.state {
            State::Up { socket, session: None } | State::Greeting { socket, session: None } => {
                let end;
                (handed_on, end, is_interrupted) = send_pieces(channel.as_mut(), socket);
                (handed_on, end)
            }
            State::Up { socket, session: Some(session) }
            | State::Greeting { socket, session: Some(session) } => {
                let outgoing = channel.outgoing();
                if !outgoing.is_empty() {
                    // An error means that the peer closed TLS; the next read reports it.
                    let _ = session.send(outgoing);
                    handed_on = outgoing.len();
                    channel.sent(handed_on);
                }
                send_records(socket, session)
            }
            State::Shaking { socket, session } => send_records(socket, session),
            State::InProcess => {
                if !link.carried.is_empty() {
                    self.queue_call(number);
                }
                return;
            }
            State::Down | State::Connecting { .. } => (0, Io::Moved(0)),
        };
        link.sending = match end {
            Io::Moved(_) if is_interrupted => {
                self.unsent.push_back((number, link.generation));
                Sending::Interrupted
            }
            Io::Moved(_) => Sending::Done,
            Io::NotYet => Sending::Blocked,
            Io::Closed | Io::Lost(_) => Sending::Failed,
        };
        let (step, user) = (link.step, link.carried.first());
        let exchange = user.and_then(|user| self.users[user as usize].exchange.as_mut());
        let intended_ns = exchange.map_or(NEVER, |exchange| {
            exchange.sent_bytes += handed_on as u64;
            exchange.intended_ns
        });
        if sent_bytes > 0 {
            let tally = self.accounts[usize::from(step)].recorder.tally(intended_ns);
            tally.sent_bytes += sent_bytes as u64;
        }
        match end {
            Io::Moved(_) => {}
            // The rest is sent when the kernel has room, so the thread must poll its sockets from now on.
            Io::NotYet => self.late_reading = None,
            Io::Closed | Io::Lost(_) => {
                // The peer may have answered before it closed, so the next read determines the ending.
                let link = &mut self.links[number as usize];
                link.note_send_error(if let Io::Lost(errno) = end { Some(errno) } else { None });
                self.unread.push_back((number, link.generation));
            }
        }
    }
}

/// Sends pieces as large as the protocol allows. Returns the number of bytes sent, the last result of the kernel, and whether more
/// is pending after [`WRITES_MAX`] writes.
#[inline]
fn send_pieces(channel: &mut dyn Channel, socket: &Socket) -> (usize, Io, bool) {
    let mut handed_on = 0;
    for _ in 0..WRITES_MAX {
        let outgoing = channel.outgoing();
        let (sent, end) = send_all(outgoing, |bytes| socket.send(bytes));
        let is_last = outgoing.is_empty() || !matches!(end, Io::Moved(_));
        channel.sent(sent);
        handed_on += sent;
        if is_last {
            return (handed_on, end, false);
        }
    }
    (handed_on, Io::Moved(handed_on), !channel.outgoing().is_empty())
}

fn send_records(socket: &Socket, session: &mut Session) -> (usize, Io) {
    let (sent, end) = send_all(&session.outgoing, |bytes| socket.send(bytes));
    session.consume_outgoing(sent);
    (sent, end)
}

/// Sends until all bytes are sent, the kernel takes no more, or the connection is lost. Returns the number of bytes sent and the
/// last result of the kernel.
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
