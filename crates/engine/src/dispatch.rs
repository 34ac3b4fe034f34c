//! Which link takes the next exchange: the user's own, one of a pool, or the least busy of those that carry several.

mod least_busy;

use std::collections::VecDeque;
use std::ops::Range;

use crate::link::Link;
use least_busy::LeastBusy;

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
    /// The order in which users share the links; `None` if each lane has its own.
    least_busy: Option<LeastBusy>,
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
    /// `links`: by peer, the number of its links, and whether users share them.
    pub(crate) fn new(links: impl Iterator<Item = (u32, bool)>, pool: Option<Pool>) -> Self {
        let mut first = 0;
        let peer_links = |(count, is_shared): (u32, bool)| {
            let numbers = first..first + count;
            first += count;
            let least_busy = is_shared.then(|| LeastBusy::new(numbers.clone()));
            PeerLinks { numbers, least_busy, waiting: VecDeque::new() }
        };
        Self { peers: links.map(peer_links).collect(), pool, waiting: 0 }
    }

    /// The links to a peer.
    pub(crate) fn links(&self, peer: u16) -> Range<u32> {
        self.peers[usize::from(peer)].numbers.clone()
    }

    /// The most links that any peer has.
    pub(crate) fn most_links(&self) -> usize {
        self.peers.iter().map(|peer| peer.numbers.len()).max().unwrap_or(0)
    }

    /// The link that takes an exchange to a peer; `None` if there is no room.
    #[inline]
    pub(crate) fn choose(&mut self, links: &[Link], peer: u16, lane: u32) -> Option<u32> {
        let peer = &mut self.peers[usize::from(peer)];
        match &mut peer.least_busy {
            None => Some(peer.numbers.start + lane),
            Some(least_busy) => least_busy.first(links),
        }
    }

    /// A link may have become more or less busy, full, or up.
    #[inline]
    pub(crate) fn update(&mut self, links: &[Link], number: u32) {
        let link = &links[number as usize];
        if link.takes_turns()
            && let Some(least_busy) = &mut self.peers[usize::from(link.peer)].least_busy
        {
            least_busy.update(links, number);
        }
    }

    /// The user of an exchange waits for room at a peer.
    pub(crate) fn wait_for_room(&mut self, peer: u16, user: u32, step: u16) {
        self.waiting += 1;
        self.peers[usize::from(peer)].waiting.push_back((user, step));
    }

    /// By peer, the user who has waited longest for room, if one does.
    pub(crate) fn first_waiting(&self) -> impl Iterator<Item = u32> {
        self.peers.iter().filter_map(|peer| peer.waiting.front().map(|(user, _)| *user))
    }

    /// Whether somebody waits for room at a peer.
    pub(crate) fn has_waiting_at(&self, peer: u16) -> bool {
        !self.peers[usize::from(peer)].waiting.is_empty()
    }

    /// The user who has waited longest for room at a peer, if there is room.
    pub(crate) fn take_waiting(&mut self, links: &[Link], peer: u16) -> Option<(u32, u16)> {
        let peer = &mut self.peers[usize::from(peer)];
        peer.least_busy.as_mut()?.first(links)?;
        let waiting = peer.waiting.pop_front()?;
        self.waiting -= 1;
        Some(waiting)
    }

    /// Whether somebody waits for a link.
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting > 0 || self.pool.as_ref().is_some_and(|pool| !pool.waiting.is_empty())
    }
}
