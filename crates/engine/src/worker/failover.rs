//! Choice of a peer's address for the next socket of a link, and failover if the address does not answer.

use super::Worker;
use crate::job::{Job, Selection};

/// Failover state of peers whose [`Selection::fails_over`].
#[derive(Default)]
pub(super) struct Failover {
    /// Index of the address that answered last, or that is tried next, by peer. Empty if no peer fails over.
    current: Box<[u16]>,
    /// Number of consecutive addresses that did not answer, by link. Empty if no peer fails over.
    misses: Box<[u16]>,
    /// Number of addresses that a link has given up, for [`Selection::Spread`], by link. Empty if no peer fails over.
    passed: Box<[u16]>,
}

impl Failover {
    pub(super) fn new(job: &Job, links: usize) -> Self {
        let fails_over = job.peers.iter().any(|peer| peer.selection.fails_over());
        if !fails_over {
            return Self::default();
        }
        Self {
            current: vec![0; job.peers.len()].into(),
            misses: vec![0; links].into(),
            passed: vec![0; links].into(),
        }
    }

    /// Resets the failures of a link that is up.
    #[inline]
    pub(super) fn note_answer(&mut self, link: u32) {
        if let Some(misses) = self.misses.get_mut(link as usize) {
            *misses = 0;
        }
    }

    /// Notes that an address did not answer a link. Returns whether some address has not failed in this series yet.
    fn note_miss(&mut self, link: u32, peer: u16, address: u16, addresses: u16) -> bool {
        let current = &mut self.current[usize::from(peer)];
        if *current == address {
            *current = (address + 1) % addresses;
        }
        let passed = &mut self.passed[link as usize];
        *passed = (*passed + 1) % addresses;
        let misses = &mut self.misses[link as usize];
        *misses += 1;
        if *misses >= addresses {
            *misses = 0;
        }
        *misses > 0
    }
}

/// Returns the address of a connection that has given up `passed` addresses, for [`Selection::Spread`].
fn spread(connection: u32, passed: u16, width: u16, stride: u16) -> u16 {
    let first = (connection % u32::from(width / stride)) as u16 * stride;
    passed / width * width + (first + passed) % width
}

impl Worker<'_> {
    /// Chooses the address for the next socket of a link, and passes it to the channel.
    pub(super) fn choose_address(&mut self, number: u32) -> u16 {
        let link = &mut self.links[number as usize];
        let peer = self.job.peer(link.peer);
        if peer.endpoints.len() < 2 {
            return 0;
        }
        let user = link.carried.first();
        let exchange = user.and_then(|user| self.users[user as usize].exchange.as_ref());
        // An exchange that was answered in part continues at the address where it began.
        if !exchange.is_some_and(|exchange| exchange.is_answered()) {
            link.address = match peer.selection {
                Selection::First => self.failover.current[usize::from(link.peer)],
                Selection::Spread { width, stride } => {
                    let connection = self.first_numbers[usize::from(link.peer)] + link.number;
                    spread(connection, self.failover.passed[number as usize], width, stride)
                }
                Selection::InTurn => {
                    let connection = self.first_numbers[usize::from(link.peer)] + link.number;
                    peer.address_in_turn(connection, link.generation) as u16
                }
            };
            link.channel.set_address(link.address);
        }
        link.address
    }

    /// Notes that the address of an opening link did not answer in time. If the peer fails over, the next socket uses another address.
    pub(super) fn give_up_address(&mut self, number: u32) {
        let link = &self.links[number as usize];
        let peer = self.job.peer(link.peer);
        if peer.selection.fails_over() && link.is_opening() {
            self.failover.note_miss(number, link.peer, link.address, peer.endpoints.len() as u16);
            self.failover.note_answer(number);
        }
    }

    /// Reopens a link at the next address after the present one failed. Requires that the peer fails over, an address is left, and
    /// the waiting exchange has time and was not answered. Returns whether the link is reopened.
    #[cold]
    pub(super) fn try_next_address(&mut self, number: u32, now_ns: u64) -> bool {
        let link = &self.links[number as usize];
        let peer = self.job.peer(link.peer);
        let count = peer.endpoints.len() as u16;
        if !peer.selection.fails_over() || count < 2 {
            return false;
        }
        let is_left = self.failover.note_miss(number, link.peer, link.address, count);
        let exchange = self.exchange_on(number);
        let may_continue =
            exchange.is_none_or(|exchange| !exchange.is_answered() && exchange.deadline_ns > now_ns);
        if !is_left || !may_continue {
            self.failover.note_answer(number);
            return false;
        }
        self.close(number);
        self.dial(number, now_ns);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_connection_tries_every_server_before_list_repeats() {
        let order = |connection, width, stride, count| {
            (0..count).map(|passed| spread(connection, passed, width, stride)).collect::<Vec<_>>()
        };
        assert_eq!(order(0, 3, 1, 6), [0, 1, 2, 3, 4, 5]);
        assert_eq!(order(4, 3, 1, 6), [1, 2, 0, 4, 5, 3]);
        assert_eq!(order(1, 4, 2, 4), [2, 3, 0, 1], "both ways of a server come one after the other");
    }
}
