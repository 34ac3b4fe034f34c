//! From no connection to one that can carry a request.

use rustix::io::Errno;
use wire::{Conversation, Script};

use super::Worker;
use crate::connection::{Link, NEVER};
use crate::endings::Ending;
use crate::net::tls::Session;
use crate::net::{self, Dialled};
use crate::timers::Reason;

impl<S: Script> Worker<'_, S> {
    /// Begins to connect a slot that is down.
    pub(super) fn dial(&mut self, slot: u32, now_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        let dialled = net::dial(self.job.peer.endpoint(self.first_number + slot)).and_then(|dialled| {
            self.poll.watch(&dialled.socket, slot, connection.generation)?;
            if self.late_reading.is_some() {
                net::stamped::enable(&dialled.socket);
            }
            Ok(dialled)
        });
        match dialled {
            Ok(Dialled { socket, is_connected }) => {
                connection.link = Link::Connecting { socket, since_ns: now_ns };
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
        let Link::Connecting { socket, since_ns } = std::mem::replace(&mut connection.link, Link::Down)
        else {
            return;
        };
        connection.connect_ns = now_ns.saturating_sub(since_ns);
        let recorder = &mut self.books[usize::from(connection.step)].recorder;
        let tally = recorder.tally(connection.counted_in_ns());
        tally.connections += 1;
        tally.connect.record(connection.connect_ns);
        let Some(peer) = &self.job.peer.tls else {
            connection.link = Link::Up { socket, session: None };
            return self.on_up(slot, now_ns);
        };
        match Session::new(peer) {
            Ok(session) => {
                connection.link = Link::Shaking { socket, session: Box::new(session), since_ns: now_ns };
                self.flush(slot);
            }
            Err(fault) => {
                self.dialling -= 1;
                self.dialling_failed(slot, Ending::failed(fault.class, 0, fault.sentence), now_ns);
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
                connection.link = Link::Up { socket, session: Some(session) };
                // The handshake ended when its last bytes came; the request goes out only now.
                self.on_up(slot, self.clock.now());
            }
            link => connection.link = link,
        }
    }

    fn on_up(&mut self, slot: u32, now_ns: u64) {
        self.dialling -= 1;
        let connection = &mut self.connections[slot as usize];
        match &mut connection.request {
            Some(request) => {
                request.sent_ns = now_ns;
                let begun_ns = request.begun_ns;
                self.set_deadline(slot, begun_ns.saturating_add(self.job.timeout_ns));
                self.flush(slot);
            }
            None => connection.deadline_ns = NEVER,
        }
    }

    /// No connection came about: for a request, if one waits for it, or before the load.
    fn dialling_failed(&mut self, slot: u32, ending: Ending, now_ns: u64) {
        if self.connections[slot as usize].request.is_some() {
            self.end_without_reply(slot, ending, now_ns);
        } else {
            self.opening_failed(ending);
            self.close(slot);
        }
    }

    /// Lets the socket of a slot go. Whatever the kernel still says about it is not heard.
    pub(super) fn close(&mut self, slot: u32) {
        let connection = &mut self.connections[slot as usize];
        let link = std::mem::replace(&mut connection.link, Link::Down);
        if matches!(link, Link::Connecting { .. } | Link::Shaking { .. }) {
            self.dialling -= 1;
        }
        (connection.served, connection.connect_ns) = (0, 0);
        (connection.hung_up, connection.send_error) = (false, None);
        connection.generation = connection.generation.wrapping_add(1);
        connection.deadline_ns = NEVER;
        connection.talk.forget();
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
