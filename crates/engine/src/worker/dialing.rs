//! Opening and closing of links: from a new socket through TLS to a link that can carry requests.

use record::Tally;
use rustix::io::Errno;

use super::Worker;
use crate::endings::Ending;
use crate::exchange::Exchange;
use crate::link::{NO_IDLE_END, Retired, Sending, State};
use crate::net::socket::Socket;
use crate::net::tls::Session;
use crate::net::{self, ConnectingSocket};
use crate::timers::{NEVER, Reason};

impl Worker<'_> {
    /// Opens a link, unless it is being opened. The deadlines of the exchanges that wait for it limit how long that may take.
    pub(super) fn dial(&mut self, number: u32, now_ns: u64) {
        let link = &mut self.links[number as usize];
        if link.is_opening() {
            return;
        }
        if self.in_process[usize::from(link.peer)] {
            return self.open_in_process(number, now_ns);
        }
        let address = self.choose_address(number);
        let link = &mut self.links[number as usize];
        let endpoint = &self.job.peer(link.peer).endpoints[usize::from(address)];
        let dialled = net::dial(endpoint).and_then(|dialled| {
            self.poll.watch(&dialled.socket, number, link.generation)?;
            sockets::stamped::enable(&dialled.socket);
            Ok(dialled)
        });
        match dialled {
            Ok(ConnectingSocket { socket, is_connected }) => {
                link.state = State::Connecting { socket };
                link.dialed_ns = now_ns;
                self.dialing += 1;
                if is_connected {
                    self.on_connected(number, now_ns);
                }
            }
            Err(errno) => self.on_dial_failed(number, Ending::connect(errno), now_ns),
        }
    }

    /// Handles the result of a non-blocking connect.
    pub(super) fn on_dialed(&mut self, number: u32, outcome: Result<(), Errno>, now_ns: u64) {
        match outcome {
            Ok(()) => self.on_connected(number, now_ns),
            Err(errno) => self.on_dial_failed(number, Ending::connect(errno), now_ns),
        }
    }

    fn on_connected(&mut self, number: u32, now_ns: u64) {
        let link = &mut self.links[number as usize];
        let State::Connecting { socket } = std::mem::replace(&mut link.state, State::Down) else { return };
        if self.job.peer(link.peer).starts_with_tls() {
            self.note_connected(number, now_ns);
            self.begin_handshake(number, socket, now_ns);
        } else {
            link.state = State::Greeting { socket, session: None };
            self.greet(number, now_ns);
        }
    }

    /// Returns the exchange on a link, or the first one if it carries several. `None` if it carries none.
    #[inline]
    pub(super) fn exchange_on(&mut self, number: u32) -> Option<&mut Exchange> {
        let user = self.links[number as usize].carried.first()?;
        self.users[user as usize].exchange.as_mut()
    }

    /// Returns the tally for events on a link: the tally of its step, in the phase of the request that it carries. Connections opened
    /// without a request count as measured.
    #[inline]
    pub(super) fn tally_of(&mut self, number: u32) -> &mut Tally {
        let at_ns = self.exchange_on(number).map_or(NEVER, |exchange| exchange.intended_ns);
        self.accounts[usize::from(self.links[number as usize].step)].recorder.tally(at_ns)
    }

    /// Records the time that a connection took to be established.
    pub(super) fn note_connected(&mut self, number: u32, now_ns: u64) {
        let link = &mut self.links[number as usize];
        let connect_ns = now_ns.saturating_sub(link.dialed_ns);
        link.connect_ns = connect_ns;
        let tally = self.tally_of(number);
        tally.connections += 1;
        tally.connect.record(connect_ns);
    }

    /// Begins TLS on the socket of a link.
    pub(super) fn begin_handshake(&mut self, number: u32, socket: Socket, now_ns: u64) {
        let link = &mut self.links[number as usize];
        let session = match &self.job.peer(link.peer).tls {
            Some(peer) => Session::new(peer, usize::from(link.address))
                .map_err(|fault| Ending::new(fault.class, 0, fault.sentence)),
            None => Err(Ending::tls_not_configured()),
        };
        match session {
            Ok(mut session) => {
                session.begun_ns = now_ns;
                link.state = State::Shaking { socket, session: Box::new(session) };
                self.flush(number);
            }
            Err(ending) => {
                self.dialing -= 1;
                self.on_dial_failed(number, ending, now_ns);
            }
        }
    }

    /// Continues with the greeting if the TLS handshake is complete.
    pub(super) fn on_handshake_done(&mut self, number: u32, now_ns: u64) {
        let link = &mut self.links[number as usize];
        match std::mem::replace(&mut link.state, State::Down) {
            State::Shaking { socket, session } if session.is_established => {
                let tls_ns = now_ns.saturating_sub(session.begun_ns);
                link.connect_ns += tls_ns;
                self.resumed_handshakes += u64::from(session.is_resumed());
                link.state = State::Greeting { socket, session: Some(session) };
                let is_on_request = self.job.peer(link.peer).tls_on_request;
                self.tally_of(number).tls.record(tls_ns);
                // The handshake ended when its last bytes arrived; what follows is sent now.
                let now_ns = self.clock.now();
                if is_on_request { self.secured(number, now_ns) } else { self.greet(number, now_ns) }
            }
            state => link.state = state,
        }
    }

    /// Handles a link that has become ready for requests.
    pub(super) fn on_up(&mut self, number: u32, now_ns: u64) {
        self.dialing -= 1;
        self.links[number as usize].idle_end_ms = NO_IDLE_END;
        self.failover.note_answer(number);
        self.note_reachable(number, true);
        self.dispatch.update(&self.links, number);
        let link = &self.links[number as usize];
        if link.carried.is_empty() {
            if link.is_multiplexed() {
                self.settle_link(number, now_ns);
            }
            return;
        }
        let generation = link.generation;
        self.read_before_first_request(number);
        let link = &self.links[number as usize];
        if link.generation != generation {
            return;
        }
        match link.carried.first() {
            Some(user) if !link.is_multiplexed() => self.start(user, now_ns),
            _ => self.settle_link(number, now_ns),
        }
    }

    /// Handles a failure to open a link. Requests that wait for it fail; without any, the failure is counted as one before the
    /// load.
    pub(super) fn on_dial_failed(&mut self, number: u32, ending: Ending, now_ns: u64) {
        if self.try_next_address(number, now_ns) {
            return;
        }
        self.note_reachable(number, false);
        if self.links[number as usize].carried.is_empty() {
            self.on_open_failed(ending);
            self.close(number);
        } else {
            self.end_carried(number, &ending, now_ns);
        }
    }

    /// Closes the socket of a link. Later events of the socket are ignored.
    pub(super) fn close(&mut self, number: u32) {
        self.send_farewell(number);
        let link = &mut self.links[number as usize];
        if link.is_opening() {
            self.dialing -= 1;
        }
        link.state = State::Down;
        (link.served, link.connect_ns) = (0, 0);
        (link.retired, link.was_left_in_pause) = (Retired::No, false);
        link.note_send_error(None);
        link.sending = Sending::Done;
        link.has_unbegun = link.is_multiplexed() && !link.carried.is_empty();
        link.generation = link.generation.wrapping_add(1);
        link.channel.forget();
        self.dispatch.update(&self.links, number);
    }

    /// Sends the farewell of an idle link that will be closed, if the protocol has one. Errors are ignored.
    pub(super) fn send_farewell(&mut self, number: u32) {
        let link = &mut self.links[number as usize];
        let has_failed = link.has_send_error();
        let (State::Up { socket, session }, farewell) = (&mut link.state, link.channel.farewell()) else {
            return;
        };
        let is_idle = link.channel.is_idle() && !link.was_left_in_pause;
        if farewell.is_empty() || !is_idle || link.retired == Retired::HungUp || has_failed {
            return;
        }
        let bytes = match session {
            Some(session) => {
                if !session.outgoing.is_empty() || session.send(farewell).is_err() {
                    return;
                }
                session.outgoing.as_slice()
            }
            None => farewell,
        };
        let _ = socket.send(bytes);
    }

    /// Sets the deadline of a user's request, and a timer for it if none fires earlier.
    pub(super) fn set_deadline(&mut self, number: u32, at_ns: u64) {
        if let Some(exchange) = &mut self.users[number as usize].exchange {
            exchange.deadline_ns = at_ns;
            self.arm(number, at_ns);
        }
    }

    /// Makes sure that a timer of the user fires at `at_ns` or earlier.
    #[inline]
    pub(super) fn arm(&mut self, number: u32, at_ns: u64) {
        let user = &mut self.users[number as usize];
        if at_ns < user.armed_ns {
            user.armed_ns = at_ns;
            self.timers.set(at_ns, number, Reason::Deadline);
        }
    }

    /// Handles a deadline timer of a user: the deadline has passed, or was moved to a later time.
    pub(super) fn check_deadline(&mut self, number: u32, at_ns: u64, now_ns: u64) {
        let user = &mut self.users[number as usize];
        if user.armed_ns != at_ns {
            return;
        }
        user.armed_ns = NEVER;
        match user.exchange {
            None => {}
            Some(exchange) if exchange.deadline_ns > now_ns => self.arm(number, exchange.deadline_ns),
            Some(_) => self.on_deadline(number, now_ns),
        }
    }
}
