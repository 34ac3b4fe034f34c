//! Work on multiplexed links after each read: send pending bytes, begin waiting exchanges, and replace a link whose peer takes no
//! more exchanges.

use super::Worker;
use crate::endings::Ending;

impl Worker<'_> {
    /// Sends and begins what a multiplexed link has pending, after its channel has processed all bytes or an exchange was
    /// abandoned.
    pub(super) fn settle_link(&mut self, number: u32, now_ns: u64) {
        self.send_unsolicited(number);
        let link = &self.links[number as usize];
        if link.has_unbegun && link.is_up() {
            self.begin_waiting(number, now_ns);
        }
        if self.links[number as usize].is_draining() {
            self.drain(number, now_ns);
        }
    }

    /// Returns whether the channel has begun the exchange of a user.
    fn is_begun(&self, user: u32) -> bool {
        self.users[user as usize].exchange.is_some_and(|exchange| exchange.is_begun)
    }

    /// Begins exchanges that were given to a link before it was up, as far as its channel has room.
    fn begin_waiting(&mut self, number: u32, now_ns: u64) {
        let link = &self.links[number as usize];
        let generation = link.generation;
        let waiting: Vec<u32> = link.carried.users().filter(|user| !self.is_begun(*user)).collect();
        let mut left = waiting.len();
        for user in waiting {
            let link = &self.links[number as usize];
            if link.generation != generation {
                return;
            }
            if link.channel.room() == 0 {
                break;
            }
            self.start(user, now_ns);
            left -= 1;
        }
        let link = &mut self.links[number as usize];
        if link.generation == generation {
            link.has_unbegun = left > 0;
        }
    }

    /// Closes a link that takes no further exchanges, once its begun exchanges have ended. Waiting exchanges begin on the next
    /// socket.
    #[cold]
    fn drain(&mut self, number: u32, now_ns: u64) {
        let link = &self.links[number as usize];
        if link.carried.users().any(|user| self.is_begun(user)) {
            return;
        }
        let (is_empty, peer) = (link.carried.is_empty(), link.peer);
        if !is_empty && link.served == 0 {
            // Reopening it immediately would fail in the same way.
            return self.end_link(number, Ending::accepts_no_requests(), now_ns);
        }
        self.close(number);
        if !is_empty {
            self.dial(number, now_ns);
        }
        self.fill_room(peer, now_ns);
    }
}
