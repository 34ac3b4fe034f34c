//! From no connection to one that can carry a request.

use rustix::io::Errno;
use wire::{Conversation, Script, Stage};

use super::Worker;
use crate::connection::{Link, NEVER};
use crate::endings::Ending;
use crate::net::socket::Socket;
use crate::net::tls::Session;
use crate::net::{self, Dialled};
use crate::timers::Reason;

impl<S: Script> Worker<'_, S> {
    /// Begins to connect a slot that is down.
    pub(super) fn dial(&mut self, slot: u32, now_ns: u64) {
        if self.opens_embedded(slot, now_ns) {
            return;
        }
        let connection = &mut self.connections[slot as usize];
        let peer = self.job.peer(connection.peer);
        let dialled = net::dial(peer.endpoint(self.first_number + slot)).and_then(|dialled| {
            self.poll.watch(&dialled.socket, slot, connection.generation)?;
            if self.late_reading.is_some() {
                net::stamped::enable(&dialled.socket);
            }
            Ok(dialled)
        });
        match dialled {
            Ok(Dialled { socket, is_connected }) => {
                connection.link = Link::Connecting { socket };
                connection.dialled_ns = now_ns;
                self.dialling += 1;
                let until_ns = now_ns.saturating_add(self.job.connect_timeout_ns).min(connection.deadline_ns);
                self.set_deadline(slot, until_ns);
                if is_connected {
                    self.on_connected(slot, now_ns);
                }
            }
            Err(errno) => self.dialling_failed(slot, Ending::connect(errno), now_ns),
        }
    }

    /// The kernel has an answer for a connecting socket.
    pub(super) fn on_dialled(&mut self, slot: u32, outcome: Result<(), Errno>, now_ns: u64) {
        match outcome {
            Ok(()) => self.on_connected(slot, now_ns),
            Err(errno) => self.dialling_failed(slot, Ending::connect(errno), now_ns),
        }
    }

    fn on_connected(&mut self, slot: u32, now_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        let Link::Connecting { socket } = std::mem::replace(&mut connection.link, Link::Down) else { return };
        if self.job.peer(connection.peer).secures_at_once() {
            self.note_connected(slot, now_ns);
            self.shake_hands(slot, socket, now_ns);
        } else {
            connection.link = Link::Greeting { socket, session: None, written: None };
            self.greet(slot, now_ns);
        }
    }

    /// A connection came about: it has taken this long.
    pub(super) fn note_connected(&mut self, slot: u32, now_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        connection.connect_ns = now_ns.saturating_sub(connection.dialled_ns);
        let recorder = &mut self.books[usize::from(connection.step)].recorder;
        let tally = recorder.tally(connection.counted_in_ns());
        tally.connections += 1;
        tally.connect.record(connection.connect_ns);
    }

    /// Begins TLS on the socket of a slot.
    pub(super) fn shake_hands(&mut self, slot: u32, socket: Socket, now_ns: u64) {
        let connection = &self.connections[slot as usize];
        let session = match &self.job.peer(connection.peer).tls {
            Some(peer) => Session::new(peer).map_err(|fault| Ending::new(fault.class, 0, fault.sentence)),
            None => Err(Ending::cannot_secure()),
        };
        match session {
            Ok(session) => {
                let link = Link::Shaking { socket, session: Box::new(session), since_ns: now_ns };
                self.connections[slot as usize].link = link;
                self.flush(slot);
            }
            Err(ending) => {
                self.dialling -= 1;
                self.dialling_failed(slot, ending, now_ns);
            }
        }
    }

    /// The TLS handshake may have come to its end.
    pub(super) fn on_shaken(&mut self, slot: u32, now_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        match std::mem::replace(&mut connection.link, Link::Down) {
            Link::Shaking { socket, session, since_ns } if session.is_established => {
                let tls_ns = now_ns.saturating_sub(since_ns);
                connection.connect_ns += tls_ns;
                let recorder = &mut self.books[usize::from(connection.step)].recorder;
                recorder.tally(connection.counted_in_ns()).tls.record(tls_ns);
                connection.link = Link::Greeting { socket, session: Some(session), written: None };
                let is_on_request = self.job.peer(connection.peer).tls_on_request;
                // The handshake ended when its last bytes came; what follows goes out only now.
                let now_ns = self.clock.now();
                if is_on_request { self.secured(slot, now_ns) } else { self.greet(slot, now_ns) }
            }
            link => connection.link = link,
        }
    }

    /// The connection is ready for requests.
    pub(super) fn on_up(&mut self, slot: u32, now_ns: u64) {
        self.dialling -= 1;
        let connection = &mut self.connections[slot as usize];
        match connection.request {
            Some(request) => {
                let generation = connection.generation;
                self.set_deadline(slot, request.begun_ns.saturating_add(self.job.timeout_ns));
                self.hear_early(slot);
                if self.connections[slot as usize].generation == generation {
                    self.start(slot, now_ns);
                }
            }
            None => connection.deadline_ns = NEVER,
        }
    }

    /// No connection came about: for a request, if one waits for it, or before the load.
    pub(super) fn dialling_failed(&mut self, slot: u32, ending: Ending, now_ns: u64) {
        if self.connections[slot as usize].request.is_some() {
            self.end_without_reply(slot, ending, now_ns);
        } else {
            self.opening_failed(ending);
            self.close(slot);
        }
    }

    /// Lets the socket of a slot go. Whatever the kernel still says about it is not heard.
    pub(super) fn close(&mut self, slot: u32) {
        self.say_farewell(slot);
        let connection = &mut self.connections[slot as usize];
        let link = std::mem::replace(&mut connection.link, Link::Down);
        if matches!(link, Link::Connecting { .. } | Link::Shaking { .. } | Link::Greeting { .. }) {
            self.dialling -= 1;
        }
        (connection.served, connection.connect_ns) = (0, 0);
        (connection.hung_up, connection.send_error) = (false, None);
        connection.generation = connection.generation.wrapping_add(2);
        connection.deadline_ns = NEVER;
        connection.talk.forget();
    }

    /// Tells the peer that a connection with nothing under way will be closed, where the protocol has words for it. Whether
    /// they arrive makes no difference here.
    pub(super) fn say_farewell(&mut self, slot: u32) {
        let connection = &mut self.connections[slot as usize];
        let (Link::Up { socket, session }, farewell) = (&mut connection.link, connection.talk.farewell())
        else {
            return;
        };
        let is_idle = connection.talk.stage() == Stage::Idle && connection.within.pause_until_ns == 0;
        if farewell.is_empty() || !is_idle || connection.hung_up || connection.send_error.is_some() {
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

    /// Sets the deadline of a slot, and a timer if none comes up in time.
    pub(super) fn set_deadline(&mut self, slot: u32, at_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        connection.deadline_ns = at_ns;
        if at_ns < connection.armed_ns {
            connection.armed_ns = at_ns;
            self.timers.set(at_ns, slot, Reason::Deadline);
        }
    }

    /// A timer of a slot came up: its deadline has passed, or was put off in the meantime.
    pub(super) fn check_deadline(&mut self, slot: u32, at_ns: u64, now_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        if connection.armed_ns != at_ns {
            return;
        }
        connection.armed_ns = NEVER;
        match connection.deadline_ns {
            NEVER => {}
            deadline_ns if deadline_ns > now_ns => self.set_deadline(slot, deadline_ns),
            _ => self.on_deadline(slot, now_ns),
        }
    }

    pub(super) fn forget_deadlines(&mut self) {
        self.timers.clear();
        for connection in &mut self.connections {
            (connection.deadline_ns, connection.armed_ns) = (NEVER, NEVER);
        }
    }
}
