//! Greetings of channels, such as log-ins, before the first request.

use wire::{ErrorClass, Greeting, PeerFault};

use super::Worker;
use crate::endings::Ending;
use crate::link::State;

impl Worker<'_> {
    /// Begins the greeting of a channel on an open socket.
    pub(super) fn greet(&mut self, number: u32, now_ns: u64) {
        match self.links[number as usize].channel.greet() {
            Greeting::Done => self.greeted(number, now_ns),
            greeting => self.on_greeting(number, greeting, now_ns),
        }
    }

    /// Continues the greeting after the switch to TLS.
    pub(super) fn secured(&mut self, number: u32, now_ns: u64) {
        let link = &mut self.links[number as usize];
        if let State::Greeting { session: Some(session), .. } = &link.state
            && let Some(certificate) = session.peer_certificate()
        {
            link.channel.certificate(certificate);
        }
        let greeting = link.channel.secured();
        self.on_greeting(number, greeting, now_ns);
    }

    /// Does what the greeting needs next.
    fn on_greeting(&mut self, number: u32, greeting: Greeting, now_ns: u64) {
        let link = &mut self.links[number as usize];
        match greeting {
            Greeting::Send => self.flush(number),
            Greeting::Await => {}
            Greeting::Secure => match std::mem::replace(&mut link.state, State::Down) {
                State::Greeting { socket, session: None } => self.begin_handshake(number, socket, now_ns),
                state => {
                    link.state = state;
                    self.end_link(number, Ending::tls_not_configured(), now_ns);
                }
            },
            Greeting::Done => self.greeted(number, now_ns),
        }
    }

    /// Handles the end of a greeting: the link is up.
    fn greeted(&mut self, number: u32, now_ns: u64) {
        if !self.job.peer(self.links[number as usize].peer).starts_with_tls() {
            self.note_connected(number, now_ns);
        }
        let link = &mut self.links[number as usize];
        link.state = match std::mem::replace(&mut link.state, State::Down) {
            State::Greeting { socket, session } => State::Up { socket, session },
            state => state,
        };
        self.on_up(number, now_ns);
    }

    /// Passes received bytes to the greeting, and acts on its answers.
    #[cold]
    pub(super) fn take_greeting(&mut self, number: u32, bytes: &[u8], at_ns: u64) {
        let generation = self.links[number as usize].generation;
        let mut rest = bytes;
        loop {
            let link = &mut self.links[number as usize];
            let (used, greeting) = match link.channel.greeted(rest) {
                Ok(heard) => heard,
                Err(fault) => return self.on_greeting_failed(number, fault, at_ns),
            };
            rest = &rest[used.min(rest.len())..];
            match greeting {
                Greeting::Secure if !rest.is_empty() => {
                    return self.end_link(number, Ending::too_early_for_tls(), at_ns);
                }
                // Bytes after the greeting must be messages that a peer may send at any time.
                Greeting::Done if !rest.is_empty() => {
                    if let Err(fault) = link.channel.received(rest) {
                        return self.on_greeting_failed(number, fault, at_ns);
                    }
                    rest = &[];
                }
                _ => {}
            }
            let is_over = rest.is_empty() || (used == 0 && greeting == Greeting::Await);
            self.on_greeting(number, greeting, self.clock.now());
            let link = &self.links[number as usize];
            if link.generation != generation {
                return;
            }
            let is_greeting = matches!(link.state, State::Greeting { .. });
            if is_over || !is_greeting {
                // Sends the last message of the greeting, which the peer may wait for.
                return self.send_unsolicited(number);
            }
        }
    }

    /// Handles a failed greeting. A rejected log-in would be rejected every time, so it ends the load.
    #[cold]
    pub(super) fn on_greeting_failed(&mut self, number: u32, fault: PeerFault, at_ns: u64) {
        if fault.class == ErrorClass::LoginRefused {
            self.abort_load(fault.message());
            return self.close(number);
        }
        self.end_link(number, Ending::fault(&fault), at_ns);
    }
}
