//! Choice of the link for the next exchange: the user's own link, a link of a pool, or the least busy one.

mod least_busy;

use std::collections::VecDeque;
use std::ops::Range;

use crate::link::Link;
use least_busy::LeastBusy;

/// Links of one worker by peer, and the users who wait for them.
pub(crate) struct Dispatch {
    peers: Vec<PeerLinks>,
    /// Pool of lanes, if there are fewer lanes than users. `None`: each user has its own lane.
    pub(crate) pool: Option<Pool>,
    /// Number of users who wait for room on a link, over all peers.
    waiting: usize,
}

/// Links to one peer.
struct PeerLinks {
    numbers: Range<u32>,
    /// Links in the order in which shared links are chosen. `None` if each lane has its own link.
    least_busy: Option<LeastBusy>,
    /// Users whose exchange has no link yet, each with its step, in order of arrival.
    waiting: VecDeque<(u32, u16)>,
}

/// Pool of lanes that users share. A lane is one link to each peer. A user takes a free lane for an iteration, or waits for one.
pub(crate) struct Pool {
    /// Free lanes.
    pub(crate) idle: VecDeque<u32>,
    /// Users who wait for a lane, in order of arrival.
    pub(crate) waiting: VecDeque<u32>,
    /// Time from which each lane could be used, by lane.
    pub(crate) free_ns: Vec<u64>,
}

impl Pool {
    pub(crate) fn new(lanes: u32) -> Self {
        Self { idle: (0..lanes).collect(), waiting: VecDeque::new(), free_ns: vec![0; lanes as usize] }
    }
}

impl Dispatch {
    /// Creates the dispatcher. `links` gives, by peer, the number of links and whether users share them.
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

    /// Returns the numbers of the links to a peer.
    pub(crate) fn links(&self, peer: u16) -> Range<u32> {
        self.peers[usize::from(peer)].numbers.clone()
    }

    /// Returns the largest number of links to any peer.
    pub(crate) fn max_links(&self) -> usize {
        self.peers.iter().map(|peer| peer.numbers.len()).max().unwrap_or(0)
    }

    /// Chooses the link for an exchange with a peer. `None` if no link has room.
    #[inline]
    pub(crate) fn choose(&mut self, links: &[Link], peer: u16, lane: u32) -> Option<u32> {
        let peer = &mut self.peers[usize::from(peer)];
        match &mut peer.least_busy {
            None => Some(peer.numbers.start + lane),
            Some(least_busy) => least_busy.first(links),
        }
    }

    /// Updates the position of a link whose load, room, or state may have changed.
    #[inline]
    pub(crate) fn update(&mut self, links: &[Link], number: u32) {
        let link = &links[number as usize];
        if link.takes_turns()
            && let Some(least_busy) = &mut self.peers[usize::from(link.peer)].least_busy
        {
            least_busy.update(links, number);
        }
    }

    /// Queues the exchange of a user until a link to the peer has room.
    pub(crate) fn wait_for_room(&mut self, peer: u16, user: u32, step: u16) {
        self.waiting += 1;
        self.peers[usize::from(peer)].waiting.push_back((user, step));
    }

    /// Returns, for each peer at which users wait, the user who has waited longest for room.
    pub(crate) fn first_waiting(&self) -> impl Iterator<Item = u32> {
        self.peers.iter().filter_map(|peer| peer.waiting.front().map(|(user, _)| *user))
    }

    /// Returns whether users wait for room at a peer.
    pub(crate) fn has_waiting_at(&self, peer: u16) -> bool {
        !self.peers[usize::from(peer)].waiting.is_empty()
    }

    /// Takes the user who has waited longest for room at a peer, with its step, if a link has room.
    pub(crate) fn take_waiting(&mut self, links: &[Link], peer: u16) -> Option<(u32, u16)> {
        let peer = &mut self.peers[usize::from(peer)];
        peer.least_busy.as_mut()?.first(links)?;
        let waiting = peer.waiting.pop_front()?;
        self.waiting -= 1;
        Some(waiting)
    }

    /// Returns whether any user waits for a link or a lane.
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting > 0 || self.pool.as_ref().is_some_and(|pool| !pool.waiting.is_empty())
    }
}
