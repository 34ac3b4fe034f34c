//! Users who speak with two peers in turn: each slot keeps a link to both, one in use and the other parked.

use wire::{Conversation, Script};

use super::Worker;
use crate::connection::Link;
use crate::job::Job;
use crate::net::Io;

/// What a peer may have said while its link was parked is read in pieces of this size.
const PIECE_BYTES: usize = 4096;
/// Pieces that are read: whoever has said more than that was not asked.
const PIECES_MAX: usize = 16;

/// The peer of each step.
pub(super) fn peers<S: Script>(job: &Job, script: &S) -> Box<[u16]> {
    let peer = |step| if job.beside.is_some() { script.peer(step as u16) } else { 0 };
    (0..job.scenarios.steps().max(1)).map(peer).collect()
}

impl<S: Script> Worker<'_, S> {
    /// Makes the link to the peer of a step the one in use. The slot carries no request.
    #[inline]
    pub(super) fn turn_to(&mut self, slot: u32, step: u16) {
        if self.job.beside.is_some() {
            self.turn_to_peer_of(slot, step);
        }
    }

    fn turn_to_peer_of(&mut self, slot: u32, step: u16) {
        let connection = &mut self.connections[slot as usize];
        connection.step = step;
        let peer = self.peers[usize::from(step)];
        if connection.peer != peer && connection.change_links() {
            connection.talk.turn_to(peer);
            self.hear_parked(slot);
        }
    }

    /// Reads what came while a link was parked, of which the kernel told then and will not tell again: the end of the
    /// connection, or words that belong to no request.
    fn hear_parked(&mut self, slot: u32) {
        let generation = self.connections[slot as usize].generation;
        let mut piece = [0; PIECE_BYTES];
        for _ in 0..PIECES_MAX {
            let connection = &mut self.connections[slot as usize];
            let Link::Up { socket, .. } = &connection.link else { return };
            match socket.receive(&mut piece) {
                Io::Moved(count) => {
                    let at_ns = self.clock.now();
                    self.take_in(slot, &mut piece[..count], at_ns);
                }
                Io::NotYet => return,
                Io::Closed | Io::Lost(_) => {
                    connection.hung_up = true;
                    return self.close(slot);
                }
            }
            if self.connections[slot as usize].generation != generation {
                return;
            }
        }
        self.close(slot);
    }

    /// Says goodbye to every peer of a slot.
    pub(super) fn say_farewells(&mut self, slot: u32) {
        self.say_farewell(slot);
        let connection = &mut self.connections[slot as usize];
        if connection.change_links() {
            connection.talk.turn_to(connection.peer);
            self.say_farewell(slot);
        }
    }

    /// Turns all slots to a peer before the load; says whether any step goes there. What happens to their connections counts
    /// with the first of those steps.
    pub(super) fn turn_all_to(&mut self, peer: u16) -> bool {
        let goes_there = |step: &u16| self.peers[usize::from(*step)] == peer;
        let Some(step) = self.job.scenarios.visits().map(|visit| visit.step).find(goes_there) else {
            return false;
        };
        (0..self.connections.len() as u32).for_each(|slot| self.turn_to(slot, step));
        true
    }
}
