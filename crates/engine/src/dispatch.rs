//! Which link takes the next exchange: the user's own, one of a pool, or the least busy of those that carry several.

use std::collections::VecDeque;
use std::ops::Range;

use crate::link::Link;

/// The links of one worker, by peer, and who waits for them.
pub(crate) struct Dispatch {
    peers: Vec<PeerLinks>,
    /// Lanes that users take turns with, if there are fewer lanes than users.
    pub(crate) pool: Option<Pool>,
    /// Users who wait for room, at all peers.
    waiting: usize,
}

/// The links to one peer.
struct PeerLinks {
    numbers: Range<u32>,
    /// Exchanges that each of them carries at the same time, at most.
    room: u32,
    /// Users whose exchange has no link yet, and its step, in the order in which they came.
    waiting: VecDeque<(u32, u16)>,
}

/// Lanes that users share: a lane is a link to each peer. Each user takes a free one for an iteration, and waits for it as long as
/// there is none.
pub(crate) struct Pool {
    /// Lanes that nobody uses.
    pub(crate) idle: VecDeque<u32>,
    /// Users who are ready, in the order in which they came to be.
    pub(crate) waiting: VecDeque<u32>,
    /// By lane, since when it could be used.
    pub(crate) free_ns: Vec<u64>,
}

impl Pool {
    pub(crate) fn new(lanes: u32) -> Self {
        Self { idle: (0..lanes).collect(), waiting: VecDeque::new(), free_ns: vec![0; lanes as usize] }
    }
}

impl Dispatch {
    /// `rooms`: by peer, how many exchanges a link carries at the same time, at most.
    pub(crate) fn new(rooms: &[u32], links_of_each: u32, pool: Option<Pool>) -> Self {
        let links = |(peer, room): (u32, &u32)| PeerLinks {
            numbers: peer * links_of_each..(peer + 1) * links_of_each,
            room: *room,
            waiting: VecDeque::new(),
        };
        Self { peers: (0..).zip(rooms).map(links).collect(), pool, waiting: 0 }
    }

    /// The links to a peer.
    pub(crate) fn links(&self, peer: u16) -> Range<u32> {
        self.peers[usize::from(peer)].numbers.clone()
    }

    /// The link that takes an exchange to a peer; `None`: there is no room.
    #[inline]
    pub(crate) fn choose(&self, links: &[Link], peer: u16, lane: u32) -> Option<u32> {
        let peer = &self.peers[usize::from(peer)];
        if peer.room == 1 { Some(peer.numbers.start + lane) } else { peer.least_busy(links) }
    }

    /// The user of an exchange waits for room at a peer.
    pub(crate) fn wait_for_room(&mut self, peer: u16, user: u32, step: u16) {
        self.waiting += 1;
        self.peers[usize::from(peer)].waiting.push_back((user, step));
    }

    /// Whether somebody waits for room at a peer.
    pub(crate) fn has_waiting_at(&self, peer: u16) -> bool {
        !self.peers[usize::from(peer)].waiting.is_empty()
    }

    /// The user who has waited longest for room at a peer, if there is room.
    pub(crate) fn take_waiting(&mut self, links: &[Link], peer: u16) -> Option<(u32, u16)> {
        let peer = &mut self.peers[usize::from(peer)];
        peer.least_busy(links)?;
        let waiting = peer.waiting.pop_front()?;
        self.waiting -= 1;
        Some(waiting)
    }

    /// Whether somebody waits for a link.
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting > 0 || self.pool.as_ref().is_some_and(|pool| !pool.waiting.is_empty())
    }
}

impl PeerLinks {
    /// Links that are not up come after all others that carry as much: opening them takes time.
    fn least_busy(&self, links: &[Link]) -> Option<u32> {
        let with_room = self.numbers.clone().filter(|number| links[*number as usize].has_room());
        with_room.min_by_key(|number| {
            let link = &links[*number as usize];
            (link.carried.len(), !link.is_up())
        })
    }
}
