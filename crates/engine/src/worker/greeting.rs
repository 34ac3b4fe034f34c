//! What a peer and a conversation say to one another before the first request.

use wire::{Conversation, Greeting, PeerFault, Script};

use super::Worker;
use crate::connection::Link;
use crate::endings::Ending;

impl<S: Script> Worker<'_, S> {
    /// The socket of a slot is open: the conversation greets, if its protocol has a greeting.
    pub(super) fn greet(&mut self, slot: u32, now_ns: u64) {
        let talk = &mut self.connections[slot as usize].talk;
        match talk.greet() {
            Greeting::Done => self.greeted(slot, now_ns),
            greeting => self.on_greeting(slot, greeting, now_ns),
        }
    }

    /// The conversation goes on with TLS.
    pub(super) fn secured(&mut self, slot: u32, now_ns: u64) {
        let greeting = self.connections[slot as usize].talk.secured();
        self.on_greeting(slot, greeting, now_ns);
    }

    /// Does what the greeting needs next.
    fn on_greeting(&mut self, slot: u32, greeting: Greeting, now_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        match greeting {
            Greeting::Send => {
                if let Link::Greeting { written, .. } = &mut connection.link {
                    *written = Some(0);
                }
                self.flush(slot);
            }
            Greeting::Await => {}
            Greeting::Secure => match std::mem::replace(&mut connection.link, Link::Down) {
                Link::Greeting { socket, session: None, .. } => self.shake_hands(slot, socket, now_ns),
                link => {
                    connection.link = link;
                    self.end_connection(slot, Ending::cannot_secure(), now_ns);
                }
            },
            Greeting::Done => self.greeted(slot, now_ns),
        }
    }

    /// Both sides have come to terms.
    fn greeted(&mut self, slot: u32, now_ns: u64) {
        if !self.job.peer(self.connections[slot as usize].peer).secures_at_once() {
            self.note_connected(slot, now_ns);
        }
        let connection = &mut self.connections[slot as usize];
        connection.link = match std::mem::replace(&mut connection.link, Link::Down) {
            Link::Greeting { socket, session, .. } => Link::Up { socket, session },
            link => link,
        };
        self.on_up(slot, now_ns);
    }

    /// Gives the greeting its bytes, and does what they come to.
    #[cold]
    pub(super) fn hear_greeting(&mut self, slot: u32, bytes: &[u8], at_ns: u64) {
        let generation = self.connections[slot as usize].generation;
        let mut rest = bytes;
        loop {
            let connection = &mut self.connections[slot as usize];
            let (used, greeting) = match connection.talk.greeted(rest) {
                Ok(heard) => heard,
                Err(fault) => return self.greeting_failed(slot, fault, at_ns),
            };
            rest = &rest[used.min(rest.len())..];
            match greeting {
                Greeting::Secure if !rest.is_empty() => {
                    return self.end_connection(slot, Ending::too_early_for_tls(), at_ns);
                }
                // What comes after it must be what a peer may say at any time.
                Greeting::Done if !rest.is_empty() => {
                    if let Err(fault) = connection.talk.received(rest) {
                        return self.greeting_failed(slot, fault, at_ns);
                    }
                    rest = &[];
                }
                _ => {}
            }
            let is_over = rest.is_empty() || (used == 0 && greeting == Greeting::Await);
            self.on_greeting(slot, greeting, self.clock.now());
            let connection = &self.connections[slot as usize];
            let is_greeting = matches!(connection.link, Link::Greeting { .. });
            if is_over || !is_greeting || connection.generation != generation {
                return;
            }
        }
    }

    /// A greeting came to nothing. A log-in that is refused will be refused again: the load ends with it.
    #[cold]
    pub(super) fn greeting_failed(&mut self, slot: u32, fault: PeerFault, at_ns: u64) {
        if fault.class == PeerFault::LOGIN_REFUSED {
            self.break_off(fault.message());
            return self.close(slot);
        }
        self.end_connection(slot, Ending::fault(&fault), at_ns);
    }
}
