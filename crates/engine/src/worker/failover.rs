//! Which address of a peer the next socket of a link goes to, and what follows when it does not answer.

use super::Worker;
use crate::job::{Job, Selection};

/// Peers whose links all go to the first address that answers.
#[derive(Default)]
pub(super) struct Failover {
    /// By peer, the address that answered last, or that is tried next. Empty if no peer has such a selection.
    current: Box<[u16]>,
    /// By link, the addresses that did not answer since it was up. Empty if no peer has such a selection.
    misses: Box<[u16]>,
}

impl Failover {
    pub(super) fn new(job: &Job, links: usize) -> Self {
        let fails_over = job.peers.iter().any(|peer| peer.selection == Selection::First);
        if !fails_over {
            return Self::default();
        }
        Self { current: vec![0; job.peers.len()].into(), misses: vec![0; links].into() }
    }

    /// A link is up.
    #[inline]
    pub(super) fn note_answer(&mut self, link: u32) {
        if let Some(misses) = self.misses.get_mut(link as usize) {
            *misses = 0;
        }
    }

    /// An address of a peer did not answer a link. Says whether an address is left that did not fail the link in a row.
    fn note_miss(&mut self, link: u32, peer: u16, address: u16, addresses: u16) -> bool {
        let current = &mut self.current[usize::from(peer)];
        if *current == address {
            *current = (address + 1) % addresses;
        }
        let misses = &mut self.misses[link as usize];
        *misses += 1;
        if *misses >= addresses {
            *misses = 0;
        }
        *misses > 0
    }
}

impl Worker<'_> {
    /// The address that the next socket of a link goes to. Its channel learns it.
    pub(super) fn choose_address(&mut self, number: u32) -> u16 {
        let link = &mut self.links[number as usize];
        let peer = self.job.peer(link.peer);
        if peer.endpoints.len() < 2 {
            return 0;
        }
        let user = link.carried.first();
        let exchange = user.and_then(|user| self.users[user as usize].exchange.as_ref());
        // An exchange that was answered in part goes on where it began.
        if !exchange.is_some_and(|exchange| exchange.is_answered()) {
            link.address = match peer.selection {
                Selection::First => self.failover.current[usize::from(link.peer)],
                Selection::InTurn => {
                    let connection = self.first_numbers[usize::from(link.peer)] + link.number;
                    peer.address_in_turn(connection, link.generation) as u16
                }
            };
            link.channel.connects_to(link.address);
        }
        link.address
    }

    /// The address of a link did not answer in time: the next socket goes to another, if its peer has such a selection.
    pub(super) fn leave_address(&mut self, number: u32) {
        let link = &self.links[number as usize];
        let peer = self.job.peer(link.peer);
        if peer.selection == Selection::First && link.is_opening() {
            self.failover.note_miss(number, link.peer, link.address, peer.endpoints.len() as u16);
            self.failover.note_answer(number);
        }
    }

    /// The address of a link that is being opened does not answer: opens it to the next one if its peer has such a selection, an
    /// address is left, and what waits for the link has time. Says whether it does.
    #[cold]
    pub(super) fn tries_next_address(&mut self, number: u32, now_ns: u64) -> bool {
        let link = &self.links[number as usize];
        let peer = self.job.peer(link.peer);
        let count = peer.endpoints.len() as u16;
        if peer.selection != Selection::First || count < 2 {
            return false;
        }
        let is_left = self.failover.note_miss(number, link.peer, link.address, count);
        let exchange = self.exchange_on(number);
        let may_go_on =
            exchange.is_none_or(|exchange| !exchange.is_answered() && exchange.deadline_ns > now_ns);
        if !is_left || !may_go_on {
            self.failover.note_answer(number);
            return false;
        }
        self.close(number);
        self.dial(number, now_ns);
        true
    }
}
